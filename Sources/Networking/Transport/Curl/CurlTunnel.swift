#if os(Linux)
    /// The head of a proxy's response to CONNECT, while libcurl opens a connection.
    struct CurlTunnel {
        /// The most bytes of the head.
        static let longest = 256 << 10

        private var status = 0
        private var size = 0
        var isTooLarge: Bool { size > CurlTunnel.longest }

        /// The status with which the proxy refuses; nil if it does not.
        var refusal: Int? { status >= 300 ? status : nil }

        /// The words of the error.
        var words: String? { refusal.map { "it responds to CONNECT with status \($0)" } }

        /// Receives a line.
        ///
        /// - Returns: Whether the exchange may go on. False at the end of the head of a refusal, and if the head is too
        ///   large.
        mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
            size += line.count
            guard !isTooLarge else { return false }
            if line.starts(with: "HTTP/".utf8) {
                let digits = line.drop { $0 != UInt8(ascii: " ") }.dropFirst().prefix { $0 >= 0x30 && $0 <= 0x39 }
                status = digits.prefix(3).reduce(0) { $0 * 10 + Int($1 & 0x0F) }
            }
            let isEnd = line.first.map { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") } ?? true
            return !isEnd || refusal == nil
        }
    }

    extension CurlHandle {
        /// Whether the head of a proxy's response to CONNECT is read: see ``CurlFault/endlessRefusals``.
        var readsTunnels: Bool { !isDirect && library.number >= CurlVersion(7, 80) }

        /// Records that libcurl opens a socket. Until the request is sent, the heads that arrive are those of a proxy.
        func noteSocket() {
            hasSocket = true
            if readsTunnels { tunnel = CurlTunnel() }
        }

        /// Receives a line of the head of a proxy's response to CONNECT.
        ///
        /// - Returns: Whether the exchange may go on; nil if the line belongs to the response of the server.
        func receive(tunnelLine line: UnsafeRawBufferPointer) -> Bool? { tunnel?.receive(line) }
    }
#endif
