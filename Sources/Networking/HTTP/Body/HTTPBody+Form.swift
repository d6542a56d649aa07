import Foundation

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
