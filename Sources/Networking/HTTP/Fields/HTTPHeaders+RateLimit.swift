package import Foundation

extension HTTPHeaders {
    /// The number of further requests that a server accepts, from the fields `RateLimit` and `RateLimit-Policy` of
    /// [draft-ietf-httpapi-ratelimit-headers](https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).
    /// The parser accepts the form `"default";r=0;t=30` and the older form `limit=100, remaining=0, reset=30`.
    package struct RateLimit: Hashable, Sendable {
        /// The number of further requests that the server accepts in this window.
        package let remaining: Int
        /// The time until the server accepts more requests; nil if the server sends neither this time nor the length of
        /// the window.
        package let reset: Duration?
        /// Whether the server has sent the time until it accepts more requests. If not, ``reset`` is the length of the
        /// window, or nil.
        package let isResetStated: Bool

        /// Creates a rate limit.
        init(remaining: Int, reset: Duration?, isResetStated: Bool = true) {
            self.remaining = remaining
            self.reset = reset
            self.isResetStated = isResetStated
        }

        /// Parses the fields. If there are several limits, the limit with the fewest remaining requests is used. If
        /// several limits have equally few, the limit with the longest reset time is used. Returns nil if the fields
        /// contain no valid limit.
        init?(limit: String, policy: String?) {
            var windows: [String: Item] = [:]
            if let policy { RateLimit.forEachItem(of: policy) { if windows[$0.name] == nil { windows[$0.name] = $0 } } }
            var tightest: RateLimit?
            RateLimit.forEachItem(of: limit) { item in
                guard let remaining = item.remaining else { return }
                let window = windows[item.name] ?? (windows.count == 1 ? windows.first?.value : nil)
                let reset = (item.reset ?? window?.window).map { Duration.seconds($0) }
                if let other = tightest,
                    (other.remaining, reset ?? .zero) <= (remaining, other.reset ?? .zero)
                {
                    return
                }
                tightest = RateLimit(remaining: remaining, reset: reset, isResetStated: item.reset != nil)
            }
            guard let tightest else { return nil }
            self = tightest
        }

        private struct Item {
            let name: String
            /// The parameter `r`, or `remaining` in the older form.
            var remaining: Int?
            /// The parameter `t`, or `reset` in the older form.
            var reset: Int?
            /// The parameter `w`.
            var window: Int?

            init(name: String) {
                self.name = name
            }

            mutating func take(_ parameter: String, _ text: String) {
                // Some servers send a negative number when the limit is exceeded.
                let number = Int(text).map { Swift.max($0, 0) }
                switch parameter {
                case "r", "remaining": remaining = number
                case "t", "reset": reset = number ?? HTTPGrammar.roundedUp(text)
                case "w": window = number
                default: break
                }
            }
        }

        /// Parses the items of a structured list, with their integer parameters. The older form results in one item,
        /// because its commas separate numbers, not items.
        private static func forEachItem(of value: String, _ body: (Item) -> Void) {
            var scanner = HTTPFieldScanner(value)
            var item: Item?
            func begin(_ next: Item) {
                if let item { body(item) }
                item = next
            }
            while !scanner.isAtEnd {
                scanner.skipBlanks()
                if let name = scanner.quotedString() {
                    begin(Item(name: name))
                } else if let (name, number) = scanner.parameter() {
                    if item == nil { item = Item(name: "") }
                    item?.take(name, number)
                } else if let name = scanner.token() {
                    begin(Item(name: name))
                } else if !scanner.skip(";"), !scanner.skip(",") {
                    break
                }
            }
            if let item { body(item) }
        }
    }
}

extension HTTPHeaders {
    /// The limit of `RateLimit` and `RateLimit-Policy`; nil if `RateLimit` is missing or malformed.
    package var rateLimit: HTTPHeaders.RateLimit? {
        self["RateLimit"].flatMap { HTTPHeaders.RateLimit(limit: $0, policy: self["RateLimit-Policy"]) }
    }

    /// Returns the delay that `Retry-After` (RFC 9110 section 10.2.3) requests. The delay is between zero and one year.
    /// Returns nil if the field is missing or malformed.
    ///
    /// Some servers send a fraction of seconds, which is rounded up. If there are several values, the longest delay is
    /// used. For a date, the delay begins at the `Date` of the response, because the client's clock may be wrong.
    ///
    /// - Parameter now: The current time. If `Retry-After` contains a date and the response has no `Date`, the delay
    ///   begins at this time.
    package func retryDelay(from now: Date) -> Duration? {
        guard contains(.retryAfter) else { return nil }
        let now = date ?? now  // read once, because a server can send thousands of values
        return values(for: .retryAfter).compactMap { value -> Duration? in
            if value.utf8.count <= HTTPDate.longest, let date = HTTPDate(value)?.date {
                return .seconds(Swift.min(Swift.max(date.timeIntervalSince(now), 0), 31_536_000))
            }
            // An intermediary may have joined several fields into one.
            let parts = value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            let numbers = parts.map { HTTPGrammar.roundedUp(Substring($0).trimmingBlanks()) }
            guard let longest = numbers.compactMap({ $0 }).max(), !numbers.contains(nil) else { return nil }
            return .seconds(Swift.min(longest, 31_536_000))
        }.max()
    }
}

extension HTTPGrammar {
    /// Reads digits with an optional fraction, such as `1.5`, and rounds the number up. Returns nil for any other text.
    /// A number that is too large becomes `Int.max`.
    static func roundedUp(_ text: some StringProtocol) -> Int? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) }), let whole = parts.first else { return nil }
        let hasFraction = parts.count > 1 && parts[1].contains { $0 != UInt8(ascii: "0") }
        let number = whole.reduce(0) { number, digit in
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isStillTooLarge) = product.addingReportingOverflow(Int(digit & 0x0F))
            return isTooLarge || isStillTooLarge || number == .max ? .max : sum
        }
        return hasFraction && number < .max ? number + 1 : number
    }
}
