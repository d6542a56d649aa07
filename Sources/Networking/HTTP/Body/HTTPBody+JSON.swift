public import Foundation

extension HTTPBody {
    /// A value as JSON, with `Content-Type: application/json`.
    ///
    /// - Parameters:
    ///   - value: What to encode. A value that cannot be encoded ends the call with
    ///     ``NetworkError/Kind/bodyNotEncodable`` and the `EncodingError` underlying.
    ///   - encoder: The encoder. Default: the one of the call's settings, which is one with Foundation's settings
    ///     unless the service has its own.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPBody {
        .deferred(headers: [.contentType(.json)]) { .data(try (encoder ?? $0).encode(value)) }
    }

    /// An object as JSON: texts, numbers, truth values, URLs, nil, and arrays and dictionaries of these. Anything
    /// else ends the call with ``NetworkError/Kind/bodyNotEncodable`` that names its place.
    public static func jsonObject(_ object: [String: Any], encoder: JSONEncoder? = nil) -> HTTPBody {
        untyped(object, encoder)
    }

    /// An array as JSON: see ``jsonObject(_:encoder:)``.
    public static func jsonArray(_ array: [Any], encoder: JSONEncoder? = nil) -> HTTPBody {
        untyped(array, encoder)
    }

    /// Read at once, since it may be nobody's to share.
    private static func untyped(_ value: Any, _ encoder: JSONEncoder?) -> HTTPBody {
        let value = Result { try JSONValue(value) }
        return .deferred(headers: [.contentType(.json)]) { .data(try (encoder ?? $0).encode(value.get())) }
    }
}
