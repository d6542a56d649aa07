import Foundation

/// Any JSON value. Use it to send, receive or inspect JSON for which the app has no type.
///
/// ```swift
/// let body = HTTPBody.json(["name": "Ada", "tags": ["a", 1, .null]] as JSONValue)
/// let answer = try await service.request(endpoint, as: .json(JSONValue.self))
/// let first = answer["users"]?[0]?["name"]?.string
/// ```
public enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// An integer that fits into an `Int64`.
    case int(Int64)
    /// A larger integer that fits into a `UInt64`.
    case uint(UInt64)
    /// Any other number.
    case double(Double)
    /// A string.
    case string(String)
    /// Values in their order.
    case array([JSONValue])
    /// Values by their names.
    case object([String: JSONValue])
}

/// Access to the content of a value. Each property and subscript is nil if the value is of another kind.
extension JSONValue {
    /// The string.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The Boolean.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number, if it is an integer that fits into an `Int` (32 bits on some watches).
    public var int: Int? { if case .int(let value) = self { Int(exactly: value) } else { nil } }
    /// The number as a `Double`. A large integer is rounded to the nearest `Double`.
    public var double: Double? {
        switch self {
        case .int(let value): Double(value)
        case .uint(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
    /// The elements of the array.
    public var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    /// The members of the object.
    public var object: [String: JSONValue]? { if case .object(let values) = self { values } else { nil } }

    /// A member of an object; nil if the object has no member of this name.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// An element of an array; nil if the index is out of range.
    public subscript(index: Int) -> JSONValue? { array.flatMap { $0.indices.contains(index) ? $0[index] : nil } }
}

extension JSONValue: Codable {
    /// Decodes any JSON value. The decoder's key strategy does not change the names of members.
    public init(from decoder: any Decoder) throws {
        if (try? decoder.container(keyedBy: PathKey.self)) != nil {
            // Decoded as a dictionary, because Foundation does not convert the keys of dictionaries.
            self = .object(try decoder.singleValueContainer().decode([String: JSONValue].self))
        } else if var container = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !container.isAtEnd { values.append(try container.decode(JSONValue.self)) }
            self = .array(values)
        } else {
            self = try JSONValue.scalar(in: try decoder.singleValueContainer())
        }
    }

    private static func scalar(in container: any SingleValueDecodingContainer) throws -> JSONValue {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(String.self) { return .string(value) }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .int(value) }
        if let value = try? container.decode(UInt64.self) { return .uint(value) }
        return .double(try container.decode(Double.self))
    }

    /// Encodes the value. The encoder's key strategy does not change the names of members.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        // Written as a dictionary, because Foundation does not convert the keys of dictionaries.
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// Creates a floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object. If a name occurs several times, its last value is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

extension JSONValue {
    /// Creates a JSON value from a Swift value: a string, a number, a Boolean, a URL (as a string), nil, or an array or
    /// dictionary of these.
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
    /// `Int`), `Double`, and arrays and dictionaries of these. Null members of objects are omitted. A null that is the
    /// whole value or an element of an array is returned as `JSONValue.null`, because omitting an element would change
    /// the indexes of the elements after it.
    var untyped: any Sendable {
        switch self {
        case .null: JSONValue.null
        case .bool(let value): value
        case .int(let value): Int(exactly: value).map { $0 as any Sendable } ?? value
        case .uint(let value): value
        case .double(let value): value
        case .string(let value): value
        case .array(let values): values.map(\.untyped)
        case .object(let members): members.filter { $0.value != .null }.mapValues(\.untyped)
        }
    }
}

/// The name of a member or the index of an element, in the path of a value.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

#if !canImport(Darwin)
    import Foundation

    extension NSNumber {
        /// Whether the number is a Boolean. Foundation on Linux cannot distinguish a Boolean from an `Int8` of 0 or 1.
        var isTruthValue: Bool {
            let type = String(cString: objCType)
            return type == "B" || type == "c" && (0...1).contains(intValue)
        }
    }
#endif
