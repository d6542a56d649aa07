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

    /// Three numbers of one or two digits, separated by colons. Text that does not begin with a digit may follow.
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
