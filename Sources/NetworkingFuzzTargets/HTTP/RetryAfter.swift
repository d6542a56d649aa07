import Foundation
import Networking

extension FuzzTarget {
    /// A `Retry-After` field. The delay is the time that the server has written, but at least zero and at most a year.
    static let retryAfter = FuzzTarget("retry-after") { input in
        let text = input.field
        let headers: HTTPHeaders = [.retryAfter: text]
        let now = Date(timeIntervalSince1970: 1_784_000_000)
        guard let delay = headers.retryDelay(from: now) else {
            let isNumber = !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
            return try require(!isNumber, "\(text) is ignored")
        }
        let year = Duration.seconds(31_536_000)
        try require(delay >= .zero && delay <= year, "\(text.debugDescription) means \(delay)")
        if let seconds = Int64(text) {
            try require(delay, equals: min(.seconds(seconds), year), "the delay of \(text)")
        } else if let date = HTTPDate(text, now: now) {
            let left = Duration.seconds(date.secondsSince1970 - 1_784_000_000)
            try require(delay, equals: max(.zero, min(left, year)), "the delay until \(date)")
        } else {
            try require(delay, equals: year, "the delay of \(text)")
        }
    }
}
