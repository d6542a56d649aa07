public import Foundation

extension ResponseConverter where Value: Decodable {
    /// Returns a converter that decodes the body from JSON. An empty body is an error; use `as: .optional(…)` if the
    /// body may be empty.
    ///
    /// - Parameters:
    ///   - type: The type to read. It can be omitted if it is known from the context.
    ///   - decoder: The decoder of the JSON. Default: the decoder of the call, if it reads JSON.
    public static func json(_ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil) -> ResponseConverter {
        ResponseConverter(readingPaths: {
            let decoder = try decoder.json(or: $1)
            return try decoder.read(type, from: $0.nonEmpty(for: decoder), at: $2)
        })
        .defaultHeaders(.json)
    }
}

extension ResponseConverter {
    /// Returns a converter that reads the value at a path with another converter: `.keyPath("data.user", .json())`.
    ///
    /// If the other converter reads JSON, the body is parsed once. If there is no value at the path, the error contains
    /// the path. The names in the path must be the names after the decoder's key conversion: with
    /// `.convertFromSnakeCase`, `"userData"` finds `user_data`. For a converter made from a closure, they must be the
    /// names in the body.
    public static func keyPath(_ path: JSONValue.Path, _ converter: ResponseConverter) -> ResponseConverter {
        if let located = converter.converter(at: path) { return located }
        return .transformingJSON(
            { json in
                guard let value = json[at: path] else { throw UndecodableBody("\"\(path)\" is missing") }
                return value
            }, converter)
    }

    /// Returns a converter that transforms the JSON of the body with a closure, and reads the result with another
    /// converter. A result of nil is an error.
    public static func transformingJSON(
        _ transform: @escaping @Sendable (JSONValue) throws -> JSONValue?, _ converter: ResponseConverter
    ) -> ResponseConverter {
        converter.after { response in
            guard let value = try transform(response.json()) else {
                throw UndecodableBody("the transformation of the body's JSON returned nil")
            }
            var changed = response
            changed.content = .data(try JSONEncoder().encode(value))
            changed.headers.contentType = .json
            return changed
        }
        .defaultHeaders(.json)
    }
}

extension ResponseConverter {
    /// Returns a converter that reads the elements of a JSON array and omits elements that cannot be read. The result
    /// is empty if no element can be read. Use it if a server adds kinds of elements that an old version of the app
    /// does not know.
    public static func tolerantArray<Element: Decodable & Sendable>(
        _ type: Element.Type = Element.self, decoder: (any BodyDecoder)? = nil
    ) -> ResponseConverter where Value == [Element] {
        ResponseConverter<[Tolerant<Element>]>.json(decoder: decoder).map { $0.compactMap(\.value) }
    }

    /// Returns a converter that reads JSON whose root has the type of the value.
    ///
    /// - Parameter name: The kind of the root, for the error.
    private static func root(_ name: String) -> ResponseConverter {
        ResponseConverter<JSONValue>.json().map { value in
            guard let root = value.untyped as? Value else {
                throw UndecodableBody("the body is JSON, but its root is not \(name)")
            }
            return root
        }
    }
}

/// An element that may have any form; its value is nil if it cannot be decoded as `Element`.
private struct Tolerant<Element: Decodable & Sendable>: Decodable, Sendable {
    let value: Element?

    init(from decoder: any Decoder) {
        value = try? decoder.singleValueContainer().decode(Element.self)
    }
}

extension ResponseConverter where Value == [String: any Sendable] {
    /// A converter that reads the body as a JSON object. Its members are `String`, `Bool`, `Int`, `Double`, and arrays
    /// and objects of these; null members are omitted. A root that is not an object is an error.
    public static var jsonObject: ResponseConverter { root("an object") }
}

extension ResponseConverter where Value == [any Sendable] {
    /// A converter that reads the body as a JSON array, whose elements have the same types as the members of a
    /// ``jsonObject``. A root that is not an array is an error.
    public static var jsonArray: ResponseConverter { root("an array") }
}

extension (any BodyDecoder)? {
    /// Returns this decoder. If this decoder is nil, returns the decoder of the call, or a `JSONDecoder` if the decoder
    /// of the call does not read JSON.
    func json(or shared: any BodyDecoder) throws -> any BodyDecoder {
        guard let own = self else { return shared.readsJSON ? shared : JSONDecoder() }
        guard own.readsJSON else {
            throw UndecodableBody("expected a decoder that reads JSON, found a decoder that reads \(own.mediaType)")
        }
        return own
    }
}

extension HTTPHeaders {
    /// An `Accept` field with JSON.
    static let json: HTTPHeaders = [HTTPHeader.accept(.json)]
}

