extension HTTPHeaders {
    /// What a server says about how many more requests it takes: the fields `RateLimit` and `RateLimit-Policy` of
    /// [draft-ietf-httpapi-ratelimit-headers](https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/), in
    /// the form `"default";r=0;t=30` and in the older one, `limit=100, remaining=0, reset=30`.
    public struct RateLimit: Hashable, Sendable {
        /// How many more requests are taken in this window.
        public let remaining: Int
        /// After how long there are more; nil if the server does not say.
        public let reset: Duration?

        /// Makes a status.
        init(remaining: Int, reset: Duration?) {
            self.remaining = remaining
            self.reset = reset
        }

        /// Reads the fields; of several limits the one that has the least left counts, and of these the one that lasts
        /// longest. Nil if nothing in them can be read.
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

        /// The items of a structured list with their whole numbers. The older form is one item whose numbers are
        /// separated by commas.
        private static func items(_ value: String) -> [Item] {
            var scanner = HTTPFieldScanner(value)
            var items: [Item] = []
            while !scanner.isAtEnd {
                scanner.skipBlanks()
                if let name = scanner.quotedString() {
                    items.append(Item(name: name))
                } else if let (name, number) = scanner.parameter() {
                    if items.isEmpty { items.append(Item(name: "")) }
                    items[items.count - 1].numbers[name] = Int(number)
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
    /// `RateLimit` with `RateLimit-Policy`; nil if there is none or it cannot be read.
    public var rateLimit: HTTPHeaders.RateLimit? {
        self["RateLimit"].flatMap { HTTPHeaders.RateLimit(limit: $0, policy: self["RateLimit-Policy"]) }
    }
}
