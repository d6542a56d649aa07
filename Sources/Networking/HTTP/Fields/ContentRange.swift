/// Which part of a whole a body is: the `Content-Range` field of [RFC 9110, section
/// 14.4](https://www.rfc-editor.org/rfc/rfc9110#section-14.4), in bytes.
struct ContentRange: Hashable, Sendable, CustomStringConvertible {
    /// The first byte's place, from 0; nil if no part could be given (`*`).
    var first: Int64?
    /// The last byte's place; nil if no part could be given.
    var last: Int64?
    /// How many bytes the whole has; nil if the server does not know.
    var total: Int64?

    /// Reads a field's value; nil if it is not of the form `bytes 0-99/1000`, `bytes 0-99/*` or `bytes */1000`.
    init?(_ value: String) {
        let parts = value.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let sides = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        if sides[1] != "*" {
            guard let total = ContentRange.number(sides[1]) else { return nil }
            self.total = total
        }
        if sides[0] == "*" {
            guard total != nil else { return nil }
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false).map(ContentRange.number)
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, total.map({ last < $0 }) ?? true
        else { return nil }
        self.first = first
        self.last = last
    }

    /// Digits and nothing else: no sign, no blank.
    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ? Int64(text) : nil
    }

    /// The field's value.
    var description: String {
        let total = total.map(String.init) ?? "*"
        guard let first, let last else { return "bytes */\(total)" }
        return "bytes \(first)-\(last)/\(total)"
    }
}

extension HTTPHeaders {
    /// Which part of a whole the body is; nil if the field is missing or unreadable.
    var contentRange: ContentRange? { self[.contentRange].flatMap(ContentRange.init) }
}
