public import Foundation

/// A WebSocket of a service (RFC 6455): it sends messages, and is a sequence of the messages that arrive.
///
/// The handshake is a call of the service: it passes through admission, the adapters and the error handlers, it carries
/// the token of the session, and it appears in reports and logs. If the server refuses the token, the token is
/// refreshed, as for any call. After a lost connection, the socket connects again (``Reconnection``).
///
/// ```swift
/// let chat = service.webSocket(ChatEndpoint.room(7))
/// try await chat.send("hello")
/// for try await message in chat { show(message) }
/// ```
///
/// ## How it begins and ends
///
/// The socket connects when the first message is requested or sent. The sequence ends without an error if the socket is
/// closed: by ``close(_:reason:)``, or by the server with code 1000. In all other cases, the sequence throws an error:
/// the error of the first handshake, or the reason why the socket does not reconnect. When the socket is released, it
/// is closed with code 1001; a task that reads messages retains the socket. When the session of the socket ends, the
/// connection is closed with code 1000, and the sequence throws the same error as every call of an ended session. If
/// the token is optional, the socket instead connects again without a token. An endpoint without authorization belongs
/// to no session. A token refresh does not affect the socket. To send the new token to the server, observe
/// ``AccessTokenSupervisor/tokens``.
///
/// ## Reading and sending
///
/// Read the messages for as long as the socket is in use. While 256 KiB of messages wait to be read, nothing more is
/// received, not even pings or the end of the connection, and the server has to wait. Only one task may read at a time.
/// Any task may send; the messages that one task sends one after another arrive in this order.
///
/// When `send` returns, the message has been handed over to the system. If the connection is then lost, it is not known
/// whether the message has arrived. Send the message again if the server has not answered it.
public final class WebSocket: Sendable {
    let core: WebSocketCore

    init(_ core: WebSocketCore) {
        self.core = core
    }

    deinit {
        core.leave()
    }

    /// The state of a socket.
    public enum State: Hashable, Sendable {
        /// Nothing has been requested or sent.
        case idle
        /// The handshake is in progress.
        case connecting
        /// Messages are sent and received.
        case open
        /// The connection was lost, and the socket connects again after this time.
        case waiting(Duration)
        /// The socket has ended, and does not connect again.
        case closed
    }

    /// The broadcaster of the state. Its current value is the current state.
    public var states: Broadcaster<State> { core.states }

    /// The state of the socket.
    public var state: State { core.states.current ?? .idle }

    /// The subprotocol that the server has chosen for the current connection; nil if it has chosen none, or if the
    /// socket is not open.
    public var subprotocol: String? { core.channel?.subprotocol }

    /// The close frame with which the server last closed a connection; nil if it has closed none. A lost connection
    /// does not count.
    public var closure: WebSocketClose? { core.closure }

    /// The reason why the last connection ended or the last handshake failed; nil if neither has happened. While the
    /// socket waits, it is the reason for the wait.
    public var lastError: (any Error)? { core.lastError }

    /// Connects, unless the socket is connected. Reading and sending connect, too.
    ///
    /// - Throws: The error with which the socket has ended; ``NetworkError/Kind/webSocketClosed`` if it was closed.
    public func connect() async throws {
        guard try await core.open() != nil else { throw NetworkError.webSocketIsClosing }
    }

    /// Sends a message, and waits until the system has taken all of it. Connects first if the socket is not connected.
    /// If the task is cancelled before any part of the message has been sent, the message is not sent.
    ///
    /// - Throws: The error of the connection, if the connection is lost meanwhile. The message, or a part of it, may
    ///   then have arrived. The socket does not send the message again. If the socket has ended, the error with which
    ///   it ended; ``NetworkError/Kind/webSocketClosed`` if it was closed.
    public func send(_ message: WebSocketMessage) async throws {
        try await core.send(message)
    }

    /// Sends a text.
    public func send(_ text: String) async throws { try await send(.text(text)) }

    /// Sends bytes.
    public func send(_ data: Data) async throws { try await send(.binary(data)) }

    /// Sends a value as JSON, in a text message. The value is encoded with the encoder of the service.
    public func send(json value: some Encodable & Sendable) async throws {
        try await send(core.message(of: value))
    }

    /// Closes the socket: sends the messages that wait, then the close frame. Waits until the server has answered the
    /// close frame, but at most 5 seconds. The sequence ends without an error; messages that arrive from now on are
    /// dropped.
    public func close(_ code: WebSocketClose.Code = .normal, reason: String = "") async {
        await core.close(WebSocketClose(code, reason: reason))
    }

    /// Returns the messages as values: texts and bytes are decoded as JSON, with the decoder of the service. A message
    /// that cannot be decoded ends the sequence with ``NetworkError/Kind/undecodableBody``; the socket stays open.
    public func values<Value: Decodable & Sendable>(as type: Value.Type = Value.self) -> BodySequence<Value> {
        BodySequence { [self] in .init(WebSocketValues<Value>(socket: self, messages: makeAsyncIterator())) }
    }
}

extension WebSocket: AsyncSequence {
    /// Reads the messages.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let socket: WebSocket
        /// The connection that is being read. It is read to its end, even if there is already another connection.
        fileprivate var channel: (any WebSocketChannel)?

        /// Returns the next message, or nil after the socket was closed. Connects if the socket is not connected.
        public mutating func next() async throws -> WebSocketMessage? {
            while true {
                if let channel, let message = try await socket.core.receive(on: channel) { return message }
                guard let next = try await socket.core.unread(after: channel) else { return nil }
                channel = next
            }
        }
    }

    /// Creates a reader of the messages. Only one task may read at a time.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: self) }
}

/// Reads the messages of a socket as values.
private struct WebSocketValues<Value: Decodable & Sendable>: AsyncIteratorProtocol {
    let socket: WebSocket
    var messages: WebSocket.Iterator

    mutating func next() async throws -> Value? {
        guard let message = try await messages.next() else { return nil }
        return try await socket.core.value(of: message) as Value
    }
}

extension WebSocket: RedactedReflectable {

    var reflectedMembers: KeyValuePairs<String, Any> { ["endpoint": core.endpoint, "state": state] }
}

extension NetworkRequesting {
    /// Returns a WebSocket. Nothing is sent before the first message is requested or sent.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the handshake: a GET without a body. Its URL has the scheme http or https.
    ///   - options: Subprotocols, limits, pings and compression.
    ///   - reconnection: When the socket connects again.
    ///   - settings: The settings of each handshake. Validators and redirects in the settings are ignored: only a
    ///     response with status 101 is accepted.
    ///   - hello: Called on each connection, to exchange the first messages of the protocol on that connection. Until
    ///     the closure returns, the socket itself sends and delivers no messages. The closure must return within the
    ///     idle timeout. If it throws an error, the connection ends. The socket ends, too, unless the error is a
    ///     ``NetworkError`` after which another connection may succeed. Default: nil.
    public func webSocket(
        _ endpoint: some Endpoint, _ options: WebSocket.Options = WebSocket.Options(),
        reconnecting reconnection: WebSocket.Reconnection = WebSocket.Reconnection(),
        with settings: RequestSettings = RequestSettings(),
        hello: (@Sendable (WebSocket.Connection) async throws -> Void)? = nil
    ) -> WebSocket {
        WebSocket(
            WebSocketCore(
                client: client, endpoint: endpoint, settings: settings, options: options, reconnection: reconnection,
                hello: hello))
    }
}
