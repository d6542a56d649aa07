public import Foundation

extension JSONValue {
    /// Reads a JSON text, [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259). Time and memory are proportional to the
    /// length of the text, whatever it contains.
    ///
    /// - Parameter text: The text, in UTF-8. UTF-16 and UTF-32 are recognized as well.
    /// - Throws: `DecodingError.dataCorrupted`, which says what was expected, what was found, and at which byte: if the
    ///   text is not JSON, if more than 512 arrays and objects are inside each other, or if a number is too large for a
    ///   `Double`.
    public init(json text: Data) throws {
        try self.init(json: text, depth: 512)
    }

    /// Reads a JSON text that the library, and not the app, wants to read: more than 64 arrays and objects inside each
    /// other are an error.
    package init(shallowJSON text: Data) throws {
        try self.init(json: text, depth: 64)
    }

    private init(json text: Data, depth: Int) throws {
        guard let text = String(data: text, encoding: text.encodingOfJSON) else {
            throw JSONScanner.fault("it is not UTF-8")
        }
        var scanner = JSONScanner(text, depth: depth)
        // The values that belong to no array or object yet, the names of those that are members, and for each array or
        // object that has begun, the number of values before it.
        var (values, names, starts): ([JSONValue], [String], [Int]) = ([], [], [])
        while let token = try scanner.next() {
            switch token {
            case .null: values.append(.null)
            case .bool(let value): values.append(.bool(value))
            case .number(let text): values.append(try JSONValue(number: text))
            case .string(let value): values.append(.string(value))
            case .name(let name): names.append(name)
            case .beginArray, .beginObject: starts.append(values.count)
            case .endArray:
                let elements = Array(values[starts.removeLast()...])
                values.removeLast(elements.count)
                values.append(.array(elements))
            case .endObject:
                let members = Array(values[starts.removeLast()...])
                values.removeLast(members.count)
                values.append(.object(Dictionary(zip(names.suffix(members.count), members)) { $1 }))
                names.removeLast(members.count)
            }
        }
        self = values[0]  // cannot fail: the scanner has no end without a value
    }

    /// Reads a number. It is an integer if its value is one, however it is written (`1.0`, `1e3`), and a decimal number
    /// if a `Double` does not keep its digits.
    init(number text: String) throws {
        if let value = Int64(text) {
            self = .int(value)
        } else if let value = UInt64(text) {
            self = .uint(value)
        } else {
            guard let double = Double(text), double.isFinite else {
                throw JSONScanner.fault("\(text.prefix(40)) is too large for a number")
            }
            // A `Double` keeps every number of at most 15 digits.
            if text.utf8.count > 15, let decimal = Decimal(string: text), !decimal.isNaN,
                decimal != Decimal(string: "\(double)")
            {
                self = .decimal(decimal)
            } else {
                self =
                    Int64(exactly: double).map { .int($0) } ?? UInt64(exactly: double).map { .uint($0) }
                    ?? .double(double)
            }
        }
    }
}

extension Data {
    /// The encoding of a JSON text. Its first characters are ASCII, so the zeros of its first bytes tell the encoding,
    /// unless it begins with a byte-order mark.
    fileprivate var encodingOfJSON: String.Encoding {
        switch prefix(4).map({ $0 == 0 }) {
        case [true, true, true, false]: .utf32BigEndian
        case [false, true, true, true]: .utf32LittleEndian
        case [true, true, false, false], [false, false, true, true]: .utf32
        case [true, false, true, false]: .utf16BigEndian
        case [false, true, false, true]: .utf16LittleEndian
        case _ where starts(with: [0xFE, 0xFF]) || starts(with: [0xFF, 0xFE]): .utf16
        default: .utf8
        }
    }
}
