public import Foundation

extension ResponseConverter where Value: Decodable {
    /// Returns a converter that reads a value by its type: `String` in the charset of the response, `Data` unchanged,
    /// everything else from JSON. For an optional of any of these, an empty body is nil.
    ///
    /// - Parameter decoder: The JSON decoder. Default: the decoder of the call.
    public static func automatic(decoder: JSONDecoder? = nil) -> ResponseConverter {
        guard let type = Value.self as? any SelfReading.Type else { return .json(decoder: decoder) }
        guard type.isJSONInside else { return ResponseConverter(decoding: { try $0.read(Value.self, decoder ?? $1) }) }
        return ResponseConverter(readingPaths: { response, shared, path in
            let decoder = decoder ?? shared
            guard let path else { return try response.read(Value.self, decoder) }
            return try decoder.decode(Value.self, from: response.nonEmpty(), at: path)
        })
    }
}

extension HTTPResponse {
    fileprivate func read<Value: Decodable>(_ type: Value.Type, _ decoder: JSONDecoder) throws -> Value {
        guard let type = type as? any SelfReading.Type else {
            guard !data.isEmpty else { throw UndecodableBody("the body is empty") }
            return try decoder.decode(Value.self, from: data)
        }
        guard let value = try type.read(self, decoder) as? Value else {
            throw UndecodableBody("the body is not a \(Value.self)")
        }
        return value
    }
}

/// A type that reads the response itself. Every other type is decoded from JSON.
private protocol SelfReading {
    /// Whether a value of this type inside a JSON document is decoded as JSON. A string in JSON has quotation marks,
    /// which are not part of the text.
    static var isJSONInside: Bool { get }
    static func read(_ response: HTTPResponse, _ decoder: JSONDecoder) throws -> Self
}

extension String: SelfReading {
    fileprivate static var isJSONInside: Bool { true }
    fileprivate static func read(_ response: HTTPResponse, _ decoder: JSONDecoder) throws -> String {
        try response.text()
    }
}

extension Data: SelfReading {
    fileprivate static var isJSONInside: Bool { false }
    fileprivate static func read(_ response: HTTPResponse, _ decoder: JSONDecoder) throws -> Data {
        response.data
    }
}

extension EmptyResponse: SelfReading {
    fileprivate static var isJSONInside: Bool { false }
    fileprivate static func read(_ response: HTTPResponse, _ decoder: JSONDecoder) throws -> EmptyResponse {
        EmptyResponse()
    }
}

extension Optional: SelfReading where Wrapped: Decodable {
    fileprivate static var isJSONInside: Bool { (Wrapped.self as? any SelfReading.Type)?.isJSONInside ?? true }
    fileprivate static func read(_ response: HTTPResponse, _ decoder: JSONDecoder) throws -> Wrapped? {
        guard !response.data.isEmpty else { return nil }
        // If the wrapped type is decoded from JSON, `null` is nil, too.
        return Wrapped.self is any SelfReading.Type
            ? try response.read(Wrapped.self, decoder) : try decoder.decode(Wrapped?.self, from: response.data)
    }
}
