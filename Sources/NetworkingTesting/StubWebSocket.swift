import Foundation
public import Networking

/// The server's side of a WebSocket of a ``StubTransport``, for a script:
///
/// ```swift
/// stub.on(.get, "/chat", .webSocket { socket in
///     #expect(try await socket.receive() == .text("hello"))
///     socket.send("welcome")
///     socket.close(WebSocketClose(.serviceRestart))
/// })
/// ```
///
/// When the script returns or throws, the connection is lost, unless the connection was closed before. The client's
/// ``WebSocket/lastError`` then contains the reason.
public final class StubWebSocket: @unchecked Sendable {  // because of the lock around every variable
    private struct State: Sendable {
        var activity = WebSocketActivity()
        var pings = 0
        var answersPings = true
        var closure: WebSocketClose?
    }

    private let subprotocolName: String?
    private let toClient = WebSocketInbox()
    private let toServer = WebSocketInbox()
    private let lock = NSLock()
    private var state = State()

    init(subprotocol: String?) {
        subprotocolName = subprotocol
    }

    /// Waits for the next message of the client.
    ///
    /// - Returns: The message; nil after the client has closed the socket.
    public func receive() async throws -> WebSocketMessage? { try await toServer.next {} }

    /// Sends a message to the client.
    public func send(_ message: WebSocketMessage) {
        lock.withLock {
            state.activity.arrivals += 1
            state.activity.messages += 1
        }
        toClient.put(message)
    }

    /// Sends a text to the client.
    public func send(_ text: String) { send(.text(text)) }

    /// Closes the socket with a close frame.
    public func close(_ close: WebSocketClose = WebSocketClose()) { end(.success(close)) }

    /// Loses the connection, without a close frame.
    public func drop() { drop("the stub dropped the WebSocket's connection") }

    fileprivate func drop(_ reason: String) {
        end(.failure(NetworkError(.connectionLostAfterHead, reason: reason)))
    }

    /// The close frame of the client; nil if the client has not closed the socket.
    public var closure: WebSocketClose? { lock.withLock { state.closure } }

    /// The number of pings that the client has sent.
    public var pings: Int { lock.withLock { state.pings } }

    /// Whether pings are answered. Default: true.
    public var answersPings: Bool {
        get { lock.withLock { state.answersPings } }
        set { lock.withLock { state.answersPings = newValue } }
    }

    private func end(_ end: Result<WebSocketClose, any Error>) {
        toClient.finish(end)
        toServer.finish(end)
    }
}

extension StubWebSocket {
    /// The client's side.
    final class Channel: WebSocketChannel {
        private let stub: StubWebSocket

        init(_ stub: StubWebSocket) {
            self.stub = stub
        }

        deinit { close(WebSocketClose(.goingAway)) }

        var subprotocol: String? { stub.subprotocolName }

        func receive() async throws -> WebSocketMessage? { try await stub.toClient.next {} }

        func send(_ message: WebSocketMessage) async throws {
            guard stub.toClient.outcome == nil else { throw WebSocketOutbox.Refusal() }
            stub.toServer.put(message)
        }

        func ping() {
            stub.lock.withLock {
                stub.state.pings += 1
                if stub.state.answersPings { stub.state.activity.arrivals += 1 }
            }
        }

        func close(_ close: WebSocketClose) {
            let isFirst = stub.toClient.outcome == nil
            stub.lock.withLock { if isFirst { stub.state.closure = close } }
            stub.end(.success(close))
        }

        func fail(_ error: NetworkError) { stub.end(.failure(error)) }

        var outcome: Result<WebSocketClose, any Error>? { stub.toClient.outcome }

        var activity: WebSocketActivity {
            let isPaused = stub.toClient.isFull()
            return stub.lock.withLock {
                stub.state.activity.isPaused = isPaused
                return stub.state.activity
            }
        }

        func observeOutcome(_ action: @escaping @Sendable () -> Void) { stub.toClient.observeEnd(action) }

        func observeClosure(_ action: @escaping @Sendable () -> Void) { observeOutcome(action) }
    }
}

extension StubResponse {
    /// Returns a response that opens a WebSocket.
    ///
    /// - Parameters:
    ///   - subprotocol: The chosen subprotocol. Default: none.
    ///   - script: Talks to the client. It is called once for each connection, in a task of its own.
    public static func webSocket(
        subprotocol: String? = nil, _ script: @escaping @Sendable (StubWebSocket) async throws -> Void
    ) -> StubResponse {
        var response = StubResponse(.switchingProtocols)
        response.socket = { order in
            let stub = StubWebSocket(subprotocol: subprotocol)
            order.fulfil(with: StubWebSocket.Channel(stub))
            Task {
                do {
                    try await script(stub)
                    stub.drop("the script of the stub's WebSocket returned without closing the WebSocket")
                } catch {
                    stub.drop("the script of the stub's WebSocket threw \(type(of: error)): \(error)")
                }
            }
        }
        return response
    }
}
