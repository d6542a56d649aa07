public import Foundation

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
    /// Any other number whose digits a `Double` can keep.
    case double(Double)
    /// A number with more digits than a `Double` keeps, such as 12345678901234567.89. At most 38 digits are kept.
    case decimal(Decimal)
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
    /// The number as a `Double`. A large integer, and a number with many digits, is rounded to the nearest `Double`.
    public var double: Double? {
        switch self {
        case .int(let value): Double(value)
        case .uint(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): Double("\(value)")
        default: nil
        }
    }
    /// The number with its decimal digits, for example a price; nil if it is outside the range of `Decimal`.
    public var decimal: Decimal? {
        switch self {
        case .int(let value): Decimal(value)
        case .uint(let value): Decimal(value)
        case .double(let value): Decimal(string: "\(value)").flatMap { $0.isNaN ? nil : $0 }
        case .decimal(let value): value
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
    /// Limits the number of JSON values that are decoded inside a type of the app. Only the task that decodes a large
    /// body uses this limit; that task does nothing else.
    final class Work: @unchecked Sendable {  // because only that task uses it
        /// The maximum number of values. The number of steps has the same limit.
        fileprivate let maximumCount: Int
        private var steps = 0

        init(_ maximumCount: Int = JSONValue.standardCount) {
            self.maximumCount = maximumCount
        }

        /// Counts the steps of a value. A value at a greater depth takes more steps; each step takes about 1 µs.
        ///
        /// - Throws: `CancellationError` if the task is cancelled; a decoding error if there are too many steps.
        fileprivate func add(_ depth: Int) throws {
            try Task.checkCancellation()
            steps += depth + 4
            guard steps <= maximumCount else {
                throw JSONScanner.Limit(
                    "too many `JSONValue`s inside a type of the app (a larger maximumResponseSize allows more)"
                ).fault
            }
        }
    }

    @TaskLocal static var work: Work?

    /// The maximum number of values in a JSON text, unless a call allows more.
    static let standardCount = 2_000_000

    /// The maximum number of values in a JSON text that the current task reads.
    static var maximumCount: Int { work?.maximumCount ?? standardCount }

    /// Decodes any JSON value. The decoder's key strategy does not change the names of members.
    ///
    /// A value inside a type of the app is decoded by Foundation, whose time for each value grows with the depth.
    /// Therefore, it is an error if the value is more than 32 levels deep in the JSON, or if the response contains too
    /// many such values. By default, the limit is 400,000 values directly in the outermost array or object, and lower
    /// at a greater depth. If the call ends early, the decoding of a large body stops.
    public init(from decoder: any Decoder) throws {
        try JSONValue.work?.add(decoder.codingPath.count)
        guard decoder.codingPath.count <= 32 else {
            throw JSONScanner.Limit("more than 32 arrays and objects nested in each other").fault
        }
        // Each failed attempt takes time, so the kinds of values with the shortest text are tried first.
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Decimal.self), !value.isNaN {
            // Foundation decodes a `Decimal` from the digits of the text, if a `Decimal` can hold them.
            self = try JSONValue(number: "\(value)")
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if var container = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !container.isAtEnd { values.append(try container.decode(JSONValue.self)) }
            self = .array(values)
        } else if (try? decoder.container(keyedBy: PathKey.self)) != nil {
            // Decoded as a dictionary, because Foundation does not convert the keys of dictionaries.
            self = .object(try container.decode([String: JSONValue].self))
        } else {
            self = try JSONValue.number(in: container)
        }
    }

    /// Decodes a number that is outside the range of `Decimal`, or any number if the decoder does not support
    /// `Decimal`.
    private static func number(in container: any SingleValueDecodingContainer) throws -> JSONValue {
        if let value = try? container.decode(Int64.self) { return .int(value) }
        if let value = try? container.decode(UInt64.self) { return .uint(value) }
        return .double(try container.decode(Double.self))
    }

    /// The maximum depth at which arrays and objects are encoded. An encoder needs several KiB of stack for each level,
    /// and the stack of a system thread may have only 512 KiB.
    static let deepestEncoded = 64

    /// Encodes the value. The encoder's key strategy does not change the names of members.
    ///
    /// - Throws: `EncodingError.invalidValue` if arrays and objects are nested more than 64 levels deep; the types that
    ///   contain the value count as levels, too. The method also throws the errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        if isContainer, encoder.codingPath.count >= JSONValue.deepestEncoded {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: [], debugDescription: "arrays and objects are nested more than 64 levels deep"))
        }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
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

extension JSONValue: CustomStringConvertible {
    /// The value as JSON on one line, with sorted names. Control characters and characters that change the text
    /// direction are escaped as in Swift (`\u{0085}`), so the text is for people, not for parsers. For a value that is
    /// nested more than 64 levels deep, the text states only this fact.
    public var description: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self).onOneLine }
            ?? "(arrays and objects are nested more than 64 levels deep)"
    }
}

/// The name of a member or the index of an element, in the path of a value.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}
