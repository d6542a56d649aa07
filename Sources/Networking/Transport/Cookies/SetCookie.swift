import Foundation

/// A `Set-Cookie` field, parsed by
/// [RFC 6265bis section 5.6](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.6).
///
/// ``Cookie`` decides whether the cookie is accepted. `SameSite`, `Partitioned` and unknown attributes are ignored.
struct SetCookie {
    let name: String
    let value: String
    /// The `Domain` attribute without a leading dot; empty or nil if the cookie is for the host alone.
    private(set) var domain: String?
    /// The `Path` attribute as received. An empty or relative path means the default path.
    private(set) var path: String?
    /// The lifetime in seconds; zero or less deletes the cookie. It takes precedence over `expires`.
    private(set) var maxAge: Int64?
    private(set) var expires: Date?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false

    /// The longest lifetime of a cookie in seconds: 400 days.
    static let longestAge: Int64 = 34_560_000

    /// Returns nil if the field has a control character other than TAB, if it has no name, or if its name and value
    /// together have more than 4,096 bytes.
    ///
    /// A value without a name, which 6265bis accepts, is rejected as in RFC 6265 section 5.2, because Foundation cannot
    /// represent it.
    init?(_ field: String) {
        guard field.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        // Splits bytes, because a delimiter with a combining mark is a different `Character`.
        let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(SetCookie.pair)
        guard let pair = parts.first, let value = pair.value, !pair.name.isEmpty,
            pair.name.utf8.count + value.utf8.count <= 4_096
        else { return nil }
        (name, self.value) = (pair.name, value)
        for (name, value) in parts.dropFirst() { set(name.lowercased(), to: value ?? "") }
    }

    private mutating func set(_ attribute: String, to value: String) {
        guard value.utf8.count <= 1_024 else { return }
        switch attribute {
        case "expires": expires = HTTPDate(ofCookie: value)?.date ?? expires
        case "max-age": maxAge = SetCookie.seconds(value) ?? maxAge
        case "domain": domain = value.utf8.first == UInt8(ascii: ".") ? String(value.dropFirst()) : value
        case "path": path = value
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    /// Splits an attribute at `=`; the value is nil if there is no `=`.
    private static func pair(_ part: Substring.UTF8View) -> (name: String, value: String?) {
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(part), nil) }
        return (trimmed(part[..<equals]), trimmed(part[part.index(after: equals)...]))
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        guard let start = bytes.firstIndex(where: { !HTTPGrammar.isBlank($0) }),
            let end = bytes.lastIndex(where: { !HTTPGrammar.isBlank($0) })
        else { return "" }
        return String(Substring(bytes[start...end]))
    }

    /// Parses an optional minus sign and digits. A value that is too large becomes the longest age.
    private static func seconds(_ text: String) -> Int64? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return isNegative ? 0 : digits.reduce(0) { min($0 * 10 + Int64($1 - UInt8(ascii: "0")), longestAge) }
    }
}
