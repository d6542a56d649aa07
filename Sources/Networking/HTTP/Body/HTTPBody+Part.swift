public import Foundation

extension HTTPBody {
    /// One part of a `multipart/form-data` body: a field or a file, with where its bytes come from.
    ///
    /// ```swift
    /// let parts: [HTTPBody.Part] = [
    ///     .field("title", "Holidays"),
    ///     .file("photo", at: photo),
    ///     .data("thumbnail", thumbnail, fileName: "small.png", contentType: .png),
    /// ]
    /// ```
    public struct Part: Sendable {
        /// The name of the form's field.
        let name: String
        /// The name of the file; nil for a field that is none.
        let fileName: String?
        /// The part's bytes, with their media type.
        let body: HTTPBody

        /// Makes a part of any body: data, text, JSON, a file, a source of your own.
        ///
        /// - Parameters:
        ///   - name: The name of the form's field.
        ///   - fileName: The name of the file; nil for a field that is none.
        ///   - body: The bytes. Where it says nothing about their media type, neither does the part.
        public init(_ name: String, fileName: String? = nil, body: HTTPBody) {
            self.name = name
            self.fileName = fileName
            self.body = body
        }

        /// A field with a text or a number.
        public static func field(_ name: String, _ value: some LosslessStringConvertible) -> HTTPBody.Part {
            HTTPBody.Part(name, body: .data(Data(value.description.utf8), contentType: nil))
        }

        /// Bytes in memory: a file where there is a name for it, else a field.
        public static func data(
            _ name: String, _ data: Data, fileName: String? = nil, contentType: MediaType? = nil
        ) -> HTTPBody.Part {
            let type = contentType ?? fileName.map { HTTPBody.Part.type(of: $0) }
            return HTTPBody.Part(name, fileName: fileName, body: .data(data, contentType: type))
        }

        /// A file, read while it is sent.
        ///
        /// - Parameters:
        ///   - name: The name of the form's field.
        ///   - url: Where it is.
        ///   - fileName: The name that is sent to the server. Default: the file's own.
        ///   - contentType: The media type; by default the one that the name's extension stands for.
        public static func file(
            _ name: String, at url: URL, fileName: String? = nil, contentType: MediaType? = nil
        ) -> HTTPBody.Part {
            let shown = fileName ?? url.lastPathComponent
            return HTTPBody.Part(name, fileName: shown, body: .file(url, contentType: contentType ?? type(of: shown)))
        }

        /// Bytes that a reader gives while they are sent.
        ///
        /// - Parameters:
        ///   - name: The name of the form's field.
        ///   - fileName: The name that is sent to the server; nil for a field that is not a file.
        ///   - contentType: The media type.
        ///   - length: How many bytes there are; where that is not known, neither is the length of the whole, which is
        ///     then sent in chunks.
        ///   - isReplayable: Whether `open` can be called again for a retry or redirect.
        ///   - open: Runs once an attempt.
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

        /// The part's head, up to its bytes.
        var head: String {
            var disposition = "Content-Disposition: form-data; name=\"\(HTTPBody.Part.escape(name))\""
            if let fileName { disposition += "; filename=\"\(HTTPBody.Part.escape(fileName))\"" }
            return ([disposition] + body.headers.map { "\($0.name): \($0.value)" }).joined(separator: "\r\n")
                + "\r\n\r\n"
        }

        /// - Throws: ``NetworkError/Kind/bodyNotEncodable`` where a field of the part's body would break out of its line.
        func check() throws {
            for field in body.headers {
                guard HTTPGrammar.isToken(field.name.rawValue), HTTPGrammar.isFieldValue(field.value) else {
                    throw NetworkError(
                        .bodyNotEncodable,
                        reason:
                            "the body cannot be encoded: the part \"\(name)\" has a field whose name or value is none")
                }
            }
        }

        /// As browsers do it (the WHATWG's form encoding): quotes and line breaks as percent codes, everything else as it
        /// is, in UTF-8.
        private static func escape(_ name: String) -> String {
            var escaped = ""
            for scalar in name.unicodeScalars {
                switch scalar {
                case "\"": escaped += "%22"
                case "\r": escaped += "%0D"
                case "\n": escaped += "%0A"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
            return escaped
        }
    }
}
