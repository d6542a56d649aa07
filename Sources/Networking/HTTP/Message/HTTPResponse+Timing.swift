extension HTTPResponse {
    /// When the parts of one exchange were over, each counted from its beginning; nil if the engine cannot tell.
    public struct Timing: Hashable, Sendable {
        /// The host's address was known.
        public var nameLookup: Duration?
        /// The connection stood; zero if one was reused and the engine tells.
        public var connect: Duration?
        /// The TLS handshake was done.
        public var tls: Duration?
        /// The first byte of the response was received.
        public var firstByte: Duration?
        /// The last byte of the response was received.
        public var total: Duration?

        /// Makes a set of times.
        public init(
            nameLookup: Duration? = nil, connect: Duration? = nil, tls: Duration? = nil, firstByte: Duration? = nil,
            total: Duration? = nil
        ) {
            self.nameLookup = nameLookup
            self.connect = connect
            self.tls = tls
            self.firstByte = firstByte
            self.total = total
        }
    }
}
