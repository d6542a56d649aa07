public import Foundation

extension HTTPBody {
    /// Creates a `multipart/form-data` body (RFC 7578) of parts, in the order given.
    ///
    /// The parts are read one after another while they are sent. The body is not assembled in memory or in a file. Its
    /// length is known in advance if the length of each part is known. If every part can be read again, the request can
    /// be sent again after a 401, a redirect or a failure. The body is then read again from the beginning.
    ///
    /// - Parameters:
    ///   - parts: The parts. If the file of a part cannot be read, the call ends with
    ///     ``NetworkError/Kind/bodyUnreadable`` before anything is sent.
    ///   - boundary: The boundary between the parts. Default: a random boundary that does not occur in any part whose
    ///     bytes are in memory.
    public static func multipart(_ parts: [HTTPBody.Part], boundary: String? = nil) -> HTTPBody {
        let form = MultipartForm(parts: parts, boundary: boundary ?? MultipartBoundary.random(notIn: parts))
        return HTTPBody(.form(form), headers: [.contentType(form.mediaType)])
    }

    /// Creates a `multipart/form-data` body. Its first parts are fields, one for each member of a value; the parts in
    /// `files` follow.
    ///
    /// - Parameters:
    ///   - fields: A struct or a dictionary. See ``URLQueryEncoder`` for how its members are named and written.
    ///   - encoder: The encoder that converts `fields` to form fields.
    ///   - files: The parts that follow the fields.
    public static func multipart(
        fields: some Encodable & Sendable, encoder: URLQueryEncoder = URLQueryEncoder(), files: [HTTPBody.Part]
    ) -> HTTPBody {
        let query = URLQuery.encoded(fields, using: encoder)
        if let fault = query.fault { return .encoded(headers: []) { throw fault.error } }
        return .multipart(query.parts + files)
    }
}

extension URLQuery {
    /// The items as fields of a form.
    var parts: [HTTPBody.Part] { items.map { .field($0.name, $0.value ?? "") } }
}

/// A multipart form: its parts and the boundary between them.
struct MultipartForm: Sendable {
    var parts: [HTTPBody.Part]
    let boundary: String

    var mediaType: MediaType { MediaType("multipart", "form-data", ["boundary": boundary]) }

    /// Returns the form as one body.
    func body(_ encoder: any BodyEncoder) throws -> HTTPBody {
        try MultipartBoundary.check(boundary)
        return .concatenated(try pieces(encoder))
    }

    /// Returns the boundaries, heads and bodies in the order in which they are sent. The body of each part is encoded,
    /// so that it can be opened.
    private func pieces(_ encoder: any BodyEncoder) throws -> [HTTPBody] {
        var pieces: [HTTPBody] = []
        for (index, part) in parts.enumerated() {
            let part = HTTPBody.Part(part.name, fileName: part.fileName, body: try part.body.encoded(by: encoder))
            try part.check()
            try NetworkError.require(
                !part.body.isResumable,
                "part \"\(part.name)\": expected a body that is sent with the form, found a resumable upload (`resumable`)"
            )
            pieces.append(text("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n\(part.head)"))
            pieces.append(part.body)
        }
        pieces.append(text("\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n"))
        return pieces
    }

    private func text(_ text: String) -> HTTPBody {
        .data(Data(text.utf8), contentType: nil)
    }
}

