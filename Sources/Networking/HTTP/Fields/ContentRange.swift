/// The byte range that a partial body covers: the `Content-Range` field of [RFC 9110, section
/// 14.4](https://www.rfc-editor.org/rfc/rfc9110#section-14.4).
struct ContentRange: Hashable, Sendable, CustomStringConvertible {
    /// The offset of the first byte, from 0; nil for an unsatisfied range (`*`).
    var first: Int64?
    /// The offset of the last byte, inclusive; nil for an unsatisfied range.
    var last: Int64?
    /// The number of bytes of the complete representation; nil if the server does not know it.
    var total: Int64?

    /// Parses a field value. Returns nil if it is not of the form `bytes 0-99/1000`, `bytes 0-99/*` or `bytes */1000`.
    init?(_ value: String) {
        let parts = value.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let sides = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        if sides[1] != "*" {
            guard let total: Int64 = HTTPGrammar.number(sides[1]) else { return nil }
            self.total = total
        }
        if sides[0] == "*" {
            guard total != nil else { return nil }
            return
        }
        let ends: [Int64?] = sides[0].split(separator: "-", omittingEmptySubsequences: false).map(HTTPGrammar.number)
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, total.map({ last < $0 }) ?? true
        else { return nil }
        self.first = first
        self.last = last
    }

    /// The field value.
    var description: String {
        let total = total.map(String.init) ?? "*"
        guard let first, let last else { return "bytes */\(total)" }
        return "bytes \(first)-\(last)/\(total)"
    }
}

extension HTTPHeaders {
    /// The byte range that the body covers; nil if the field is missing or malformed.
    var contentRange: ContentRange? { self[.contentRange].flatMap(ContentRange.init) }
}

extension HTTPResponse {
    /// Whether the body is only a part of the content, according to the status or to `Content-Range`. Some servers send
    /// a part with the status 200, although this is wrong.
    var isPart: Bool {
        guard status == .partialContent || status == .ok && headers.contains(.contentRange) else { return false }
        guard let range = headers.contentRange, let last = range.last else { return status == .partialContent }
        return range.first != 0 || range.total.map { last < $0 - 1 } ?? (status == .partialContent)
    }

    /// Throws an error if the body is only a part, but the request did not ask for a part (RFC 9110 section 15.3.7).
    func requireWhole() throws {
        guard isPart, !request.headers.contains(.range) else { return }
        throw NetworkError(
            .truncatedBody,
            reason: "the response contains only a part of the content, but the request did not ask for a part"
                + (headers.contentRange.map { ": \($0)" } ?? ""))
    }
}
