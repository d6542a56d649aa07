import Foundation

/// A connection of an engine, with the messages that wait in both directions.
protocol WebSocketConnection: AnyObject, Sendable {
    var inbox: WebSocketInbox { get }
    var outbox: WebSocketOutbox { get }
    /// What has arrived so far.
    var activity: Locked<WebSocketActivity> { get }
    /// Settled when the connection is closed.
    var ending: Settlement<Void> { get }

    /// Sends what waits in the outbox, and receives again if the inbox has room. May be called from any thread.
    func serve()

    /// Closes the connection at once. All waiting calls fail with the given error. May be called from any thread.
    func drop(_ error: NetworkError)
}

/// The open connection of a WebSocket, for its user. If it is released, the connection is closed with code 1001.
final class BufferedWebSocketChannel<Connection: WebSocketConnection>: WebSocketChannel {
    private let connection: Connection
    let subprotocol: String?
    /// How messages are compressed; nil if the engine does not compress them here.
    private let compression: WebSocketHandshake.Compression?

    init(_ connection: Connection, subprotocol: String?, compression: WebSocketHandshake.Compression? = nil) {
        self.connection = connection
        self.subprotocol = subprotocol
        self.compression = compression
    }

    deinit {
        close(WebSocketClose(.goingAway))
    }

    func receive() async throws -> WebSocketMessage? {
        try await connection.inbox.next { connection.serve() }
    }

    func send(_ message: WebSocketMessage) async throws {
        let isSent = Settlement<Void>()
        if try connection.outbox.add(item(message, isSent)) { connection.serve() }
        do { try await isSent.value() } catch {
            if error is Interruption { connection.outbox.withdraw(isSent) }
            throw error
        }
    }

    private func item(_ message: WebSocketMessage, _ isSent: Settlement<Void>) -> WebSocketOutbox.Item {
        let payload = message.data
        var deflated: Data?
        if let compression, payload.count >= WebSocketDeflater.smallest {
            deflated = WebSocketDeflater.deflate(payload, windowBits: compression.clientWindowBits)
        }
        let isText = if case .text = message { true } else { false }
        return WebSocketOutbox.Item(
            payload: deflated ?? payload, isText: isText, isCompressed: deflated != nil, isSent: isSent)
    }

    func ping() {
        connection.outbox.ping()
        connection.serve()
    }

    func close(_ close: WebSocketClose) {
        connection.outbox.close(close)
        connection.inbox.finish(.success(close))  // messages that arrive from now on are dropped
        connection.serve()
    }

    func fail(_ error: NetworkError) { connection.drop(error) }

    var outcome: Result<WebSocketClose, any Error>? { connection.inbox.outcome }

    var activity: WebSocketActivity { connection.activity.withLock { $0 } }

    func observeOutcome(_ action: @escaping @Sendable () -> Void) { connection.inbox.observeEnd(action) }

    func observeClosure(_ action: @escaping @Sendable () -> Void) { connection.ending.observe { _ in action() } }
}
