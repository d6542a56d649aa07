extension HTTPRequest {
    /// How long the parts of a call may take. What is nil here is left to the next in line: call, endpoint, service,
    /// default.
    public struct Timeouts: Hashable, Sendable {
        /// How long nothing may move, in either direction, while an attempt is carried: 60 seconds unless set.
        public var idle: Duration?
        /// How long connecting may take: 15 seconds unless set. Only libcurl can tell; with `URLSession`, see
        /// ``URLSessionTransport``.
        public var connect: Duration?
        /// How long the whole call may take, from its beginning to its end, through queue, adapters, token refresh,
        /// handlers and waits: without limit unless set. For a stream it ends at the head.
        public var total: Duration?

        /// Makes a set of timeouts; each must be greater than zero.
        public init(idle: Duration? = nil, connect: Duration? = nil, total: Duration? = nil) {
            self.idle = idle
            self.connect = connect
            self.total = total
        }

        /// These timeouts, with those of `base` for what is nil here.
        func over(_ base: HTTPRequest.Timeouts) -> HTTPRequest.Timeouts {
            HTTPRequest.Timeouts(
                idle: idle ?? base.idle, connect: connect ?? base.connect, total: total ?? base.total)
        }

        /// The idle timeout that holds.
        var effectiveIdle: Duration { idle ?? Self.standardIdle }

        /// The timeout for connecting that holds.
        var effectiveConnect: Duration { connect ?? Self.standardConnect }

        /// The default: 60 seconds without movement, 15 for connecting, no total.
        static let standard = HTTPRequest.Timeouts(idle: standardIdle, connect: standardConnect)

        private static let standardIdle = Duration.seconds(60)
        private static let standardConnect = Duration.seconds(15)
    }
}