extension HTTPResponse {
    /// Reads the response with a converter, without waiting. Use it for a stored response, or in a validator or
    /// handler.
    ///
    /// - Throws: ``NetworkError/Kind/undecodableBody`` if the body cannot be read, or if the converter reads a stream.
    public func read<Value: Sendable>(
        as converter: ResponseConverter<Value>, decoder: any BodyDecoder = JSONDecoder()
    ) throws -> Value {
        if let value = try converter.reading.convertNow(self, decoder) { return value }
        let fault = UndecodableBody("the converter reads a stream, but the body is already in memory")
        throw converter.reading.explained(fault, self)
    }

    /// Returns the body.
    ///
    /// - Throws: An error if it is empty. For JSON, a body that contains only white space counts as empty, too.
    func nonEmpty(for decoder: any BodyDecoder = JSONDecoder()) throws -> Data {
        let data = data
        // `isEmptyJSON` is true for an empty body, too.
        guard !data.isEmptyJSON || !data.isEmpty && !decoder.readsJSON else {
            throw UndecodableBody("the body is empty")
        }
        return data
    }

    fileprivate func json() throws -> JSONValue {
        try JSONValue(jsonOfCall: nonEmpty())
    }
}

extension ResponseConverter where Value: Decodable {
    /// Returns a converter that reads a value by its type. A `String` is decoded in the charset of the response, and
    /// `Data` is the unchanged body. The decoder reads every other type, usually from JSON. For an optional of any of
    /// these types, an empty body is nil.
    ///
    /// - Parameter decoder: The decoder. Default: the decoder of the call.
    public static func automatic(decoder: (any BodyDecoder)? = nil) -> ResponseConverter {
        let type = Value.self as? any SelfReading.Type
        guard type?.isJSONInside != false else { return .reading { try $0.read(Value.self, decoder ?? $1) } }
        let readsItself = type != nil
        let converter = ResponseConverter(readingPaths: { response, shared, path in
            let decoder = decoder ?? shared
            guard !readsItself || path != nil else { return try response.read(Value.self, decoder) }
            return try decoder.read(Value.self, from: response.nonEmpty(for: decoder), at: path)
        })
        guard type?.usesDecoder != false else { return converter }
        return decoder.map { converter.defaultHeaders([.accept($0.mediaType)]) } ?? converter.usingDecoder()
    }
}

extension HTTPResponse {
    fileprivate func read<Value: Decodable>(_ type: Value.Type, _ decoder: any BodyDecoder) throws -> Value {
        guard let type = type as? any SelfReading.Type else {
            return try decoder.read(Value.self, from: nonEmpty(for: decoder))
        }
        guard let value = try type.read(self, decoder) as? Value else {
            throw UndecodableBody("the body cannot be read as \(Value.self)")
        }
        return value
    }
}

/// A type that reads the response itself. Every other type is decoded by the decoder.
private protocol SelfReading {
    /// Whether a value of this type inside a JSON document is decoded as JSON. A string in JSON has quotation marks,
    /// which are not part of the text.
    static var isJSONInside: Bool { get }
    /// Whether the decoder reads a value of this type.
    static var usesDecoder: Bool { get }
    static func read(_ response: HTTPResponse, _ decoder: any BodyDecoder) throws -> Self
}

extension String: SelfReading {
    fileprivate static var isJSONInside: Bool { true }
    fileprivate static var usesDecoder: Bool { false }
    fileprivate static func read(_ response: HTTPResponse, _ decoder: any BodyDecoder) throws -> String {
        try response.text()
    }
}

extension Data: SelfReading {
    fileprivate static var isJSONInside: Bool { false }
    fileprivate static var usesDecoder: Bool { false }
    fileprivate static func read(_ response: HTTPResponse, _ decoder: any BodyDecoder) throws -> Data {
        response.data
    }
}

extension Optional: SelfReading where Wrapped: Decodable {
    fileprivate static var usesDecoder: Bool { (Wrapped.self as? any SelfReading.Type)?.usesDecoder ?? true }
    fileprivate static var isJSONInside: Bool { (Wrapped.self as? any SelfReading.Type)?.isJSONInside ?? true }
    fileprivate static func read(_ response: HTTPResponse, _ decoder: any BodyDecoder) throws -> Wrapped? {
        guard !response.data.isEmpty else { return nil }
        if Wrapped.self is any SelfReading.Type { return try response.read(Wrapped.self, decoder) }
        // If the wrapped type is decoded from JSON, white space and `null` are read as nil, too.
        return decoder.readsJSON && response.data.isEmptyJSON
            ? nil : try decoder.read(Wrapped?.self, from: response.data)
    }
}
