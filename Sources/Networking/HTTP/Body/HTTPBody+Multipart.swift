import Foundation

extension HTTPBody {
    /// Parts as `multipart/form-data` (RFC 7578), in the order given.
    ///
    /// The parts are read one after another while they are sent: nothing is put together in memory or in a file. The
    /// length is known beforehand where that of each part is. Sent again, after a 401, a redirect or a failure, it is
    /// read again from the beginning, where every part can be.
    ///
    /// - Parameters:
    ///   - parts: The parts. One whose source cannot be opened ends the call with
    ///     ``NetworkError/Kind/bodyUnreadable``, before anything is sent.
    ///   - boundary: What stands between the parts; unless it is given, a random one that occurs in no part that is
    ///     in memory.
    public static func multipart(_ parts: [HTTPBody.Part], boundary: String? = nil) -> HTTPBody {
        .form(MultipartForm(parts: parts, boundary: boundary ?? MultipartBoundary.random(besides: parts)))
    }

    /// The members of a value as fields, then files.
    ///
    /// - Parameters:
    ///   - fields: A struct or a dictionary: see ``URLQueryEncoder`` for how its members are named and written.
    ///   - encoder: What makes fields of it.
    ///   - files: The parts that follow.
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

/// The parts with what stands around them.
struct MultipartForm: Sendable {
    var parts: [HTTPBody.Part]
    let boundary: String

    var mediaType: MediaType { MediaType("multipart", "form-data", ["boundary": boundary]) }

    /// The form as one body.
    func body(_ encoder: JSONEncoder) throws -> HTTPBody {
        try MultipartBoundary.check(boundary)
        return .concatenated(try pieces(encoder))
    }

    /// Everything that is sent, in order; each part's body is ready to be opened.
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

/// What stands between parts.
enum MultipartBoundary {
    private static let letters = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    /// 30 letters and digits, 178 bits of chance: it does not occur in what is not in memory either.
    static func random(besides parts: [HTTPBody.Part]) -> String {
        while true {
            let boundary = String(
                decoding: (0..<30).map { _ in letters[Int.random(in: 0..<letters.count)] }, as: UTF8.self)
            let bytes = Data(boundary.utf8)
            if !parts.contains(where: { $0.body.data?.range(of: bytes) != nil }) { return boundary }
        }
    }

    /// RFC 2046 section 5.1.1: 1 to 70 of these characters.
    static func check(_ boundary: String) throws {
        let isRight = boundary.utf8.allSatisfy { letters.contains($0) || "'()+_,-./:=?".utf8.contains($0) }
        guard isRight, (1...70).contains(boundary.utf8.count) else {
            throw NetworkError(
                .bodyNotEncodable,
                reason: "the body cannot be encoded: its boundary is not 1 to 70 letters, digits or '()+_,-./:=?")
        }
    }
}
