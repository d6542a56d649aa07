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

    /// Returns nil if the field has a line separator or a control character other than TAB, if it has no name, or if
    /// its name and value together have more than 4,096 bytes.
    ///
    /// A value without a name, which 6265bis accepts, is rejected as in RFC 6265 section 5.2, because Foundation cannot
    /// represent it.
    init?(_ field: String) {
        guard HTTPGrammar.isFieldContent(field) else { return nil }
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

extension HTTPDate {
    /// Reads the date of a cookie by the algorithm of
    /// [RFC 6265 section 5.1.1](https://www.rfc-editor.org/rfc/rfc6265#section-5.1.1).
    ///
    /// The first token that has the form of a time is the time. The same rule applies to the day, the month and the
    /// year. These tokens may be in any order. Other tokens are ignored.
    package init?(ofCookie text: String) {
        var time: (hour: Int, minute: Int, second: Int)?
        var (day, month, year): (Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: HTTPDate.isCookieDelimiter) {
            if time == nil, let found = HTTPDate.time(token) {
                time = found
            } else if day == nil, let found = HTTPDate.number(token, digits: 1...2) {
                day = found.value
            } else if month == nil, let found = HTTPDate.month(token) {
                month = found
            } else if year == nil, let found = HTTPDate.number(token, digits: 2...4) {
                year = found.value
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if year < 100 { year += year < 70 ? 2_000 : 1_900 }
        guard year >= 1_601 else { return nil }
        self.init(year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    }

    private static func isCookieDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Returns the time from a token of three numbers that are separated by colons. Each number has one or two digits.
    /// Text that does not begin with a digit may follow.
    private static func time(_ token: Substring.UTF8View) -> (hour: Int, minute: Int, second: Int)? {
        let colon = UInt8(ascii: ":")
        guard let hour = number(token, digits: 1...2), hour.rest.first == colon,
            let minute = number(hour.rest.dropFirst(), digits: 1...2), minute.rest.first == colon,
            let second = number(minute.rest.dropFirst(), digits: 1...2)
        else { return nil }
        return (hour.value, minute.value, second.value)
    }

    /// The number at the start of a token; nil if the count of its digits is not in the range.
    private static func number(
        _ token: Substring.UTF8View, digits: ClosedRange<Int>
    ) -> (value: Int, rest: Substring.UTF8View)? {
        let found = token.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.contains(found.count) else { return nil }
        return (found.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }, token[found.endIndex...])
    }

    /// The number (1 to 12) of the month; nil if the token does not begin with the first three letters of a month.
    private static func month(_ token: Substring.UTF8View) -> Int? {
        months.firstIndex { HTTPGrammar.isEqualIgnoringCase(token.prefix(3), $0.utf8) }.map { $0 + 1 }
    }
}
