/// The status line and the header fields of a response.
package struct ResponseHead: Sendable {
    package let status: HTTPStatus
    package let headers: HTTPHeaders
    /// The version of HTTP, such as `1.1` or `2`; nil if the engine does not report it.
    package var version: String?

    /// Whether the connection of the response serves one request at a time (HTTP/1.x).
    var isExclusive: Bool { version?.hasPrefix("1.") ?? false }

    /// How long the client should keep an idle connection, according to a field such as `Keep-Alive: timeout=5`: one
    /// second less than the server's time, or half of that time, whichever is longer. The client's time is shorter,
    /// because a request that is sent while the server closes the connection would be lost. Nil if the head does not
    /// contain this parameter.
    var keepAlive: Duration? {
        guard let text = headers["Keep-Alive"] else { return nil }
        let times = text.utf8.split(separator: UInt8(ascii: ",")).compactMap { part -> Int? in
            let parameter = Substring(part).trimmingBlanks().lowercased()
            return parameter.hasPrefix("timeout=") ? HTTPGrammar.number(parameter.dropFirst(8)) : nil
        }
        return times.min().map { seconds in
            let seconds = min(seconds, 86_400)
            return .milliseconds(max(1_000 * seconds - 1_000, 500 * seconds))
        }
    }

    /// Returns the number of bytes of the body as transferred, before it is decoded (RFC 9112 section 6.3). Returns nil
    /// if the head does not contain this number, or if the response has no body.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/malformedResponse`` if the head contains different
    ///   lengths, or a length that is not a number.
    package func bodyLength(for method: HTTPMethod) throws(NetworkError) -> Int64? {
        guard mayHaveBody(for: method), !headers.hasTransferCoding else { return nil }
        guard let text = headers[.contentLength] else { return nil }
        if let length = ResponseHead.number(text[...]) { return length }
        // Several equal values count as one value. They may be in several fields or in one field, because
        // intermediaries join fields (RFC 9110 section 8.6).
        let values = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            Substring($0).trimmingBlanks()
        }
        for value in values where ResponseHead.number(value) == nil {
            throw ResponseHead.malformed("Content-Length: expected a number, found \"\(value.prefix(40))\"")
        }
        let numbers = Set(values.compactMap(ResponseHead.number))
        guard numbers.count == 1 else {
            throw ResponseHead.malformed("Content-Length: expected one value, found \(text.prefix(40))")
        }
        return numbers.first
    }

    /// Checks that the only transfer coding is `chunked`. No request asks for another coding (`TE`), and libcurl would
    /// decode such a coding without any limit.
    func requireChunked() throws(NetworkError) {
        let codings = headers.transferCodings
        guard codings.isEmpty || codings == ["chunked"] else {
            throw ResponseHead.malformed(
                "Transfer-Encoding: expected chunked, found \(codings.joined(separator: ", ").prefix(40))")
        }
    }

    /// Whether a response with this head has a body that ends with the connection (RFC 9112 section 6.3).
    func endsWithConnection(for method: HTTPMethod) -> Bool {
        isExclusive && mayHaveBody(for: method) && !headers.contains(.contentLength) && !headers.hasTransferCoding
    }

    /// Whether a response with this head may have a body.
    func mayHaveBody(for method: HTTPMethod) -> Bool {
        !(method == .head || status.isInformational || status == .noContent || status == .notModified)
    }

    private static func number(_ text: Substring) -> Int64? { HTTPGrammar.number(text) }

    private static func malformed(_ reason: String) -> NetworkError { NetworkError(.malformedResponse, reason: reason) }
}

extension HTTPHeaders {
    /// The content codings of the body, in the order in which they were applied (RFC 9110 section 8.4). `identity` is
    /// omitted.
    var contentCodings: [String] {
        values(for: .contentEncoding).flatMap { $0.split(separator: ",") }.map { $0.trimmingBlanks().lowercased() }
            .filter { $0 != "identity" && !$0.isEmpty }
    }

    /// Whether an engine may decode the body. If true, `Content-Length` and ranges count encoded bytes, and not the
    /// bytes that the caller receives. False if a coding is not known, such as `aws-chunked`: the body is then passed
    /// on unchanged.
    var isDecoded: Bool {
        guard contains(.contentEncoding) else { return false }
        let codings = contentCodings
        return !codings.isEmpty && codings.allSatisfy(["gzip", "x-gzip", "deflate", "br", "zstd"].contains)
    }

    /// Whether a transfer coding determines where the body ends. Then `Content-Length` is ignored (RFC 9112 section
    /// 6.1).
    var hasTransferCoding: Bool { !transferCodings.isEmpty }

    /// The transfer codings of the body in lowercase, without `identity`.
    var transferCodings: [String] {
        guard contains(.transferEncoding) else { return [] }
        return values(for: .transferEncoding).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingBlanks().lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
    }
}

extension HTTPResponse {
    /// The number of bytes of the body according to `Content-Length`; nil if the field is missing, or if it does not
    /// count the bytes that the caller receives (RFC 9112 section 6.3).
    var statedLength: Int64? {
        let hasBody = request.method != .head && status != .noContent && status != .notModified
        guard hasBody, !headers.isDecoded, !headers.hasTransferCoding else { return nil }
        return headers.contentLength.map(Int64.init)
    }
}
