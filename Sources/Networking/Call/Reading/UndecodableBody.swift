import Foundation

/// An error for a body that cannot be read, for a reason that no decoding error describes.
struct UndecodableBody: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description.onOneLine
    }

    /// Returns the reason of an error as a text, with the type that the call requested. For a decoding error, the text
    /// contains the coding path, never the text of the body.
    static func describe(_ error: any Error, reading type: Any.Type, _ mediaType: MediaType? = nil) -> String {
        "\(describe(error, mediaType)) (reading \(type))"
    }

    private static func describe(_ error: any Error, _ mediaType: MediaType?) -> String {
        switch error {
        case let DecodingError.keyNotFound(key, context): "\(at(context.codingPath + [key])) is missing"
        case let DecodingError.typeMismatch(type, context):
            "\(at(context.codingPath)): expected \(name(type)), found \(found(context) ?? "something else")"
        case let DecodingError.valueNotFound(type, context):
            "\(at(context.codingPath)): expected \(name(type)), found null"
        case let DecodingError.dataCorrupted(context) where context.underlyingError is JSONScanner.Limit:
            "the body has \(context.debugDescription)"
        case let DecodingError.dataCorrupted(context):
            context.codingPath.isEmpty
                ? "the body is not JSON" + (mediaType.map { $0.isJSON ? "" : " but \($0.withoutParameters)" } ?? "")
                : "\(at(context.codingPath)) has a value that cannot be decoded"
        case let error as UndecodableBody:
            error.description
        default: "the body cannot be read: \(type(of: error))"
        }
    }

    /// Returns the kind of value that Foundation's decoder has found. The decoder reports it only in its debug
    /// description.
    private static func found(_ context: DecodingError.Context) -> String? {
        let kinds = [
            "a string": "a string", "number": "a number", "a number": "a number", "an array": "an array",
            "a dictionary": "an object", "bool": "a boolean", "null": "null",
        ]
        return kinds.first { context.debugDescription.hasSuffix("but found \($0.key) instead.") }?.value
    }

    /// Returns the name of the type that the decoder expected. For `Dictionary` and `Array`, returns the name in JSON.
    private static func name(_ type: Any.Type) -> String {
        let name = "\(type)"
        if name.hasPrefix("Dictionary<") { return "an object" }
        return name.hasPrefix("Array<") ? "an array" : name
    }

    /// Returns a coding path in the usual notation: `users[3].name`. The server may have chosen the names, so at most
    /// 64 characters of each and 20 names are shown.
    private static func at(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path.prefix(20) {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                let name = key.stringValue.unicodeScalars.prefix(65)
                text += text.isEmpty ? "" : "."
                text.unicodeScalars.append(contentsOf: name.prefix(64))
                if name.count > 64 { text += "…" }
            }
        }
        return text.isEmpty ? "the body" : "\"\(text)\(path.count > 20 ? "…" : "")\""
    }
}

extension HTTPResponse {
    /// The body as text, in the charset of its `Content-Type`.
    func text() throws -> String {
        let type = headers.contentType
        if let charset = type?.charset {
            guard let encoding = CharacterSetName(charset)?.encoding else {
                throw UndecodableBody("the body's charset \"\(charset)\" is unknown")
            }
            return try text(in: encoding, named: charset)
        }
        if let text = String(data: data, encoding: .utf8) { return try text.withFewMarks() }
        return try text(in: type?.isJSON == true ? .utf8 : .isoLatin1, named: "utf-8")
    }

    /// The body as text in an encoding.
    func text(in encoding: String.Encoding, named name: String) throws -> String {
        guard let text = String(data: data, encoding: encoding) else {
            throw UndecodableBody("the body is not text in \(name)")
        }
        return try text.withFewMarks()
    }
}

extension String {
    /// Returns the text of a body. An app that compares it would otherwise take time that grows with the square.
    fileprivate func withFewMarks() throws -> String {
        guard CombiningMarks.areFew(in: self) else {
            throw UndecodableBody("the body has \(JSONScanner.Limit.marks.description)")
        }
        return self
    }
}
