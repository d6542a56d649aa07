import Foundation

extension HTTPBody {
    /// A value as a form, `application/x-www-form-urlencoded`.
    ///
    /// - Parameters:
    ///   - value: What to encode, an object. A value that cannot be encoded ends the call with
    ///     ``NetworkError/Kind/bodyNotEncodable`` and the `EncodingError` underlying.
    ///   - encoder: How names and values are written.
    public static func form(_ value: some Encodable & Sendable, encoder: URLQueryEncoder = URLQueryEncoder())
        -> HTTPBody
    {
        .encoded(headers: [.contentType(.form)]) { Data(try encoder.encode(value).percentEncoded.utf8) }
    }

    /// Names and values in order as a form, `application/x-www-form-urlencoded`.
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
