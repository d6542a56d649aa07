import Foundation

/// The work of a ``WebSocket``: one task opens the first connection and all later connections. The task does not retain
/// the socket, and ends when the socket is released.
final class WebSocketCore: Sendable {
    private struct State: Sendable {
        /// The open connection, after its hello.
        var channel: (any WebSocketChannel)?
        /// The connections that have not been read to their end. They are kept so that the messages of a lost
        /// connection can still be read. If nobody reads them, the oldest connections are dropped.
        var unread: [any WebSocketChannel] = []
        /// The waits of callers for a connection or for the end of the socket.
        var waiters: [Settlement<Void>] = []
        /// The connection whose hello is in progress.
        var greeted: (any WebSocketChannel)?
        /// The last connection of a closed socket. All callers of `close` wait for the end of this connection.
        var closing: (any WebSocketChannel)?
        /// How the socket has ended; nil while it may connect.
        var end: Result<Void, any Error>?
        var task: Task<Void, Never>?
        var closure: WebSocketClose?
        var lastError: (any Error)?
        /// Whether the session in which the socket was first used has ended.
        var isSessionOver = false
        /// A settlement that ends the wait of the task when the session ends.
        var wake: Settlement<Void>?
        /// Maps an error of the last connection in the same way as an error of the call that opened it.
        var mapping: (@Sendable (any Error) -> any Error)?
    }

    let client: NetworkClient
    let endpoint: any Endpoint
    let settings: RequestSettings
    let options: WebSocket.Options
    let reconnection: WebSocket.Reconnection
    let hello: (@Sendable (WebSocket.Connection) async throws -> Void)?
    let states = Broadcaster<WebSocket.State>(.idle)
    private let state = Locked(State())

    init(
        client: NetworkClient, endpoint: any Endpoint, settings: RequestSettings, options: WebSocket.Options,
        reconnection: WebSocket.Reconnection, hello: (@Sendable (WebSocket.Connection) async throws -> Void)?
    ) {
        self.client = client
        self.endpoint = endpoint
        self.settings = settings
        self.options = options
        self.reconnection = reconnection
        self.hello = hello
    }

    /// The open connection; nil if there is none.
    var channel: (any WebSocketChannel)? { state.withLock { $0.channel } }

    /// The close frame with which the server last closed a connection.
    var closure: WebSocketClose? { state.withLock { $0.closure } }

    /// The error with which the last connection ended or the last handshake failed.
    var lastError: (any Error)? { state.withLock { $0.lastError } }
}

/// The methods that the users of the socket call.
extension WebSocketCore {
    /// Waits for an open connection. Connects if the socket has not been used before.
    ///
    /// - Returns: The connection; nil if the socket was closed.
    /// - Throws: The error with which the socket has ended, or the error of the interrupted wait.
    func open() async throws -> (any WebSocketChannel)? {
        try await wait { $0.channel?.outcome == nil ? $0.channel : nil }
    }

    /// Waits for the connection that has to be read next, as ``open()`` does.
    ///
    /// - Parameter old: The connection that was read to its end; nil if there is none.
    func unread(after old: (any WebSocketChannel)?) async throws -> (any WebSocketChannel)? {
        if let old { state.withLock { state in state.unread.removeAll { $0 === old } } }
        return try await wait { $0.unread.first }
    }

    private func wait(
        for wanted: (borrowing State) -> (any WebSocketChannel)?
    ) async throws -> (any WebSocketChannel)? {
        let session = client.sessionNumber
        while true {
            let waiter = Settlement<Void>()
            let known: Result<(any WebSocketChannel)?, any Error>? = state.withLock { state in
                if let channel = wanted(state) { return .success(channel) }
                if let end = state.end { return end.map { nil } }
                state.waiters.append(waiter)
                if state.task == nil { state.task = Task.detached { [self] in await run(inSession: session) } }
                return nil
            }
            if let known { return try known.get() }
            do { try await waiter.value() } catch {
                state.withLock { state in state.waiters.removeAll { $0.id == waiter.id } }
                throw NetworkError.wrapping(error)
            }
        }
    }

    /// Waits for the next message of a connection.
    ///
    /// - Returns: The message; nil once the connection has ended, for whatever reason.
    func receive(on channel: any WebSocketChannel) async throws -> WebSocketMessage? {
        do { return try await channel.receive() } catch {
            // The error of an interruption, or of a second reader, says nothing about the connection.
            guard channel.outcome != nil, !(error is Interruption) else { throw NetworkError.wrapping(error) }
            return nil
        }
    }

    func send(_ message: WebSocketMessage) async throws {
        while true {
            guard let channel = try await open() else { throw NetworkError.webSocketIsClosing }
            do { return try await channel.send(message) } catch is WebSocketOutbox.Refusal {
                // The connection is ending. The message has not been sent, and waits for the next connection.
                state.withLock { state in if state.channel === channel { state.channel = nil } }
            } catch {
                let error = NetworkError.wrapping(error)
                throw state.withLock { $0.mapping }?(error) ?? error
            }
        }
    }