/// The boundary between the parts of a multipart form.
enum MultipartBoundary {
    private static let letters = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    /// Returns 30 random letters and digits, which contain 178 random bits. The parts whose bytes are in memory are
    /// searched, so that the boundary does not occur in them. Other parts are not searched, because 178 random bits
    /// practically never occur in them.
    static func random(notIn parts: [HTTPBody.Part]) -> String {
        while true {
            let bytes = Data((0..<30).map { _ in letters[Int.random(in: 0..<letters.count)] })
            if !parts.contains(where: { $0.body.data?.range(of: bytes) != nil }) {
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }

    /// Throws an error unless the boundary consists of 1 to 70 characters that RFC 2046 section 5.1.1 allows. Spaces
    /// are not allowed.
    static func check(_ boundary: String) throws {
        let isRight = boundary.utf8.allSatisfy { letters.contains($0) || "'()+_,-./:=?".utf8.contains($0) }
        guard isRight, (1...70).contains(boundary.utf8.count) else {
            throw NetworkError.bodyNotEncodable(
                "expected a boundary of 1 to 70 letters, digits or ' ( ) + _ , - . / : = ?, found another text")
        }
    }
}

extension HTTPBody {
    /// One part of a `multipart/form-data` body: a field or a file, and the source of its bytes.
    ///
    /// ```swift
    /// let parts: [HTTPBody.Part] = [
    ///     .field("title", "Holidays"),
    ///     .file("photo", at: photo),
    ///     .data("thumbnail", thumbnail, fileName: "small.png", contentType: .png),
    /// ]
    /// ```
    public struct Part: Sendable {
        /// The name of the form field.
        let name: String
        /// The name of the file; nil for a field that is not a file.
        let fileName: String?
        /// The part's bytes, with their media type.
        let body: HTTPBody

        /// Creates a part from any body: data, text, JSON, a file or a custom source.
        ///
        /// - Parameters:
        ///   - name: The name of the form field.
        ///   - fileName: The name of the file; nil for a field that is not a file.
        ///   - body: The bytes. If the body has no media type, the part has no `Content-Type`.
        public init(_ name: String, fileName: String? = nil, body: HTTPBody) {
            self.name = name
            self.fileName = fileName
            self.body = body
        }

        /// Creates a field with a text or a number.
        public static func field(_ name: String, _ value: some LosslessStringConvertible) -> HTTPBody.Part {
            HTTPBody.Part(name, body: .data(Data(value.description.utf8), contentType: nil))
        }

        /// Creates a part from bytes in memory: a file if `fileName` is not nil, otherwise a field.
        public static func data(
            _ name: String, _ data: Data, fileName: String? = nil, contentType: MediaType? = nil
        ) -> HTTPBody.Part {
            let type = contentType ?? fileName.map { HTTPBody.Part.type(of: $0) }
            return HTTPBody.Part(name, fileName: fileName, body: .data(data, contentType: type))
        }

        /// Creates a part from a file, which is read while it is sent.
        ///
        /// - Parameters:
        ///   - name: The name of the form field.
        ///   - url: The URL of the file.
        ///   - fileName: The name that is sent to the server. Default: the name of the file.
        ///   - contentType: The media type. Default: the media type of the file name's extension.
        public static func file(
            _ name: String, at url: URL, fileName: String? = nil, contentType: MediaType? = nil
        ) -> HTTPBody.Part {
            let shown = fileName ?? url.lastPathComponent
            return HTTPBody.Part(name, fileName: shown, body: .file(url, contentType: contentType ?? type(of: shown)))
        }

        /// Creates a part whose bytes a reader supplies while they are sent.
        ///
        /// - Parameters:
        ///   - name: The name of the form field.
        ///   - fileName: The name that is sent to the server; nil for a field that is not a file.
        ///   - length: The number of bytes; nil if it is not known. The length of the whole body is then not known
        ///     either, and the body is sent in chunks.
        ///   - isReplayable: Whether `open` can be called again for a retry or a redirect.
        ///   - contentType: The media type.
        ///   - open: Opens the part. The closure runs each time the body is sent: once per attempt, and again if a
        ///     redirect or the engine repeats the body.
        public static func stream(
            _ name: String, fileName: String?, length: Int?, isReplayable: Bool, contentType: MediaType = .octetStream,
            open: @escaping @Sendable () throws -> any HTTPBody.Reader
        ) -> HTTPBody.Part {
            HTTPBody.Part(
                name, fileName: fileName,
                body: .source(length: length, isReplayable: isReplayable, contentType: contentType, open: open))
        }

        private static func type(of fileName: String) -> MediaType {
            guard let dot = fileName.lastIndex(of: "."), dot > fileName.startIndex else { return .octetStream }
            return MediaType(fileExtension: String(fileName[fileName.index(after: dot)...])) ?? .octetStream
        }

        /// The part's header fields, up to the first byte of its body.
        var head: String {
            var disposition = "Content-Disposition: form-data; name=\"\(HTTPBody.Part.escape(name))\""
            if let fileName { disposition += "; filename=\"\(HTTPBody.Part.escape(fileName))\"" }
            return ([disposition] + body.headers.map { "\($0.name): \($0.value)" }).joined(separator: "\r\n")
                + "\r\n\r\n"
        }

        /// - Throws: ``NetworkError/Kind/bodyNotEncodable`` if a field of the part's body has an invalid name or value,
        ///   because such a field could add other fields to the head.
        func check() throws {
            for field in body.headers {
                guard HTTPGrammar.isToken(field.name.rawValue), HTTPGrammar.isFieldValue(field.value),
                    field.name != .contentType || HTTPGrammar.isMediaType(field.value)
                else {
                    throw NetworkError.bodyNotEncodable(
                        "the part \"\(name)\" has a header field with an invalid name or value")
                }
            }
        }

        /// Escapes a name as browsers do (WHATWG form encoding): quotes and line breaks are percent-encoded. Other
        /// control characters are percent-encoded as well, because a head must not contain them. All other characters
        /// stay as they are, in UTF-8.
        private static func escape(_ name: String) -> String {
            var escaped = ""
            for scalar in name.unicodeScalars {
                if scalar == "\"" || scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7F {
                    escaped += PercentEncoding.escaped(UInt8(scalar.value))
                } else {
                    escaped.unicodeScalars.append(scalar)
                }
            }
            return escaped
        }
    }
}
