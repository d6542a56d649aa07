import Foundation

extension HTTPBody {
    /// Encodes a value with an encoder. The encoder's media type becomes the `Content-Type`.
    ///
    /// - Parameters:
    ///   - value: The value to encode. If it cannot be encoded, the call ends with
    ///     ``NetworkError/Kind/bodyNotEncodable``; the error of the encoder is its underlying error.
    ///   - encoder: The encoder. Default: the encoder of the call (``RequestSettings/encoder``).
    public static func encoded(_ value: some Encodable & Sendable, encoder: (any BodyEncoder)? = nil) -> HTTPBody {
        .deferred(headers: []) {
            let encoder = encoder ?? $0
            return .data(try encoder.encode(value), contentType: encoder.mediaType)
        }
    }

    /// Encodes a value as JSON, with `Content-Type: application/json`.
    ///
    /// - Parameters:
    ///   - value: The value to encode. If it cannot be encoded, the call ends with
    ///     ``NetworkError/Kind/bodyNotEncodable``; the `EncodingError` is its underlying error.
    ///   - encoder: The encoder. Default: the encoder that the settings of the call set; otherwise that of the
    ///     endpoint, then that of the service. If this encoder does not write JSON, or if none is set, a `JSONEncoder`
    ///     with Foundation's defaults is used.
    ///   - contentType: The media type. Default: `application/json`.
    public static func json(
        _ value: some Encodable & Sendable, contentType: MediaType = .json, encoder: (any BodyEncoder)? = nil
    ) -> HTTPBody {
        .deferred(headers: [.contentType(contentType)]) { .data(try encoder.json(or: $0).encode(value)) }
    }

    /// Encodes an object whose members have different types as JSON: `.json(["id": 7, "name": name])`. A member that is
    /// nil is omitted. For an object inside the object, use a struct, ``jsonObject(_:encoder:)`` or a ``JSONValue``.
    @_disfavoredOverload
    public static func json(
        _ members: [String: (any Encodable & Sendable)?], contentType: MediaType = .json,
        encoder: (any BodyEncoder)? = nil
    ) -> HTTPBody {
        .json(members.compactMapValues { $0.map(Member.init) }, contentType: contentType, encoder: encoder)
    }

    /// A member of an object whose members have different types.
    private struct Member: Encodable, Sendable {
        let value: any Encodable & Sendable

        // The container applies the encoder's strategies for dates, data and numbers.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    /// Encodes an object as JSON. The object may contain strings, numbers, Booleans, URLs, nil, and arrays and
    /// dictionaries of these. Any other value ends the call with ``NetworkError/Kind/bodyNotEncodable``, whose reason
    /// contains the path of the value.
    public static func jsonObject(_ object: [String: Any], encoder: (any BodyEncoder)? = nil) -> HTTPBody {
        untyped(object, encoder)
    }

    /// Encodes an array as JSON. See ``jsonObject(_:encoder:)`` for the values that the array may contain.
    public static func jsonArray(_ array: [Any], encoder: (any BodyEncoder)? = nil) -> HTTPBody {
        untyped(array, encoder)
    }

    /// Converts the value immediately, because a value of type `Any` may not be safe to share between threads.
    private static func untyped(_ value: Any, _ encoder: (any BodyEncoder)?) -> HTTPBody {
        let value = Result { try JSONValue(value) }
        return .deferred(headers: [.contentType(.json)]) { .data(try encoder.json(or: $0).encode(value.get())) }
    }
}

extension HTTPBody {
    /// Encodes a value as a form, `application/x-www-form-urlencoded`.
    ///
    /// - Parameters:
    ///   - value: The value to encode: a struct or a dictionary. If it cannot be encoded, the call ends with
    ///     ``NetworkError/Kind/bodyNotEncodable``; its underlying error is the `EncodingError`.
    ///   - encoder: The encoder, which defines how names and values are written.
    public static func form(_ value: some Encodable & Sendable, encoder: URLQueryEncoder = URLQueryEncoder())
        -> HTTPBody
    {
        .encoded(headers: [.contentType(.form)]) { Data(try encoder.encode(value).percentEncoded.utf8) }
    }

    /// Encodes names and values as a form, `application/x-www-form-urlencoded`. The form keeps their order.
    public static func form(_ items: URLQuery) -> HTTPBody {
        .encoded(headers: [.contentType(.form)]) {
            if let fault = items.fault { throw fault.error }
            return Data(items.percentEncoded.utf8)
        }
    }
}

extension MediaType {
    fileprivate static let form = MediaType.formURLEncoded.charset("utf-8")
}
