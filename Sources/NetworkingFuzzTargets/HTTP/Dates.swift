import Foundation
import Networking

extension FuzzTarget {
    /// The date of a field or of a cookie. An accepted date is written as RFC 9110 requires, and does not change if it
    /// is read again.
    static let dates = FuzzTarget("dates") { input in
        let text = input.text
        try requireRoundTrip(HTTPDate(text, now: Date(timeIntervalSince1970: 1_784_000_000)))
        try requireRoundTrip(HTTPDate(ofCookie: text))
        let headers: HTTPHeaders = [.date: text]
        let seconds = headers.date?.timeIntervalSince1970
        try require(seconds.map { $0 == $0.rounded() } ?? true, "the date has a fraction of a second")
    }

    private static func requireRoundTrip(_ date: HTTPDate?) throws {
        guard let date else { return }
        let text = date.description
        try require(text, equals: expectedText(date.secondsSince1970), "the text of \(date.secondsSince1970)")
        try require(HTTPDate(text)?.secondsSince1970, equals: date.secondsSince1970, "\(text) is read differently")
        // The year of a cookie's date is at least 1601 (RFC 6265 section 5.1.1).
        guard date.secondsSince1970 >= -11_644_473_600 else { return }
        try require(HTTPDate(ofCookie: text) == date, "\(text) is read as a different date of a cookie")
    }

    /// Returns a date as text, computed with the C library's calendar.
    private static func expectedText(_ seconds: Int64) -> String {
        var (time, parts) = (time_t(seconds), tm())
        gmtime_r(&time, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func digits(_ number: Int32, _ count: Int) -> String {
            String(String(10_000 + number).suffix(max(count, String(number).count)))
        }
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }.joined(separator: ":")
        let date = "\(digits(parts.tm_mday, 2)) \(months[Int(parts.tm_mon)]) \(digits(parts.tm_year + 1_900, 4))"
        return "\(days[Int(parts.tm_wday)]), \(date) \(clock) GMT"
    }
}
