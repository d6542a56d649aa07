import Foundation

/// What a part of a download is a part of: enough to have the rest of the same content, and to notice another one.
struct ResumePoint: Codable, Hashable, Sendable {
    /// The name by which the part and a later response belong together.
    let content: String
    /// The strong validator of the content: an entity tag, or a date.
    let validator: String
    /// How many bytes the whole has, where the server said.
    let total: Int64?

    /// Reads a first response; nil if its content cannot be resumed later.
    init?(_ response: HTTPResponse, content: String) {
        let headers = response.headers
        guard response.status == .ok, !headers.isContentEncoded, headers[.acceptRanges]?.lowercased() != "none",
            let validator = headers.strongValidator
        else { return nil }
        self.content = content
        self.validator = validator
        total = headers.contentLength.map(Int64.init)
    }

    /// From where to ask for the rest. Of a part that is whole already the last byte is asked for, so that the server
    /// can vouch for it.
    func start(after size: Int64) -> Int64 {
        guard let total, size >= total else { return size }
        return size == total ? max(total - 1, 0) : 0
    }

    /// Whether a response is the rest of the same content, from a place.
    func isContinued(by response: HTTPResponse, at start: Int64) -> Bool {
        guard response.status == .partialContent, !response.headers.isContentEncoded,
            let range = response.headers.contentRange, range.first == start
        else { return false }
        if let total, range.total != total { return false }
        // A server that goes on by a date need not repeat it; one that goes on by a tag has to (RFC 9110 section 15.3.7).
        if validator.hasPrefix("\"") { return response.headers[.eTag] == validator }
        return response.headers[.lastModified].map { $0 == validator } ?? true
    }
}

extension HTTPHeaders {
    /// Whether the body is packed, so that its bytes are not those of the content.
    var isContentEncoded: Bool { self[.contentEncoding].map { $0.lowercased() != "identity" } ?? false }

    /// What tells one content from every other, byte for byte (RFC 9110 sections 8.8.2.2 and 8.8.3): an entity tag
    /// that is not weak, or a date of the last change that lies at least a second before the response's.
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
