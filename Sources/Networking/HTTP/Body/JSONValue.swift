import Foundation

/// Any JSON value, for what has no type of its own: to send, to read, to look into.
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
    /// A number without a fraction that fits into 64 bits with a sign.
    case int(Int64)
    /// A larger number without a fraction that fits into 64 bits.
    case uint(UInt64)
    /// Any other number.
    case double(Double)
    /// A text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Values by name.
    case object([String: JSONValue])
}

/// Looking into a value: nil if it is of another kind.
extension JSONValue {
    /// The text.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The truth value.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number, if it has no fraction and fits into an `Int` (32 bits on some watches).
    public var int: Int? { if case .int(let value) = self { Int(exactly: value) } else { nil } }
    /// The number, if it has no fraction and fits into 64 bits with a sign.
    var int64: Int64? { if case .int(let value) = self { value } else { nil } }
    /// The number.
    public var double: Double? {
        switch self {
        case .int(let value): Double(value)
        case .uint(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
    /// The elements.
    public var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    /// The members.
    public var object: [String: JSONValue]? { if case .object(let values) = self { values } else { nil } }

    /// A member of an object.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// An element of an array.
    public subscript(index: Int) -> JSONValue? { array.flatMap { $0.indices.contains(index) ? $0[index] : nil } }
}

extension JSONValue: Codable {
    /// Reads any JSON value. The names of members are those of the text, whatever the decoder's key strategy.
    public init(from decoder: any Decoder) throws {
        if (try? decoder.container(keyedBy: Name.self)) != nil {
            // Foundation converts the keys of containers, and not those of dictionaries.
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

    /// Writes the value. The names of members are written as they are, whatever the encoder's key strategy.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            // As a dictionary, whose keys Foundation leaves as they are.
            var container = encoder.singleValueContainer()
            try container.encode(members)
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try container.encode(value)
            case .int(let value): try container.encode(value)
            case .uint(let value): try container.encode(value)
            case .double(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            default: try container.encodeNil()
            }
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Values in order.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Values by name; the last one of a name counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

extension JSONValue {
    /// A value of Swift's as JSON: texts, numbers, truth values, URLs as texts, nil, and arrays and dictionaries of
    /// these.
    ///
    /// - Throws: `EncodingError` that tells where the value stands that has no form in JSON.
    public init(_ value: Any) throws {
        try self.init(value, at: [])
    }

    private init(_ value: Any, at path: [any CodingKey]) throws {
        // Before all others: where Foundation bridges, an object of it is a truth value and a number at once.
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
                    $0[$1.key] = try JSONValue($1.value, at: path + [Name(stringValue: $1.key)])
                })
        case let values as [Any]:
            self = .array(try values.enumerated().map { try JSONValue($1, at: path + [Index(intValue: $0)]) })
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

    /// A number without a fraction; one that does not fit into 64 bits is the nearest ``double(_:)``.
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
        .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: "no form in JSON"))
    }

    private struct Index: CodingKey {
        let index: Int
        var stringValue: String { "\(index)" }
        var intValue: Int? { index }

        init(intValue: Int) {
            index = intValue
        }

        init?(stringValue: String) {
            nil
        }
    }

    /// The value in Swift's own types: `String`, `Bool`, `Int` (`Int64` or `UInt64` if it does not fit), `Double`,
    /// arrays and dictionaries of these. Members that are null are left out; in arrays, where that would move the
    /// others, and as the whole value, null is `JSONValue.null`.
    public var untyped: any Sendable {
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

#if !canImport(Darwin)
    import Foundation

    extension NSNumber {
        /// Whether it is a truth value. Foundation on Linux cannot tell it from an `Int8` of 0 or 1.
        var isTruthValue: Bool {
            let type = String(cString: objCType)
            return type == "B" || type == "c" && (0...1).contains(intValue)
        }
    }
#endif
