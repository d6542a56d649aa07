extension HTTPRequest {
    /// The time limits of a call. If a property is nil, the next level in this order applies: call, endpoint, service,
    /// default.
    public struct Timeouts: Hashable, Sendable {
        /// The longest time without any transfer, in either direction, during an attempt. Default: 60 seconds.
        public var idle: Duration?
        /// The longest time for connecting. Default: 15 seconds. Only libcurl can measure it; for `URLSession`, see
        /// ``URLSessionTransport``.
        public var connect: Duration?
        /// The longest time for the whole call, from its beginning to its end, including queues, adapters, token
        /// refresh, handlers and delays. Default: no limit. For a stream, the limit ends when the response's head is
        /// received.
        public var total: Duration?

        /// Creates a set of timeouts. Each timeout must be greater than zero.
        public init(idle: Duration? = nil, connect: Duration? = nil, total: Duration? = nil) {
            self.idle = idle
            self.connect = connect
            self.total = total
        }

        /// Returns these timeouts. Timeouts that are nil are taken from `base`.
        func over(_ base: HTTPRequest.Timeouts) -> HTTPRequest.Timeouts {
            HTTPRequest.Timeouts(
                idle: idle ?? base.idle, connect: connect ?? base.connect, total: total ?? base.total)
        }

        /// The idle timeout that applies: the value that is set, or the default.
        var effectiveIdle: Duration { idle ?? Self.standardIdle }

        /// The timeout for connecting that applies: the value that is set, or the default.
        var effectiveConnect: Duration { connect ?? Self.standardConnect }

        /// The default timeouts: 60 seconds idle, 15 seconds for connecting, no limit for the whole call.
        static let standard = HTTPRequest.Timeouts(idle: standardIdle, connect: standardConnect)

        private static let standardIdle = Duration.seconds(60)
        private static let standardConnect = Duration.seconds(15)
    }
}
