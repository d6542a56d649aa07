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
        /// libcurl's type of the TLS records that arrive (`CURLINFO_SSL_DATA_IN`).
        static let receivedTLS: Int32 = 5

        private static let streamPrefix = Array("Using Stream ID: ".utf8)
        private static let goawayInfix = Array("last_stream=".utf8)
        private static let errorInfix = Array("error=".utf8)

        /// A GOAWAY frame.
        private struct Goaway {
            /// The number of the last stream that the server processed.
            let lastStream: Int
            /// The error code; 0 if the server only closes the connection.
            let error: Int
        }

        /// The GOAWAY frame of each connection that the server is closing.
        private var goaways: [Connection: Goaway] = [:]

        /// Reads a line of libcurl's log.
        ///
        /// - Parameters:
        ///   - line: The line.
        ///   - connection: The connection of the handle that logged the line.
        /// - Returns: The stream of the handle's request, if the line states it.
        mutating func read(_ line: UnsafeRawBufferPointer, on connection: Connection) -> Stream? {
            if line.starts(with: CurlStreamLog.streamPrefix) {
                let number = CurlStreamLog.number(line.dropFirst(CurlStreamLog.streamPrefix.count))
                if number == 1 { goaways[connection] = nil }  // a new connection between the same ports
                return Stream(connection: connection, number: number)
            }
            guard let last = CurlStreamLog.number(after: CurlStreamLog.goawayInfix, in: line) else { return nil }
            if goaways.count > 1_000 { goaways = [:] }
            goaways[connection] = Goaway(
                lastStream: last, error: CurlStreamLog.number(after: CurlStreamLog.errorInfix, in: line) ?? 0)
            return nil
        }

        /// Returns whether the server stated that it did not process a stream (RFC 9113 section 6.8).
        func isRefused(_ stream: Stream) -> Bool {
            goaways[stream.connection].map { stream.number > $0.lastStream } ?? false
        }

        /// Returns whether the server closes the connection of a stream because of an error, such as too many requests
        /// (ENHANCE_YOUR_CALM).
        func isEndedByError(_ stream: Stream) -> Bool { (goaways[stream.connection]?.error ?? 0) != 0 }

        /// Returns a number in `recveived GOAWAY, error=0, last_stream=39`. (The spelling is libcurl's.)
        private static func number(after name: [UInt8], in line: UnsafeRawBufferPointer) -> Int? {
            guard line.first == UInt8(ascii: "r"), line.count < 80 else { return nil }
            return line.indices.first { line[$0...].starts(with: name) }.map { number(line[($0 + name.count)...]) }
        }

        private static func number(_ bytes: some Sequence<UInt8>) -> Int {
            bytes.prefix { $0 >= 0x30 && $0 <= 0x39 }.prefix(10).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
    }
#endif
