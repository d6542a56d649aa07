import Foundation

/// The value of `Retry-After`, [RFC 9110 section 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3).
enum RetryAfter: Hashable, Sendable {
    /// A number of seconds after the response was received.
    case seconds(Int)
    /// The date from which the client may retry.
    case date(HTTPDate)

    /// Parses a field value. Returns nil if it is neither a whole number of seconds nor a date.
    init?(_ value: String) {
        let digits = value.utf8
        if !digits.isEmpty, digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
            self = .seconds(Int(value) ?? .max)
        } else if let date = HTTPDate(value) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Returns the time to wait, counted from `now`: at least zero, at most one year.
    func delay(from now: Date) -> Duration {
        let seconds =
            switch self {
            case .seconds(let seconds): Double(seconds)
            case .date(let date): date.date.timeIntervalSince(now)
            }
        return .seconds(min(max(seconds, 0), 31_536_000))
    }
}
