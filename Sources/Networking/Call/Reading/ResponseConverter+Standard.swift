public import Foundation

extension ResponseConverter where Value == Void {
    /// A converter that reads nothing: any body, including an empty one, is accepted and discarded.
    public static var void: ResponseConverter { .reading { _, _ in } }
}

extension ResponseConverter where Value == Data {
    /// A converter that returns the bytes of the body.
    public static var data: ResponseConverter { .reading { response, _ in response.data } }
}

extension ResponseConverter where Value == HTTPResponse {
    /// A converter that returns the response itself.
    public static var response: ResponseConverter { ResponseConverter { $0 } }
}

extension ResponseConverter where Value == String {
    /// A converter that returns the body as text, in the charset that its `Content-Type` names.
    ///
    /// Without a charset, JSON is UTF-8 (RFC 8259), and other text is UTF-8 if it is valid UTF-8, else ISO Latin 1.
    public static var string: ResponseConverter {
        ResponseConverter(readingPaths: { response, decoder, path in
            guard let path else { return try response.text() }
            return try decoder.read(String.self, from: response.nonEmpty(), at: path)
        })
    }

    /// Returns a converter that reads the body as text in an encoding. The charset of the response is ignored.
    public static func string(encoding: String.Encoding) -> ResponseConverter {
        .reading { response, _ in try response.text(in: encoding, named: "\(encoding)") }
    }
}
