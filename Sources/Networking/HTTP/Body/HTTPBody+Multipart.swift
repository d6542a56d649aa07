import Foundation

extension HTTPBody {
    /// Creates a `multipart/form-data` body (RFC 7578) of parts, in the order given.
    ///
    /// The parts are read one after another while they are sent. The body is not assembled in memory or in a file. Its
    /// length is known in advance if the length of each part is known. If the request is sent again after a 401, a
    /// redirect or a failure, the body is read again from the beginning, provided that every part can be read again.
    ///
    /// - Parameters:
    ///   - parts: The parts. If the file of a part cannot be read, the call ends with
    ///     ``NetworkError/Kind/bodyUnreadable`` before anything is sent.
    ///   - boundary: The boundary between the parts. Default: a random boundary that does not occur in any part whose
    ///     bytes are in memory.
    public static func multipart(_ parts: [HTTPBody.Part], boundary: String? = nil) -> HTTPBody {
        .form(MultipartForm(parts: parts, boundary: boundary ?? MultipartBoundary.random(notIn: parts)))
    }

    /// Creates a `multipart/form-data` body: the members of a value as fields, followed by files.
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
    func body(_ encoder: JSONEncoder) throws -> HTTPBody {
        try MultipartBoundary.check(boundary)
        return .concatenated(try pieces(encoder))
    }

    /// Returns the boundaries, heads and bodies in the order in which they are sent. The body of each part is encoded,
    /// so that it can be opened.
    private func pieces(_ encoder: JSONEncoder) throws -> [HTTPBody] {
        var pieces: [HTTPBody] = []
        for (index, part) in parts.enumerated() {
            try part.check()
            pieces.append(text("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n\(part.head)"))
            pieces.append(try part.body.encoded(by: encoder))
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
            let boundary = String(
                decoding: (0..<30).map { _ in letters[Int.random(in: 0..<letters.count)] }, as: UTF8.self)
            let bytes = Data(boundary.utf8)
            if !parts.contains(where: { $0.body.data?.range(of: bytes) != nil }) { return boundary }
        }
    }

    /// Throws an error unless the boundary consists of 1 to 70 characters that RFC 2046 section 5.1.1 allows. Spaces
    /// are not allowed.
    static func check(_ boundary: String) throws {
        let isRight = boundary.utf8.allSatisfy { letters.contains($0) || "'()+_,-./:=?".utf8.contains($0) }
        guard isRight, (1...70).contains(boundary.utf8.count) else {
            throw NetworkError(
                .bodyNotEncodable,
                reason: "the body cannot be encoded: its boundary needs 1 to 70 letters, digits or "
                    + "' ( ) + _ , - . / : = ?")
        }
    }
}
