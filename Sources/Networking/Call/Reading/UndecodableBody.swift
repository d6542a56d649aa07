import Foundation

/// The error of a body that cannot be read. It is used if no decoding error describes the reason.
struct UndecodableBody: Error, CustomStringConvertible {
    let description: String
    /// The error of the app's own decoder; nil for an error of the library.
    let cause: (any Error)?

    init(_ description: String, cause: (any Error)? = nil) {
        self.description = description.onOneLine
        self.cause = cause
    }

    /// Returns the reason of an error as a text, with the type that the call requested. For a decoding error, the text
    /// contains the coding path, never the text of the body.
    ///
    /// - Parameters:
    ///   - body: The body that could not be decoded.
    ///   - mediaType: Its media type; nil if it is not known.
    static func describe(
        _ error: any Error, reading type: Any.Type, from body: Data, _ mediaType: MediaType? = nil
    ) -> String {
        "\(describe(error, body, mediaType)) (reading \(type))"
    }

    private static func describe(_ error: any Error, _ body: Data, _ mediaType: MediaType?) -> String {
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
                ? whole(body, mediaType) : "\(at(context.codingPath)) has a value that cannot be decoded"
        case let error as UndecodableBody:
            error.description
        default: "the body cannot be read: \(type(of: error))"
        }
    }

    /// Returns the reason why a body cannot be decoded. Used if the decoder's error names no place in the body. In this
    /// case, Foundation's decoder says that the body is not JSON, even if only a number does not fit its type.
    private static func whole(_ body: Data, _ type: MediaType?) -> String {
        guard !LargeBody.isLarge(body) else { return "the body is not JSON, or has a value that cannot be decoded" }
        if JSONScanner.canRead(body) {
            return "the body is JSON, but has a value that cannot be decoded, for example a number that does not fit"
        }
        if let charset = type?.charset, ![.utf8, .ascii].contains(CharacterSetName(charset)?.encoding) {
            return "the body is not JSON in UTF-8; its charset is \(charset)"
        }
        return "the body is not JSON" + (type.map { $0.isJSON ? "" : " but \($0.withoutParameters)" } ?? "")
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

    /// Returns the name of the type that the decoder expected. For `Dictionary` and `Array`, returns the name of the
    /// JSON type.
    private static func name(_ type: Any.Type) -> String {
        let name = "\(type)"
        if name.hasPrefix("Dictionary<") { return "an object" }
        return name.hasPrefix("Array<") ? "an array" : name
    }

    /// Returns a coding path in the usual notation: `users[3].name`. The server may have chosen the names, so at most
    /// 20 names are shown, each with at most 64 characters.
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
    /// Returns the text of a body. Throws if the text has many combining marks in a row, because comparing such a text
    /// takes quadratic time.
    fileprivate func withFewMarks() throws -> String {
        guard CombiningMarks.areFew(in: self) else {
            throw UndecodableBody("the body has \(JSONScanner.Limit.marks.description)")
        }
        return self
    }
}

extension JSONScanner {
    /// Whether a text is JSON. The text may contain numbers that no type of Swift can represent.
    fileprivate static func canRead(_ text: Data) -> Bool {
        guard let text = String(data: text, encoding: text.encodingOfJSON) else { return false }
        var scanner = JSONScanner(text, depth: 512)
        do {
            while try scanner.next() != nil {}
            return true
        } catch { return false }
    }
}

extension Data {
    /// Whether the data contains only the white space of JSON (RFC 8259 section 2).
    var isEmptyJSON: Bool {
        withUnsafeBytes { $0.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 } }
    }
}
