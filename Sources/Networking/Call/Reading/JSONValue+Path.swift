import Foundation

extension JSONValue {
    /// The path of a value in JSON: `"data.users.0.name"`. In an array, a number is the index of an element.
    ///
    /// A literal is parsed once, when the path is created. Write the path as an array if the name of a member contains
    /// a dot: `["data", "a.b"]`.
    public struct Path: Hashable, Sendable {
        /// The parts, from the outermost to the innermost.
        let parts: [String]

        /// Creates a path from its parts.
        public init(_ parts: [String]) {
            self.parts = parts
        }

        /// Returns this path, followed by the parts of another path.
        func appending(_ other: Path) -> Path { Path(parts + other.parts) }
    }
}

extension JSONValue.Path: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// Creates a path from a text whose parts are separated by dots.
    public init(stringLiteral text: String) {
        self.init(text.split(separator: ".").map(String.init))
    }

    /// Creates a path from its parts.
    public init(arrayLiteral parts: String...) {
        self.init(parts)
    }

    /// The parts, separated by dots.
    public var description: String { parts.joined(separator: ".") }
}

extension JSONValue {
    /// The value at a path, such as `json[at: "data.users.0.name"]`; nil if there is none.
    public subscript(at path: JSONValue.Path) -> JSONValue? {
        path.parts.reduce(self) { value, part in value?[part] ?? Int(part).flatMap { value?[$0] } }
    }
}

extension BodyDecoder {
    /// Reads the value at a path, or the whole body if the path is nil. For Foundation's decoder, the JSON text is
    /// parsed once.
    func read<Value: Decodable>(_ type: Value.Type, from data: Data, at path: JSONValue.Path? = nil) throws -> Value {
        if let decoder = self as? JSONDecoder { return try decoder.readJSON(type, from: data, at: path) }
        let content = try path.map { try self.content(of: data, at: $0) } ?? data
        do { return try decode(type, from: content) } catch let error as DecodingError where error.namesPlace {
            throw error
        } catch let error where error is Interruption {
            throw error
        } catch {
            throw UndecodableBody(
                "the body cannot be decoded as \(mediaType): \(Swift.type(of: error))", cause: error)
        }
    }

    /// Returns the JSON text of the value at a path.
    private func content(of data: Data, at path: JSONValue.Path) throws -> Data {
        guard readsJSON else {
            throw UndecodableBody("a value at a path can be read only from JSON, but the decoder reads \(mediaType)")
        }
        guard let value = try JSONValue(jsonOfCall: data)[at: path] else {
            throw UndecodableBody("\"\(path)\" is missing")
        }
        return try JSONEncoder().encode(value)
    }
}

extension DecodingError {
    /// Whether the error is about one value in the body, and not about the body as a whole.
    fileprivate var namesPlace: Bool {
        if case .dataCorrupted(let context) = self { !context.codingPath.isEmpty } else { true }
    }
}

extension JSONDecoder {
    private static let path = CodingUserInfoKey(rawValue: "networking.path")

    fileprivate func readJSON<Value: Decodable>(
        _ type: Value.Type, from data: Data, at path: JSONValue.Path?
    ) throws -> Value {
        // The decoder's settings are read last: a decoder locks its settings, and many calls use one decoder.
        // Foundation's decoder needs far more time to read untyped JSON (``JSONValue``).
        if path == nil, let untyped = JSONValue.untyped(type), !allowsJSON5,
            let found = try untyped.value(of: JSONValue(jsonOfCall: data)), let value = found as? Value
        {
            return value
        }
        // Foundation's decoder hashes the names of the members. This takes quadratic time for names with many combining
        // marks.
        guard data.hasFewMarks else { throw JSONScanner.Limit.marks.fault }
        let most = JSONValue.maximumCount
        guard data.hasFewValues(most, hasOtherStrings: allowsJSON5) else {
            throw JSONScanner.Limit.values(most, ", of which an object counts as 8 and an array as 2").fault
        }
        guard let path else { return try decode(type, from: data) }
        return try at(path).decode(Located<Value>.self, from: data).value
    }

    /// Returns a decoder with the same settings that reads the value at a path.
    private func at(_ path: JSONValue.Path) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = dateDecodingStrategy
        decoder.dataDecodingStrategy = dataDecodingStrategy
        decoder.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
        decoder.keyDecodingStrategy = keyDecodingStrategy
        decoder.allowsJSON5 = allowsJSON5
        decoder.assumesTopLevelDictionary = assumesTopLevelDictionary
        decoder.userInfo = userInfo
        if let key = JSONDecoder.path { decoder.userInfo[key] = path }
        return decoder
    }

    private struct Located<Value: Decodable>: Decodable {
        let value: Value

        init(from decoder: any Decoder) throws {
            let path = JSONDecoder.path.flatMap { decoder.userInfo[$0] as? JSONValue.Path } ?? []
            let target = try path.parts.reduce(decoder) { try Located.step(to: $1, in: $0) }
            value = try target.singleValueContainer().decode(Value.self)
        }

        private static func step(to part: String, in decoder: any Decoder) throws -> any Decoder {
            let key = PathKey(stringValue: part)
            if let index = Int(part), var elements = try? decoder.unkeyedContainer() {
                guard let count = elements.count, index >= 0, index < count else {
                    throw missing(PathKey(intValue: index), decoder)
                }
                for _ in 0..<index { _ = try elements.superDecoder() }
                return try elements.superDecoder()
            }
            let members = try decoder.container(keyedBy: PathKey.self)
            guard members.contains(key) else { throw missing(key, decoder) }
            return try members.superDecoder(forKey: key)
        }

        private static func missing(_ key: PathKey, _ decoder: any Decoder) -> DecodingError {
            .keyNotFound(
                key, DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "there is no value"))
        }
    }
}

extension JSONValue {
    /// Returns the type if it represents untyped JSON; nil for every other type. Comparing types is much faster than
    /// asking for a conformance, which Swift has to look up for each generic type.
    fileprivate static func untyped<Value>(_ type: Value.Type) -> (any UntypedJSON.Type)? {
        if type == JSONValue.self { return JSONValue.self }
        if type == [JSONValue].self { return [JSONValue].self }
        if type == [String: JSONValue].self { return [String: JSONValue].self }
        if type == ProblemDetails.self { return ProblemDetails.self }
        if type == JSONValue?.self { return JSONValue?.self }
        if type == [JSONValue]?.self { return [JSONValue]?.self }
        if type == [String: JSONValue]?.self { return [String: JSONValue]?.self }
        if type == ProblemDetails?.self { return ProblemDetails?.self }
        return nil
    }
}

/// A type that consists of values of any kind.
private protocol UntypedJSON: Sendable {
    /// Returns nil if the JSON is of another kind.
    static func value(of json: JSONValue) -> Self?
}

extension JSONValue: UntypedJSON {
    fileprivate static func value(of json: JSONValue) -> JSONValue? { json }
}

extension ProblemDetails: UntypedJSON {
    fileprivate static func value(of json: JSONValue) -> ProblemDetails? { json.object.map { ProblemDetails($0) } }
}

extension Array: UntypedJSON where Element == JSONValue {
    fileprivate static func value(of json: JSONValue) -> [JSONValue]? { json.array }
}

extension Dictionary: UntypedJSON where Key == String, Value == JSONValue {
    fileprivate static func value(of json: JSONValue) -> [String: JSONValue]? { json.object }
}

extension Optional: UntypedJSON where Wrapped: UntypedJSON {
    fileprivate static func value(of json: JSONValue) -> Wrapped?? {
        json == .null ? .some(nil) : Wrapped.value(of: json).map { .some($0) }
    }
}
