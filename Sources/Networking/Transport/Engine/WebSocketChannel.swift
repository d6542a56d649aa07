/// The open connection of a WebSocket in an engine: messages in, messages out. The engine handles pings, pongs, frames
/// and the close handshake. The channel does not reconnect. If it is released, its connection is closed.
package protocol WebSocketChannel: AnyObject, Sendable {
    /// The subprotocol that the server has chosen; nil if it has chosen none.
    var subprotocol: String? { get }

    /// Waits for the next message. If nobody calls this method, the server is slowed down. Only one reader at a time
    /// may call it.
    ///
    /// - Returns: The message; nil once the peer or this side has closed the connection.
    /// - Throws: ``NetworkError`` if the connection was lost or broken; an ``Interruption`` if the wait is interrupted.
    ///   An interruption loses no message.
    func receive() async throws -> WebSocketMessage?

    /// Sends a message, and waits until the system has taken all of it. Messages are sent in the order of the calls. If
    /// the wait is interrupted before any part of the message has been sent, the message is not sent.
    ///
    /// - Throws: ``WebSocketOutbox/Refusal`` if nothing is sent because the connection has ended; ``NetworkError`` if
    ///   the connection is lost meanwhile.
    func send(_ message: WebSocketMessage) async throws

    /// Sends a ping. Its pong counts as an arrival.
    func ping()

    /// Begins the close handshake, after the messages that wait to be sent. If the peer does not answer within 5
    /// seconds, the connection is closed without its answer.
    func close(_ close: WebSocketClose)

    /// Closes the connection at once. All waiting calls fail with the given error.
    func fail(_ error: NetworkError)

    /// How the connection ended: with a close frame, or with an error. Nil while messages may arrive.
    var outcome: Result<WebSocketClose, any Error>? { get }

    /// What has arrived so far.
    var activity: WebSocketActivity { get }

    /// Calls a closure as soon as there is an ``outcome``. At that time, messages may still wait for their reader.
    func observeOutcome(_ action: @escaping @Sendable () -> Void)

    /// Calls a closure as soon as the connection is closed, after the close handshake.
    func observeClosure(_ action: @escaping @Sendable () -> Void)
}

/// What has arrived on the connection of a WebSocket, and whether the connection is being read.
package struct WebSocketActivity: Equatable, Sendable {
    /// The number of times that bytes have arrived.
    package var arrivals = 0
    /// The number of messages that have arrived.
    package var messages = 0
    /// How often reading from the connection was paused, because messages waited for their reader.
    package var pauses = 0
    /// Whether reading from the connection is paused now.
    package var isPaused = false { didSet { if isPaused, !oldValue { pauses += 1 } } }

    package init() {}
}
