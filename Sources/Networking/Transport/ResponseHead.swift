/// The status line and the header fields of a response.
struct ResponseHead: Sendable {
    let status: HTTPStatus
    let headers: HTTPHeaders
    /// The version of HTTP, `1.1` or `2`; nil if the engine cannot tell.
    var version: String?

    /// Whether the response serves one request at a time on its connection.
    var isExclusive: Bool { version?.hasPrefix("1.") ?? false }

    /// Checks that the end of the body is defined (RFC 9112 section 6.3).
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/malformedResponse`` if the response has several lengths,
    ///   or one that is not a number.
    func validateLength(for method: HTTPMethod) throws(NetworkError) {
        let hasNoBody = method == .head || status.isInformational || status == .noContent || status == .notModified
        guard !hasNoBody, !headers.hasTransferCoding else { return }
        // Equal values in a list, which intermediaries make of equal fields, are one value (RFC 9110 section 8.6).
        let values = headers.values(for: .contentLength).flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        .map { $0.trimmingBlanks() }
        for value in values {
            guard !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), Int64(value) != nil else {
                throw ResponseHead.malformed("Content-Length: expected a number, found \"\(value)\"")
            }
            guard Int64(value) == Int64(values[0]) else {
                throw ResponseHead.malformed("Content-Length: expected one value, found \(values[0]) and \(value)")
            }
        }
    }

    private static func malformed(_ reason: String) -> NetworkError { NetworkError(.malformedResponse, reason: reason) }
}

extension HTTPHeaders {
    /// Whether the body is framed by transfer codings, so that `Content-Length` does not count (RFC 9112 section 6.1).
    var hasTransferCoding: Bool {
        contains(.transferEncoding) && self[.transferEncoding]?.lowercased() != "identity"
    }
}

extension Substring {
    /// The text without blanks and tabs at either end.
    func trimmingBlanks() -> Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start.prefix(0) }
        return start[...last]
    }
}
