/// The open connection of a WebSocket in an engine: messages in, messages out. Pings, pongs, frames and the close
/// handshake are the engine's. It does not reconnect. If it is released, its connection is closed.
package protocol WebSocketChannel: AnyObject, Sendable {
    /// The subprotocol that the server has chosen; nil if it has chosen none.
    var subprotocol: String? { get }

    /// Waits for the next message. Not calling this method slows the server down. One reader at a time.
    ///
    /// - Returns: The message; nil once the peer has closed the connection, or this side has.
    /// - Throws: ``NetworkError`` if the connection was lost or broken; an ``Interruption``, after which no message is
    ///   lost.
    func receive() async throws -> WebSocketMessage?

    /// Sends a message, and waits until the system has taken all of it. Messages are sent in the order of the calls.
    /// If the wait is interrupted, a message of which nothing has been sent is not sent.
    func send(_ message: WebSocketMessage) async throws

    /// Sends a ping. Its pong counts as an arrival.
    func ping()

    /// Begins the close handshake, after the messages that wait to be sent. If the peer does not answer within 5
    /// seconds, the connection is closed without its answer.
    func close(_ close: WebSocketClose)

    /// Closes the connection at once, with this error for those who wait.
    func fail(_ error: NetworkError)

    /// How the connection ended: with a close frame, or with an error. Nil while messages may arrive.
    var outcome: Result<WebSocketClose, any Error>? { get }

    /// What has arrived so far.
    var activity: WebSocketActivity { get }

    /// Calls a closure once there is an ``outcome``. Messages may still wait for their reader.
    func observeOutcome(_ action: @escaping @Sendable () -> Void)

    /// Calls a closure once the connection is closed, after the close handshake.
    func observeClosure(_ action: @escaping @Sendable () -> Void)
}

/// Whether bytes arrive on the connection of a WebSocket.
package struct WebSocketActivity: Equatable, Sendable {
    /// The number of times that bytes have arrived.
    package var arrivals = 0
    /// The number of times that the connection was not read, because messages waited for their reader.
    package var pauses = 0
    /// Whether the connection is not read now.
    package var isPaused = false { didSet { if isPaused, !oldValue { pauses += 1 } } }

    package init() {}
}

/// The order to open a WebSocket. A request with this part is a handshake: an engine that can open a WebSocket leaves
/// the connection in the order. Other transports send it as an ordinary request, whose status is then not 101.
package final class WebSocketOrder: HTTPRequest.Part {
    /// The subprotocols that are offered, the preferred one first.
    package let subprotocols: [String]
    /// The most bytes of a message that arrives.
    package let maximumMessageSize: Int
    /// Whether compression is offered.
    package let compresses: Bool
    private let channel = Locked<(any WebSocketChannel)?>(nil)

    package init(subprotocols: [String] = [], maximumMessageSize: Int = 16 << 20, compresses: Bool = true) {
        self.subprotocols = subprotocols
        self.maximumMessageSize = maximumMessageSize
        self.compresses = compresses
    }

    package var outsideOrigin: WebSocketOrder? { self }
    package var outsideCall: WebSocketOrder? { nil }
    /// A connection is never shared, and its handshake never answered by the cache.
    package var identity: [String] { ["WebSocket \(UInt(bitPattern: ObjectIdentifier(self).hashValue))"] }

    /// Leaves an open connection in the order.
    package func fulfil(with channel: any WebSocketChannel) {
        let old = self.channel.withLock { old in
            defer { old = channel }
            return old
        }
        withExtendedLifetime(old) {}  // released outside the lock
    }

    /// Takes the open connection out of the order.
    package func take() -> (any WebSocketChannel)? {
        channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
    }
}

extension HTTPRequest.Parts {
    /// The order to open a WebSocket; nil for other requests.
    package var webSocket: WebSocketOrder? { self[WebSocketOrder.self] }
}
