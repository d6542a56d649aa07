public import Foundation

extension WebSocket {
    /// The options of a socket.
    public struct Options: Hashable, Sendable {
        /// The subprotocols that are offered to the server, the preferred one first. Default: none.
        public var subprotocols: [String] = []
        /// The maximum number of bytes of a received message, after decompression. A larger message closes the
        /// connection with code 1009, and ends the socket with ``NetworkError/Kind/responseTooLarge``. Default: 16 MiB.
        public var maximumMessageSize = 16 << 20
        /// Whether compression is offered (`permessage-deflate`, RFC 7692). If the server agrees, messages of 1 KiB or
        /// more are sent compressed. Default: true. `URLSession` ignores this option: the system decides.
        public var compresses = true
        /// If no byte is received for this time, a ping is sent. Nil: no pings. Default: 30 seconds.
        public var pingInterval: Duration? = .seconds(30)
        /// The maximum time to wait for a byte after a ping. If no byte arrives within this time, the connection counts
        /// as lost (``NetworkError/Kind/idleTimedOut``). If messages wait for their reader, the connection is not read,
        /// and this time does not count. Default: 20 seconds.
        public var pingTimeout: Duration = .seconds(20)

        /// Creates options.
        public init(subprotocols: [String] = []) {
            self.subprotocols = subprotocols
        }

        /// Creates options with a closure that sets them: `.init { $0.pingInterval = .seconds(10) }`.
        public init(_ set: (inout Options) -> Void) {
            self.init()
            set(&self)
        }
    }

    /// The rule that decides when a socket connects again.
    ///
    /// A socket does not connect again if its first handshake failed, if a handshake was refused (a status below 500
    /// except 408, 425 and 429), or if the server closed the connection with a code of ``endingCodes``. If the server
    /// refuses the token, the token is refreshed first. If the refresh fails for now, for example without a network,
    /// the socket waits and connects again. After code 1000, the sequence ends without an error.
    public struct Reconnection: Sendable {
        /// The delay before a reconnection. The delay doubles with each consecutive handshake that failed, and with
        /// each connection that brought no message or was shorter than the delay. The delay grows to at most 16 times
        /// its original value. The wait is random, so that the clients of a restarted server do not all connect in the
        /// same second. The first wait is between 75 and 125 % of the delay; later waits are between 50 and 120 %. A
        /// server that refuses a handshake may request a longer delay (`Retry-After`). A requested delay of more than
        /// ten minutes counts as ten minutes. The wait is then between 1 and 1.75 times the requested delay.
        public var delay: Duration
        /// The maximum number of failed handshakes since the last connection that brought a message. Default: no limit.
        /// With 0, the socket never connects again.
        public var maximumFailures: Int
        /// The close codes after which the socket does not connect again. Default: 1002, 1003, 1007, 1008 and 1010. Add
        /// the codes with which your server states that clients must not connect again.
        public var endingCodes: Set<WebSocketClose.Code> = [
            .protocolError, .unsupportedData, .invalidData, .policyViolation, .extensionMissing,
        ]
        /// Reports whether the network can be reached. A wait ends early when the network can be reached again.
        /// Default: nil.
        public var reachability: ReachabilityService?

        /// Creates a rule.
        ///
        /// - Parameters:
        ///   - delay: The delay before a reconnection. Default: 3 seconds.
        ///   - maximumFailures: The number of consecutive handshakes that may fail. Default: no limit.
        ///   - reachability: Reports whether the network can be reached.
        public init(
            delay: Duration = .seconds(3), maximumFailures: Int = .max, reachability: ReachabilityService? = nil
        ) {
            self.delay = delay
            self.maximumFailures = maximumFailures
            self.reachability = reachability
        }

        /// A rule that never connects again.
        public static let never = Reconnection(maximumFailures: 0)

        /// Returns whether another handshake may succeed.
        func isWorthwhile(after error: any Error) -> Bool {
            guard let error = error as? NetworkError else { return false }
            if error.isAboutRefresh { return true }
            if [.deadlineTimedOut, .networkRestricted, .webSocketClosed].contains(error.kind) { return true }
            guard error.kind == .unacceptableStatus, let status = error.status else {
                return ServerSentEvent.Reconnection().isWorthwhile(after: error)
            }
            return status.code >= 500 || [408, 425, 429].contains(status.code)
        }
    }

    /// A connection that has just been opened. The `hello` closure of the socket receives it.
    public struct Connection: Sendable {
        private let channel: any WebSocketChannel
        /// The response to the handshake.
        public let response: HTTPResponse
        /// Whether this is the first connection of the socket.
        public let isFirst: Bool
        private let encode: @Sendable (any Encodable) throws -> WebSocketMessage

        init(
            _ channel: any WebSocketChannel, response: HTTPResponse, isFirst: Bool,
            encode: @escaping @Sendable (any Encodable) throws -> WebSocketMessage
        ) {
            self.channel = channel
            self.encode = encode
            self.response = response
            self.isFirst = isFirst
        }

        /// The subprotocol that the server has chosen; nil if it has chosen none.
        public var subprotocol: String? { channel.subprotocol }

        /// Sends a message on this connection.
        ///
        /// - Throws: ``NetworkError`` if the connection has ended.
        public func send(_ message: WebSocketMessage) async throws {
            do { try await channel.send(message) } catch is WebSocketOutbox.Refusal {
                throw NetworkError.webSocketIsClosing
            } catch {
                throw NetworkError.wrapping(error)
            }
        }

        /// Sends a text on this connection.
        public func send(_ text: String) async throws { try await send(.text(text)) }

        /// Sends bytes on this connection.
        public func send(_ bytes: Data) async throws { try await send(.binary(bytes)) }

        /// Sends a value on this connection as a text, encoded with the body encoder of the service.
        public func send(json value: some Encodable) async throws { try await send(encode(value)) }

        /// Receives the next message of this connection. Returns nil if the connection was closed. The socket does not
        /// deliver a message that this method has returned.
        public func receive() async throws -> WebSocketMessage? {
            do { return try await channel.receive() } catch { throw NetworkError.wrapping(error) }
        }
    }
}
