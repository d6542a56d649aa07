public import Foundation

extension HTTPBody {
    /// A value as JSON, with `Content-Type: application/json`.
    ///
    /// - Parameters:
    ///   - value: What to encode. A value that cannot be encoded ends the call with ``NetworkError/Kind/bodyNotEncodable`` and the
    ///     `EncodingError` underlying.
    ///   - encoder: The encoder; by default one with Foundation's settings.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder = JSONEncoder()) -> HTTPBody {
        .encoded(headers: [.contentType(.json)]) { try encoder.encode(value) }
    }
}
