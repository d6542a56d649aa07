import Foundation

extension HTTPResponse {
    /// The body as text, in the charset of its `Content-Type`.
    func text() throws -> String {
        let type = headers.contentType
        if let charset = type?.charset {
            guard let encoding = CharacterSetName(charset)?.encoding else {
                throw UndecodableBody("the body's charset \"\(charset)\" is not known")
            }
            guard let text = String(data: data, encoding: encoding) else {
                throw UndecodableBody("the body is no text in \(charset)")
            }
            return text
        }
        if let text = String(data: data, encoding: .utf8) { return text }
        guard type?.isJSON != true, let text = String(data: data, encoding: .isoLatin1) else {
            throw UndecodableBody("the body is no text in utf-8")
        }
        return text
    }
}
