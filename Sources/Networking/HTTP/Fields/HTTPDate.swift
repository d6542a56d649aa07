package import Foundation

/// A date of an HTTP field, [RFC 9110 section 5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7), with a
/// resolution of one second.
///
/// The parser accepts all three formats: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
/// `Sun Nov  6 08:49:37 1994`, without regard to case (RFC 9111 section 4.2). ``description`` uses the first format.
package struct HTTPDate: Hashable, Comparable, Sendable {
    /// The number of whole seconds since 1970-01-01 00:00:00 UTC.
    package let secondsSince1970: Int64

    /// Creates an HTTP date from a Foundation date. Fractions of a second are dropped.
    init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        secondsSince1970 = seconds.isNaN ? 0 : Int64(min(max(seconds, -62_167_219_200), Double(HTTPDate.latest)))
    }

    /// The length in bytes of the longest text that is parsed as the date of a message. A valid date has at most 33
    /// bytes.
    static let longest = 128

    /// The end of the year 9999. Four digits can express the years 0000 to 9999, so earlier and later dates are clamped
    /// to this range.
    private static let latest: Int64 = 253_402_300_799

    /// Parses a date in any of the three formats. Returns nil if the text is not a date.
    ///
    /// - Parameters:
    ///   - text: The field value.
    ///   - now: The current time. It determines the century of a two-digit year: the current century, or the previous
    ///     century if the year would otherwise be more than 50 years in the future.
    package init?(_ text: String, now: Date = Date()) {
        guard !text.contains(" -"), !text.contains("--") else { return nil }
        let words = text.lowercased().split { " ,-".contains($0) }.map(String.init)
        let isAsctime = words.count == 5
        guard isAsctime || words.count == 6 && words[5] == "gmt" else { return nil }
        guard HTTPDate.days.contains(where: { words[0].hasPrefix($0.lowercased()) }) else { return nil }
        let (day, month, year, time) =
            isAsctime ? (words[2], words[1], words[4], words[3]) : (words[1], words[2], words[3], words[4])
        let clock: [Int?] = time.split(separator: ":", omittingEmptySubsequences: false)
            .map { $0.count == 2 ? HTTPGrammar.number($0) : nil }
        guard let day: Int = HTTPGrammar.number(day), let number: Int = HTTPGrammar.number(year),
            let month = HTTPDate.months.firstIndex(where: { $0.lowercased() == month }),
            clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2]
        else { return nil }
        self.init(
            year: year.count == 2 ? HTTPDate.century(of: number, now: now) : number, month: month + 1, day: day,
            hour: hour, minute: minute, second: second, lastSecond: 60)
    }

    /// Creates a date from components in UTC. Returns nil if the calendar date or the time of day does not exist.
    ///
    /// - Parameter lastSecond: The largest value of `second`. If it is 60, a leap second is read as the first second of
    ///   the next minute.
    init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, lastSecond: Int = 59) {
        guard (0...9_999).contains(year), (1...12).contains(month),
            (1...HTTPDate.length(ofMonth: month, in: year)).contains(day), (0..<24).contains(hour),
            (0..<60).contains(minute), (0...lastSecond).contains(second)
        else { return nil }
        let days = HTTPDate.daysSince1970(year: year, month: month, day: day)
        // A leap second after the last day of the year 9999 would be in the year 10000.
        let seconds = Int64(days) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
        secondsSince1970 = min(seconds, HTTPDate.latest)
    }

    /// The Foundation date.
    var date: Date { Date(timeIntervalSince1970: Double(secondsSince1970)) }

    /// Whether the left date is earlier than the right date.
    package static func < (lhs: HTTPDate, rhs: HTTPDate) -> Bool {
        lhs.secondsSince1970 < rhs.secondsSince1970
    }
}

extension HTTPDate: CustomStringConvertible {
    /// The date in the preferred format: `Sun, 06 Nov 1994 08:49:37 GMT`.
    package var description: String {
        let days = Int((Double(secondsSince1970) / 86_400).rounded(.down))
        let time = Int(secondsSince1970 - Int64(days) * 86_400)
        let (year, month, day) = HTTPDate.civil(daysSince1970: days)
        let weekday = HTTPDate.days[((days + 4) % 7 + 7) % 7]
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { HTTPDate.padded($0, to: 2) }.joined(separator: ":")
        let date = "\(HTTPDate.padded(day, to: 2)) \(HTTPDate.months[month - 1]) \(HTTPDate.padded(year, to: 4))"
        return "\(weekday), \(date) \(clock) GMT"
    }
}

extension HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func padded(_ number: Int, to length: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, length - digits.count)) + digits
    }

    private static func century(of year: Int, now: Date) -> Int {
        let thisYear = civil(daysSince1970: Int(now.timeIntervalSince1970 / 86_400)).year
        let candidate = thisYear / 100 * 100 + year
        return candidate > thisYear + 50 ? candidate - 100 : candidate
    }

    private static func length(ofMonth month: Int, in year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    /// Returns the number of days since 1970-01-01 in the proleptic Gregorian calendar. The calculation uses eras of
    /// 400 years that begin on the first of March.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
