#if os(Linux)
    /// The streams that servers refused by GOAWAY, as libcurl 7.87 to 8.0 logs them: see
    /// ``CurlFault/logsRefusedStreams``.
    ///
    /// A connection is identified by its ports and the server's address. A request is identified by the number of its
    /// stream on the connection.
    struct CurlStreamLog {
        struct Connection: Hashable {
            var localPort: Int32
            var remotePort: Int32
            var remoteAddress: String
        }

        /// A request's stream.
        struct Stream: Equatable {
            var connection: Connection
            var number: Int
        }

        /// libcurl's type of log messages that are text (`CURLINFO_TEXT`).
        static let text: Int32 = 0

        private static let streamPrefix = Array("Using Stream ID: ".utf8)
        private static let goawayInfix = Array("last_stream=".utf8)

        /// The number of the last stream that the server processed, for each connection that the server is closing.
        private var lastStreams: [Connection: Int] = [:]

        /// Reads a line of libcurl's log.
        ///
        /// - Parameters:
        ///   - line: The line.
        ///   - connection: The connection of the handle that logged the line.
        /// - Returns: The stream of the handle's request, if the line states it.
        mutating func read(_ line: UnsafeRawBufferPointer, on connection: Connection) -> Stream? {
            if line.starts(with: CurlStreamLog.streamPrefix) {
                let number = CurlStreamLog.number(line.dropFirst(CurlStreamLog.streamPrefix.count))
                if number == 1 { lastStreams[connection] = nil }  // a new connection between the same ports
                return Stream(connection: connection, number: number)
            }
            if let start = CurlStreamLog.goaway(line) { lastStreams[connection] = CurlStreamLog.number(line[start...]) }
            return nil
        }

        /// Returns whether the server stated that it did not process a stream (RFC 9113 section 6.8).
        func isRefused(_ stream: Stream) -> Bool {
            lastStreams[stream.connection].map { stream.number > $0 } ?? false
        }

        /// Returns the index of the number in `recveived GOAWAY, error=0, last_stream=39`. (The spelling is libcurl's.)
        private static func goaway(_ line: UnsafeRawBufferPointer) -> Int? {
            guard line.first == UInt8(ascii: "r"), line.count < 80 else { return nil }
            return line.indices.first { line[$0...].starts(with: goawayInfix) }.map { $0 + goawayInfix.count }
        }

        private static func number(_ bytes: some Sequence<UInt8>) -> Int {
            bytes.prefix { $0 >= 0x30 && $0 <= 0x39 }.prefix(10).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
    }
#endif
