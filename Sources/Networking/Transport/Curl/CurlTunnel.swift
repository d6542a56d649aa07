#if os(Linux)
    import CLibcurl

    /// The head of a proxy's response to CONNECT, while libcurl opens a connection.
    struct CurlTunnel {
        /// The maximum number of bytes of the head.
        static let longest = 256 << 10

        fileprivate var size = 0
        /// The status with which the proxy refuses; nil if the proxy does not refuse, or if the head has not ended.
        fileprivate(set) var refusal: Int?

        var isTooLarge: Bool { size > CurlTunnel.longest }

        static var tooLarge: NetworkError {
            NetworkError(
                .responseTooLarge, reason: "the head of the proxy's response to CONNECT has more than \(longest) bytes")
        }

        /// The words of the error.
        var words: String? { refusal.map { "it responds to CONNECT with status \($0)" } }
    }

    extension CurlHandle {
        /// Whether the head of a proxy's response to CONNECT is read: see ``CurlFault/endlessRefusals``.
        var readsTunnels: Bool { !isDirect && library.number >= CurlVersion(7, 80) }

        /// Records that libcurl opens a socket. Until the request is sent, the heads that arrive are those of a proxy.
        func noteSocket() {
            hasSocket = true
            noteOpening()
            if readsTunnels { tunnel = CurlTunnel() }
        }

        /// Receives a line of the head of a proxy's response to CONNECT. At the end of the head, the status is taken
        /// from libcurl, which also reads status lines that are not valid.
        ///
        /// - Returns: True if the exchange may continue. False if the line ends the head of a refusal, or if the head
        ///   is too large. Nil if the line belongs to the response of the server.
        func receive(tunnelLine line: UnsafeRawBufferPointer) -> Bool? {
            guard tunnel != nil else { return nil }
            tunnel?.size += line.count
            guard tunnel?.isTooLarge == false else { return false }
            let isEnd = line.first.map { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") } ?? true
            guard isEnd else { return true }
            let status = clibcurl_easy_get_long(easy, Int32(CCURLINFO_HTTP_CONNECTCODE))
            // After a 1xx, another head follows.
            if !(100..<300).contains(status) { tunnel?.refusal = status }
            return tunnel?.refusal == nil
        }
    }
#endif
