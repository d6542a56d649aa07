public import Foundation

extension ResponseConverter where Value == Void {
    /// Reads nothing: any body, also an empty one, is accepted and dropped.
    public static var void: ResponseConverter { ResponseConverter { _ in } }
}

extension ResponseConverter where Value == Data {
    /// The body's bytes.
    public static var data: ResponseConverter { ResponseConverter { $0.data } }
}

extension ResponseConverter where Value == HTTPResponse {
    /// The response itself.
    public static var response: ResponseConverter { ResponseConverter { $0 } }
}

extension ResponseConverter where Value == String {
    /// The body as text, in the charset that its `Content-Type` names.
    ///
    /// Without a charset, JSON is UTF-8 (RFC 8259), and other text is UTF-8 if it is valid UTF-8, else ISO Latin 1.
    public static var string: ResponseConverter {
        ResponseConverter { try $0.text() }.readingPaths { .keyPath($0, .json()) }
    }

    /// The body as text in an encoding, whatever charset the response names.
    public static func string(encoding: String.Encoding) -> ResponseConverter {
        ResponseConverter { response in
            guard let text = String(data: response.data, encoding: encoding) else {
                throw UndecodableBody("the body is not text in \(encoding)")
            }
            return text
        }
    }
}
