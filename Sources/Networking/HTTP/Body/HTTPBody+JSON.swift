public import Foundation

extension HTTPBody {
    /// Encodes a value as JSON, with `Content-Type: application/json`.
    ///
    /// - Parameters:
    ///   - value: The value to encode. If it cannot be encoded, the call ends with
    ///     ``NetworkError/Kind/bodyNotEncodable``; the `EncodingError` is its underlying error.
    ///   - encoder: The encoder. Default: the encoder in the settings of the call, of the endpoint or of the service,
    ///     in this order. If none of them sets an encoder, a `JSONEncoder` with Foundation's defaults is used.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPBody {
        .deferred(headers: [.contentType(.json)]) { .data(try (encoder ?? $0).encode(value)) }
    }

    /// Encodes an object as JSON. The object may contain strings, numbers, Booleans, URLs, nil, and arrays and
    /// dictionaries of these. Any other value ends the call with ``NetworkError/Kind/bodyNotEncodable``, whose reason
    /// contains the path of the value.
    public static func jsonObject(_ object: [String: Any], encoder: JSONEncoder? = nil) -> HTTPBody {
        untyped(object, encoder)
    }

    /// Encodes an array as JSON. See ``jsonObject(_:encoder:)`` for the values that the array may contain.
    public static func jsonArray(_ array: [Any], encoder: JSONEncoder? = nil) -> HTTPBody {
        untyped(array, encoder)
    }

    /// Converts the value immediately, because a value of type `Any` may not be safe to share between threads.
    private static func untyped(_ value: Any, _ encoder: JSONEncoder?) -> HTTPBody {
        let value = Result { try JSONValue(value) }
        return .deferred(headers: [.contentType(.json)]) { .data(try (encoder ?? $0).encode(value.get())) }
    }
}