    /// Closes the socket, and waits until its connection has ended.
    func close(_ close: WebSocketClose) async {
        finish(.success(()))?.close(close)
        guard let channel = state.withLock({ $0.closing }) else { return }
        await withCheckedContinuation { continuation in channel.observeClosure { continuation.resume() } }
    }

    /// Ends the socket, because nobody uses it any more.
    func leave() { finish(.success(()))?.close(WebSocketClose(.goingAway)) }

    /// Ends the socket.
    ///
    /// - Returns: The open connection.
    @discardableResult
    func finish(_ end: Result<Void, any Error>) -> (any WebSocketChannel)? {
        let (channel, task, waiters) = state.withLock { state in
            let channel = state.channel ?? state.greeted
            if state.end == nil {
                (state.end, state.closing) = (end, channel)
                states.enqueue(.closed)
            }
            defer { (state.channel, state.greeted, state.waiters) = (nil, nil, []) }
            return (channel, state.task, state.waiters)
        }
        states.deliver()
        for waiter in waiters { waiter.settle(.success(())) }
        task?.cancel()
        return channel
    }

    /// Ends the socket, because its client is shut down.
    func shutDown() {
        finish(.failure(NetworkError(.transportShutDown, reason: "the client was shut down")))?
            .close(WebSocketClose(.goingAway))
    }
}

/// The methods that the task of the socket calls.
extension WebSocketCore {
    var hasEnded: Bool { state.withLock { $0.end != nil } }
    var isSessionOver: Bool { state.withLock { $0.isSessionOver } }

    func note(_ close: WebSocketClose) { state.withLock { $0.closure = close } }

    func note(_ error: (any Error)?) { state.withLock { $0.lastError = error ?? $0.lastError } }

    /// From now on, ends the socket and its connection when the session ends. Returns nil if the socket does not belong
    /// to a session.
    func watchSession(_ number: Int?) -> ObservationToken? {
        guard let number, client.resolved(settings, for: endpoint).authorizationType.asksForToken else { return nil }
        let client = client
        return client.session?.tokens.observe(replayingCurrent: true, on: nil) { [weak self] _ in
            guard client.sessionNumber != number else { return }
            self?.endSession()
        }
    }

    private func endSession() {
        let (wake, greeted) = state.withLock { state in
            state.isSessionOver = true
            return (state.wake, state.greeted)
        }
        wake?.settle(.success(()))
        greeted?.close(WebSocketClose(.normal))
    }

    /// From now on, no session ends the socket.
    func leaveSession() { state.withLock { $0.isSessionOver = false } }

    /// Begins a wait that ends when the session ends.
    ///
    /// - Returns: False if the session has ended already.
    func beginWait(_ wake: Settlement<Void>) -> Bool {
        state.withLock { state in
            guard !state.isSessionOver else { return false }
            state.wake = wake
            return true
        }
    }

    func endWait() { state.withLock { $0.wake = nil } }

    /// Publishes a state, unless the socket has ended.
    func publish(_ next: WebSocket.State) -> Bool {
        let mayGoOn = state.withLock { state in
            guard state.end == nil else { return false }
            states.enqueue(next)
            return true
        }
        states.deliver()
        return mayGoOn
    }

    /// Notes the connection on which the app says hello.
    ///
    /// - Returns: False if the socket, or its session, has ended.
    func greet(_ channel: any WebSocketChannel) -> Bool {
        state.withLock { state in
            guard state.end == nil, !state.isSessionOver else { return false }
            state.greeted = channel
            return true
        }
    }

    /// Makes a connection available to the users of the socket.
    ///
    /// - Returns: False if the socket, or its session, has ended.
    func offer(_ connection: WebSocketCall.Connection) -> Bool {
        let waiters: [Settlement<Void>]? = state.withLock { state in
            state.greeted = nil
            guard state.end == nil, !state.isSessionOver else { return nil }
            defer { state.waiters = [] }
            (state.channel, state.mapping) = (connection.channel, connection.mapping)
            if state.unread.count == WebSocketCore.mostUnread { state.unread.removeFirst() }
            state.unread.append(connection.channel)
            states.enqueue(.open)
            return state.waiters
        }
        states.deliver()
        for waiter in waiters ?? [] { waiter.settle(.success(())) }
        return waiters != nil
    }

    /// The maximum number of connections that wait to be read. If there are more, the oldest connection is dropped.
    private static let mostUnread = 16

    /// Removes a connection that has ended.
    func withdraw(_ channel: any WebSocketChannel) {
        state.withLock { state in
            if state.channel === channel { state.channel = nil }
            if state.greeted === channel { state.greeted = nil }
        }
    }
}
