import Foundation

/// The description of a partial download. It contains the data that is needed to request the rest of the same content,
/// and to detect that the content has changed.
struct ResumePoint: Codable, Hashable, Sendable {
    /// The name of the content. A response can continue a part only if both have the same name.
    let content: String
    /// The strong validator of the content: an entity tag, or a date.
    let validator: String
    /// The size of the whole content in bytes; nil if the server has not stated it.
    let total: Int64?

    /// Creates a resume point from the first response; nil if its content cannot be resumed later.
    init?(_ response: HTTPResponse, content: String) {
        let headers = response.headers
        guard response.status == .ok, !headers.isContentEncoded, headers[.acceptRanges]?.lowercased() != "none",
            let validator = headers.strongValidator
        else { return nil }
        self.content = content
        self.validator = validator
        total = headers.contentLength.map(Int64.init)
    }

    /// Whether the validator can be sent in `If-Range`. If the file of the description is damaged, the validator may be
    /// invalid, and each request would be refused.
    var isSendable: Bool { !validator.isEmpty && HTTPGrammar.isFieldValue(validator) }

    /// Returns the position of the first byte to request. If the part is complete already, this is the position of its
    /// last byte, so that the server can confirm the content.
    func start(after size: Int64) -> Int64 {
        guard let total, size >= total else { return size }
        return size == total ? max(total - 1, 0) : 0
    }

    /// Whether a response contains the rest of the same content, beginning at the byte `start`.
    func isContinued(by response: HTTPResponse, at start: Int64) -> Bool {
        guard response.status == .partialContent, !response.headers.isContentEncoded,
            let range = response.headers.contentRange, range.first == start
        else { return false }
        if let total, range.total != total { return false }
        // A server need not repeat `Last-Modified` in the response to `If-Range`, but must repeat the `ETag` (RFC 9110
        // section 15.3.7).
        if validator.hasPrefix("\"") { return response.headers[.eTag] == validator }
        return response.headers[.lastModified].map { $0 == validator } ?? true
    }
}

extension HTTPHeaders {
    /// Whether the body has a content coding other than `identity`.
    var isContentEncoded: Bool { self[.contentEncoding].map { $0.lowercased() != "identity" } ?? false }

    /// The strong validator, which changes whenever a byte of the content changes (RFC 9110 sections 8.8.2.2
    /// and 8.8.3): an entity tag that is not weak, or a `Last-Modified` date that is at least one second before the
    /// response's `Date`.
    fileprivate var strongValidator: String? {
        if let tag = self[.eTag] {
            return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count > 1 ? tag : nil
        }
        guard let text = self[.lastModified], let changed = HTTPDate(text), let date,
            changed.date < date
        else { return nil }
        return text
    }
}
