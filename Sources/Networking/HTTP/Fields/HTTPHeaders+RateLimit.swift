package import Foundation

extension HTTPHeaders {
    /// The number of further requests that a server accepts, from the fields `RateLimit` and `RateLimit-Policy` of
    /// [draft-ietf-httpapi-ratelimit-headers](https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).
    /// The parser accepts the form `"default";r=0;t=30` and the older form `limit=100, remaining=0, reset=30`.
    package struct RateLimit: Hashable, Sendable {
        /// The number of further requests that the server accepts in this window.
        package let remaining: Int
        /// The time until the server accepts more requests; nil if the server does not send this time.
        package let reset: Duration?

        /// Creates a rate limit.
        init(remaining: Int, reset: Duration?) {
            self.remaining = remaining
            self.reset = reset
        }

        /// Parses the fields. If there are several limits, the limit with the fewest remaining requests is used. If
        /// several limits have this number, the limit with the longest reset time is used. Returns nil if the fields
        /// contain no valid limit.
        init?(limit: String, policy: String?) {
            let windows = policy.map { HTTPHeaders.RateLimit.items($0) } ?? []
            let statuses = HTTPHeaders.RateLimit.items(limit).compactMap { item -> HTTPHeaders.RateLimit? in
                guard let remaining = item.numbers["r"] ?? item.numbers["remaining"] else { return nil }
                let window = windows.first { $0.name == item.name } ?? (windows.count == 1 ? windows.first : nil)
                let reset = item.numbers["t"] ?? item.numbers["reset"] ?? window?.numbers["w"]
                return HTTPHeaders.RateLimit(remaining: remaining, reset: reset.map { .seconds($0) })
            }
            let tightest = statuses.min {
                ($0.remaining, $1.reset ?? .zero) < ($1.remaining, $0.reset ?? .zero)
            }
            guard let tightest else { return nil }
            self = tightest
        }

        private struct Item {
            var name: String
            var numbers: [String: Int] = [:]
        }

        /// Parses the items of a structured list, with their integer parameters. The older form results in one item,
        /// because its commas separate numbers, not items.
        private static func items(_ value: String) -> [Item] {
            var scanner = HTTPFieldScanner(value)
            var items: [Item] = []
            while !scanner.isAtEnd {
                scanner.skipBlanks()
                if let name = scanner.quotedString() {
                    items.append(Item(name: name))
                } else if let (name, number) = scanner.parameter() {
                    if items.isEmpty { items.append(Item(name: "")) }
                    // Some servers send a negative number when the limit is exceeded.
                    items[items.count - 1].numbers[name] = Int(number).map { Swift.max($0, 0) }
                } else if let name = scanner.token() {
                    items.append(Item(name: name))
                } else if !scanner.skip(";"), !scanner.skip(",") {
                    return items
                }
            }
            return items
        }
    }
}

extension HTTPHeaders {
    /// The limit of `RateLimit` and `RateLimit-Policy`; nil if `RateLimit` is missing or malformed.
    package var rateLimit: HTTPHeaders.RateLimit? {
        self["RateLimit"].flatMap { HTTPHeaders.RateLimit(limit: $0, policy: self["RateLimit-Policy"]) }
    }

    /// Returns the delay that `Retry-After` (RFC 9110 section 10.2.3) requests, counted from `now`. The delay is
    /// between zero and one year. Returns nil if the field is missing or malformed.
    package func retryDelay(from now: Date) -> Duration? {
        guard let value = self[.retryAfter] else { return nil }
        // A whole number of seconds, or the date from which the client may retry.
        let isNumber = !value.isEmpty && value.utf8.allSatisfy(HTTPGrammar.isDigit)
        let seconds = isNumber ? Double(value) : HTTPDate(value)?.date.timeIntervalSince(now)
        return seconds.map { .seconds(Swift.min(Swift.max($0, 0), 31_536_000)) }
    }
}
