extension HTTPResponse {
    /// The times at which the phases of one transfer ended, measured from the beginning of the transfer; nil if the
    /// engine does not report a time.
    public struct Timing: Hashable, Sendable {
        /// The time at which the address of the host was known.
        public var nameLookup: Duration?
        /// The time at which the connection was established; zero if the engine reports that the connection was reused.
        public var connect: Duration?
        /// The time at which the TLS handshake was completed.
        public var tls: Duration?
        /// The time at which the first byte of the response was received.
        public var firstByte: Duration?
        /// The time at which the last byte of the response was received.
        public var total: Duration?

        /// Creates a set of times. Default: all are nil.
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
