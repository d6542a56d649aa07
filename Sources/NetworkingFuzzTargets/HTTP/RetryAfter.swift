import Foundation
import Networking

extension FuzzTarget {
    /// A `Retry-After` field. The delay is the time that the server has written, but at least zero and at most a year.
    static let retryAfter = FuzzTarget("retry-after") { input in
        let text = input.field
        let headers: HTTPHeaders = [.retryAfter: text]
        let now = Date(timeIntervalSince1970: 1_784_000_000)
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t")) }
        let areNumbers = numbers.allSatisfy { $0.wholeMatch(of: #/[0-9]+(\.[0-9]+)?/#) != nil }
        guard let delay = headers.retryDelay(from: now) else {
            return try require(!areNumbers, "\(text) is ignored")
        }
        let year = Duration.seconds(31_536_000)
        try require(delay >= .zero && delay <= year, "\(text.debugDescription) means \(delay)")
        if let seconds = Int64(text) {
            try require(delay, equals: min(.seconds(seconds), year), "the delay of \(text)")
        } else if let date = HTTPDate(text, now: now) {
            let left = Duration.seconds(date.secondsSince1970 - 1_784_000_000)
            try require(delay, equals: max(.zero, min(left, year)), "the delay until \(date)")
        } else {
            try require(areNumbers, "\(text) means \(delay)")
            let seconds = numbers.compactMap(Double.init).max()?.rounded(.up) ?? 0
            let expected = seconds < 31_536_000 ? Duration.seconds(seconds) : year
            // The fraction may be too small for a `Double`.
            try require(delay == expected || delay == expected + .seconds(1), "\(text) means \(delay)")
        }
    }
}
