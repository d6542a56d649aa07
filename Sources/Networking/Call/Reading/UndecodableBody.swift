import Foundation

/// A body that cannot be read, for a reason that no decoder's error says.
struct UndecodableBody: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// An error's reason in words, with the type that was wanted: a decoding error tells the path, never the body's
    /// text.
    static func describe(_ error: any Error, reading type: Any.Type, _ mediaType: MediaType? = nil) -> String {
        "\(describe(error, mediaType)) (reading \(type))"
    }

    private static func describe(_ error: any Error, _ mediaType: MediaType?) -> String {
        switch error {
        case let DecodingError.keyNotFound(key, context):
            "\(at(context.codingPath + [key])) is missing"
        case let DecodingError.typeMismatch(type, context):
            "\(at(context.codingPath)): expected \(name(type)), found \(found(context) ?? "something else")"
        case let DecodingError.valueNotFound(type, context):
            "\(at(context.codingPath)): expected \(name(type)), found null"
        case let DecodingError.dataCorrupted(context):
            context.codingPath.isEmpty
                ? "the body is not JSON" + (mediaType.map { $0.isJSON ? "" : " but \($0.withoutParameters)" } ?? "")
                : "\(at(context.codingPath)) has a value that cannot be decoded"
        case let error as UndecodableBody:
            error.description
        default:
            "the body cannot be read: \(type(of: error))"
        }
    }

    /// The kind of value that a decoder of Foundation's has found, of which it tells in words only.
    private static func found(_ context: DecodingError.Context) -> String? {
        let kinds = [
            "a string": "a string", "number": "a number", "a number": "a number", "an array": "an array",
            "a dictionary": "an object",
            "bool": "a boolean", "null": "null",
        ]
        return kinds.first { context.debugDescription.hasSuffix("but found \($0.key) instead.") }?.value
    }

    /// A type as JSON calls it: decoders ask for `Dictionary<String, Any>` where an object is wanted.
    private static func name(_ type: Any.Type) -> String {
        let name = "\(type)"
        if name.hasPrefix("Dictionary<") { return "an object" }
        return name.hasPrefix("Array<") ? "an array" : name
    }

    /// A coding path as it would be written: `users[3].name`.
    private static func at(_ path: [any CodingKey]) -> String {
        let text = path.reduce("") { text, key in
            if let index = key.intValue { return "\(text)[\(index)]" }
            return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
        }
        return text.isEmpty ? "the body" : "\"\(text)\""
    }
}

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
