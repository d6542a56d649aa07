extension HTTPResponse {
    /// The times at which the phases of one transfer ended, measured from the beginning of the transfer. A time that
    /// the engine does not report is nil.
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

extension HTTPResponse {
    /// The connection on which a response arrived. A part that the engine does not report is nil.
    public struct Connection: Hashable, Sendable {
        /// The IP address of the server; the address of the proxy if a proxy was used.
        public var remoteAddress: String?
        /// The port of the server or proxy.
        public var remotePort: Int?
        /// Whether the connection was opened for an earlier request.
        public var isReused: Bool?
        /// The version of TLS: `1.2`, `1.3`; nil without TLS.
        public var tlsVersion: String?
        /// The number of bytes of the request, its head included. With HTTP/2, the head is counted before it is
        /// compressed.
        public var sentBytes: Int64?
        /// The number of bytes of the response, its head included, before the body is decoded. For a body that is still
        /// being received, these are the bytes so far.
        public var receivedBytes: Int64?

        /// Creates a description of a connection. Default: all parts are nil.
        public init(
            remoteAddress: String? = nil, remotePort: Int? = nil, isReused: Bool? = nil, tlsVersion: String? = nil,
            sentBytes: Int64? = nil, receivedBytes: Int64? = nil
        ) {
            self.remoteAddress = remoteAddress
            self.remotePort = remotePort
            self.isReused = isReused
            self.tlsVersion = tlsVersion
            self.sentBytes = sentBytes
            self.receivedBytes = receivedBytes
        }
    }
}

/// What an engine measures during an exchange.
struct TransferFacts: Sendable {
    var timing = HTTPResponse.Timing()
    var connection: HTTPResponse.Connection?
}
