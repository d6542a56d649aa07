public import Foundation

extension JSONValue {
    /// Reads a JSON text, [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259). Time and memory are proportional to the
    /// length of the text, whatever it contains.
    ///
    /// - Parameter text: The text, in UTF-8. UTF-16 and UTF-32 are recognized as well.
    /// - Throws: `DecodingError.dataCorrupted`, which says what was expected, what was found, and at which byte. The
    ///   method throws in these cases: the text is not JSON; arrays and objects are nested more than 512 levels deep;
    ///   the text has more than 2,000,000 values, names, and ends of arrays and objects in total; a string has more
    ///   than 256 combining marks in a row; a number is too large for a `Double`.
    public init(json text: Data) throws {
        try self.init(json: text, depth: 512)
    }

    /// Reads a JSON text that the library itself inspects and does not pass to the app. It is an error if arrays and
    /// objects are nested more than 64 levels deep.
    package init(shallowJSON text: Data) throws {
        try self.init(json: text, depth: 64)
    }

    /// Reads the JSON text of a response.
    init(jsonOfCall text: Data) throws {
        try self.init(json: text, depth: 512, maximumCount: JSONValue.maximumCount)
    }

    /// - Parameter maximumCount: The maximum number of values, names, and ends of arrays and objects. In memory, each
    ///   of them is larger than in the text: an element takes 24 bytes, and an object with one member takes about 150
    ///   bytes.
    init(json text: Data, depth: Int, maximumCount: Int = JSONValue.standardCount) throws {
        guard let text = String(data: text, encoding: text.encodingOfJSON) else {
            throw JSONScanner.fault("it is not UTF-8")
        }
        guard CombiningMarks.areFew(in: text, of: .json) else { throw JSONScanner.Limit.marks.fault }
        var scanner = JSONScanner(text, depth: depth)
        // The arrays and objects that are being read, from the outermost to the innermost. The first container is not
        // part of the text; its only element is the whole value.
        var open = [Container()]
        var count = 0
        while let token = try scanner.next() {
            count += 1
            guard count <= maximumCount else { throw JSONScanner.Limit.values(maximumCount).fault }
            let value: JSONValue
            switch token {
            case .null: value = .null
            case .bool(let isTrue): value = .bool(isTrue)
            case .number(let text): value = try JSONValue(number: text)
            case .string(let text): value = .string(text)
            case .name(let name):
                open[open.count - 1].name = name
                continue
            case .beginArray, .beginObject:
                open.append(Container())
                continue
            case .endArray: value = .array(open.removeLast().elements)
            case .endObject: value = .object(open.removeLast().members)
            }
            open[open.count - 1].add(value)
        }
        self = open[0].elements[0]  // cannot fail: the scanner has no end without a value
    }

    /// An array or object that has been read in part.
    private struct Container {
        var elements: [JSONValue] = []
        var members: [String: JSONValue] = [:]
        /// The name of the next member; nil in an array.
        var name: String?

        mutating func add(_ value: JSONValue) {
            if let name { members[name] = value } else { elements.append(value) }
        }
    }

    /// Reads a number. If the number's value is an integer, however it is written (`1.0`, `1e3`), the result is an
    /// integer. If a `Double` cannot keep the digits, the result is a decimal number.
    init(number text: String) throws {
        if let value = Int64(text) {
            self = .int(value)
        } else if let value = UInt64(text) {
            self = .uint(value)
        } else {
            guard let double = Double(text), double.isFinite else {
                throw JSONScanner.Limit("the number \(text.prefix(40)), which is too large").fault
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
    /// The encoding of a JSON text. A JSON text begins with ASCII characters. Therefore, the positions of zero bytes
    /// among the first four bytes show the encoding. If the text begins with a byte-order mark, the mark shows the
    /// encoding.
    var encodingOfJSON: String.Encoding { withUnsafeBytes { Data.encodingOfJSON($0) } }

    private static func encodingOfJSON(_ text: UnsafeRawBufferPointer) -> String.Encoding {
        let (first, second) = (text.first ?? 0, text.count > 1 ? text[1] : 0)
        if first != 0, second != 0, first < 0xFE { return .utf8 }
        return switch text.prefix(4).map({ $0 == 0 }) {
        case [true, true, true, false]: .utf32BigEndian
        case [false, true, true, true]: .utf32LittleEndian
        case [true, true, false, false], [false, false, true, true]: .utf32
        case [true, false, true, false]: .utf16BigEndian
        case [false, true, false, true]: .utf16LittleEndian
        case _ where (first, second) == (0xFE, 0xFF) || (first, second) == (0xFF, 0xFE): .utf16
        default: .utf8
        }
    }

    /// Whether every string of a JSON text has at most as many combining marks in a row as ``CombiningMarks`` allows.
    var hasFewMarks: Bool {
        let (encoding, areFew) = withUnsafeBytes { text in
            let encoding = Data.encodingOfJSON(text)
            return (encoding, encoding == .utf8 ? CombiningMarks.areFew(in: text, of: .json) : nil)
        }
        return areFew ?? String(data: self, encoding: encoding).map { CombiningMarks.areFew(in: $0, of: .json) } ?? true
    }
}

extension Data {
    /// Whether a JSON text has at most `maximumCount` values. The limit bounds the time and memory for decoding a type
    /// of the app. An object counts as 8 values, because a type may need hundreds of bytes even for an empty object. An
    /// array counts as 2.
    ///
    /// - Parameters:
    ///   - maximumCount: The maximum number of values.
    ///   - hasOtherStrings: Whether the text may contain comments and strings in other quotation marks, as in JSON5. If
    ///     true, the characters inside strings are counted, too.
    package func hasFewValues(_ maximumCount: Int, hasOtherStrings: @autoclosure () -> Bool = false) -> Bool {
        // One byte adds at most 8 to the count of values.
        guard count > maximumCount / 8 else { return true }
        let hasOtherStrings = hasOtherStrings()
        let encoding = encodingOfJSON
        guard encoding == .utf8 else {
            var text = String(data: self, encoding: encoding) ?? ""
            return text.withUTF8 { UnsafeRawBufferPointer($0).jsonValues(hasOtherStrings) } <= maximumCount
        }
        return withUnsafeBytes { $0.jsonValues(hasOtherStrings) } <= maximumCount
    }
}

extension UnsafeRawBufferPointer {
    /// Counts the values of a JSON text in UTF-8: an object as 8 values, and an array as 2.
    fileprivate func jsonValues(_ hasOtherStrings: Bool) -> Int {
        var (found, isString, isEscaped) = (0, false, false)
        for byte in self {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\""), !hasOtherStrings {
                isString.toggle()
            } else if !isString {
                switch byte {
                case UInt8(ascii: ","): found += 1
                case UInt8(ascii: "["): found += 2
                case UInt8(ascii: "{"): found += 8
                default: break
                }
            }
        }
        return found
    }
}

extension JSONScanner.Limit {
    static func values(_ count: Int, _ explanation: String = "") -> JSONScanner.Limit {
        JSONScanner.Limit(
            "expected at most \(count) values\(explanation), found more (a larger maximumResponseSize allows more)")
    }
    static let marks = JSONScanner.Limit("more than \(CombiningMarks.largestCount) combining marks in a row")
}
