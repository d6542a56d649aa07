import Foundation

extension JSONValue {
    /// Creates a JSON value from a Swift value: a string, a number, a `Decimal`, a Boolean, a URL (as a string), nil,
    /// or an array or dictionary of these.
    ///
    /// - Throws: `EncodingError` with the path of the value that cannot be encoded as JSON.
    public init(_ value: Any) throws {
        try self.init(value, at: [])
    }

    private init(_ value: Any, at path: [any CodingKey]) throws {
        // This check comes first: on Apple platforms, an `NSNumber` can be cast to both `Bool` and a number type,
        // because Foundation bridges it.
        if type(of: value) is NSNumber.Type, let number = value as? NSNumber {
            self = try JSONValue(number, at: path)
            return
        }
        switch value {
        case let value as JSONValue: self = value
        case let value as String: self = .string(value)
        case let value as Bool: self = .bool(value)
        case let value as any BinaryInteger: self = JSONValue(integer: value)
        case let value as Decimal: self = try JSONValue(decimal: value, at: path)
        case let value as any BinaryFloatingPoint: self = try JSONValue(number: Double(value), at: path)
        case let value as URL: self = .string(value.absoluteString)
        case let value as [String: Any]:
            self = .object(
                try value.reduce(into: [:]) {
                    $0[$1.key] = try JSONValue($1.value, at: path + [PathKey(stringValue: $1.key)])
                })
        case let values as [Any]:
            self = .array(try values.enumerated().map { try JSONValue($1, at: path + [PathKey(intValue: $0)]) })
        case is NSNull: self = .null
        default: self = try JSONValue(optional: value, at: path)
        }
    }

    private init(_ number: NSNumber, at path: [any CodingKey]) throws {
        if number.isTruthValue {
            self = .bool(number.boolValue)
            return
        }
        if let number = number as? NSDecimalNumber {
            self = try JSONValue(decimal: number as Decimal, at: path)
            return
        }
        switch String(cString: number.objCType) {
        case "d", "f": self = try JSONValue(number: number.doubleValue, at: path)
        case "Q": self = JSONValue(integer: number.uint64Value)
        default: self = .int(number.int64Value)
        }
    }

    /// Creates an integer. An integer that does not fit into 64 bits becomes the nearest ``double(_:)``.
    init(integer value: some BinaryInteger) {
        self =
            Int64(exactly: value).map { .int($0) } ?? UInt64(exactly: value).map { .uint($0) } ?? .double(Double(value))
    }

    private init(decimal: Decimal, at path: [any CodingKey]) throws {
        guard !decimal.isNaN else { throw JSONValue.fault(decimal, at: path) }
        self = try JSONValue(number: "\(decimal)")
    }

    private init(number: Double, at path: [any CodingKey]) throws {
        guard number.isFinite else { throw JSONValue.fault(number, at: path) }
        self = .double(number)
    }

    private init(optional value: Any, at path: [any CodingKey]) throws {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { throw JSONValue.fault(value, at: path) }
        self = try mirror.children.first.map { try JSONValue($0.value, at: path) } ?? .null
    }

    private static func fault(_ value: Any, at path: [any CodingKey]) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: "it cannot be encoded as JSON"))
    }

    /// The value in Swift's own types: `String`, `Bool`, `Int` (`Int64` or `UInt64` if the number does not fit into an
    /// `Int`), `Double` or `Decimal`, and arrays and dictionaries of these. Null members of objects are omitted. A null
    /// that is the whole value or an element of an array is returned as `JSONValue.null`, because omitting an element
    /// would change the indexes of the elements after it.
    var untyped: any Sendable {
        switch self {
        case .null: JSONValue.null
        case .bool(let value): value
        case .int(let value): Int(exactly: value).map { $0 as any Sendable } ?? value
        case .uint(let value): value
        case .double(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .array(let values): values.map(\.untyped)
        case .object(let members): members.filter { $0.value != .null }.mapValues(\.untyped)
        }
    }
}

#if !canImport(Darwin)
    extension NSNumber {
        /// Whether the number is a Boolean. Foundation on Linux cannot distinguish a Boolean from an `Int8` of 0 or 1.
        var isTruthValue: Bool {
            let type = String(cString: objCType)
            return type == "B" || type == "c" && (0...1).contains(intValue)
        }
    }
#endif
