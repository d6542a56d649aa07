import Foundation

/// The work of a ``WebSocket``: one task connects, and connects again. It ends when the socket is released, which the
/// task does not retain.
final class WebSocketCore: Sendable {
    private struct State: Sendable {
        /// The open connection, after its hello.
        var channel: (any WebSocketChannel)?
        /// The connections that have not been read to their end, so that no message is lost if a connection is lost before
        /// its messages were read. Those that nobody reads are dropped in the end.
        var unread: [any WebSocketChannel] = []
        /// Those who wait for a connection, or the end.
        var waiters: [Settlement<Void>] = []
        /// How the socket has ended; nil while it may connect.
        var end: Result<Void, any Error>?
        var task: Task<Void, Never>?
        var closure: WebSocketClose?
        /// Whether a message has arrived on the current connection.
        var hasMessage = false
        /// Maps an error of the last connection as an error of its call.
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

    /// How the server closed the last connection that it closed.
    var closure: WebSocketClose? { state.withLock { $0.closure } }
}

/// What the socket's users ask for.
extension WebSocketCore {
    /// Waits for an open connection. Connects if the socket has not been used before.
    ///
    /// - Returns: The connection; nil if the socket was closed.
    /// - Throws: The error with which the socket has ended, or that of the interrupted wait.
    func open() async throws -> (any WebSocketChannel)? { try await wait { $0.channel } }

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
        while true {
            let waiter = Settlement<Void>()
            let known: Result<(any WebSocketChannel)?, any Error>? = state.withLock { state in
                if let channel = wanted(state) { return .success(channel) }
                if let end = state.end { return end.map { nil } }
                state.waiters.append(waiter)
                if state.task == nil { state.task = Task.detached { [self] in await run() } }
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
        do {
            guard let message = try await channel.receive() else { return nil }
            state.withLock { state in if state.channel === channel { state.hasMessage = true } }
            return message
        } catch {
            // An interruption, or a second reader, says nothing about the connection.
            guard channel.outcome != nil, !(error is Interruption) else { throw NetworkError.wrapping(error) }
            return nil
        }
    }

    func send(_ message: WebSocketMessage) async throws {
        guard let channel = try await open() else { throw NetworkError.webSocketIsClosing }
        do { try await channel.send(message) } catch {
            let error = NetworkError.wrapping(error)
            throw state.withLock { $0.mapping }?(error) ?? error
        }
    }

    /// Closes the socket, and waits until its connection has ended.
    func close(_ close: WebSocketClose) async {
        let channel = finish(.success(()))
        guard let channel else { return }
        channel.close(close)
        await withCheckedContinuation { continuation in channel.observeClosure { continuation.resume() } }
    }

    /// Ends the socket, because nobody uses it any more.
    func leave() { finish(.success(()))?.close(WebSocketClose(.goingAway)) }

    /// Ends the socket.
    ///
    /// - Returns: The open connection.
    @discardableResult
    private func finish(_ end: Result<Void, any Error>) -> (any WebSocketChannel)? {
        let (channel, task, waiters, isNew) = state.withLock { state in
            defer {
                state.end = state.end ?? end
                (state.channel, state.waiters) = (nil, [])
            }
            return (state.channel, state.task, state.waiters, state.end == nil)
        }
        for waiter in waiters { waiter.settle(.success(())) }
        task?.cancel()
        if isNew { states.publish(.closed) }
        return channel
    }

    /// Ends the socket, because its client is shut down.
    private func shutDown() {
        finish(.failure(NetworkError(.transportShutDown, reason: "the client was shut down")))?
            .close(WebSocketClose(.goingAway))
    }
}

/// The values in the messages.
extension WebSocketCore {
    private var resolved: RequestSettings { client.resolved(settings, for: endpoint) }

    /// Returns the message for a value.
    func message(of value: some Encodable) throws -> WebSocketMessage {
        do { return .text(String(decoding: try resolved.bodyEncoder.encode(value), as: UTF8.self)) } catch {
            throw NetworkError(
                .bodyNotEncodable, reason: "the message cannot be encoded: \(type(of: error))", underlying: error)
        }
    }

    /// Returns the value of a message.
    func value<Value: Decodable>(of message: WebSocketMessage) throws -> Value {
        let data = message.data
        do { return try resolved.bodyDecoder.read(Value.self, from: data) } catch {
            let fault = UndecodableBody.describe(error, reading: Value.self, from: data)
            throw NetworkError(.undecodableBody, reason: "message: \(fault)", underlying: error)
        }
    }
}

/// The task of the socket.
extension WebSocketCore {
    /// How a connection ended.
    private enum End {
        case connection(Result<WebSocketClose, any Error>)
        /// The session of the connection's token has ended.
        case session
        /// The socket has ended.
        case socket
    }

    private func run() async {
        let presence = StreamPresence(in: client.calls) { [weak self] in self?.shutDown() }
        var machine = ReconnectionMachine(
            .init(delay: reconnection.delay, maximumFailures: reconnection.maximumFailures), repeating: .always)
        // A socket never goes on for another user.
        let session = client.sessionNumber
        while true {
            guard publish(.connecting) else { return }
            var failure: (any Error)?
            let outcome: ReconnectionMachine.Outcome
            do {
                let call = WebSocketCall(self, inSession: session)
                presence.begin(call.scope)
                let connection = try await call.connect(isFirst: !machine.hasConnected)
                machine.connect()
                guard offer(connection) else { return }
                let end = await self.end(of: connection, inSession: session)
                if withdraw(connection.channel) {
                    _ = machine.step(after: .event, id: nil, retry: nil, spread: 0)
                }
                switch end {
                case .socket: return
                case .session: continue  // the next call fails as any call of a session that has ended
                case .connection(.success(let close)): (outcome, failure) = result(of: close, connection)
                case .connection(.failure(let error)):
                    outcome = .failed(isRetryable: reconnection.isWorthwhile(after: error))
                    failure = connection.mapping(error)
                }
            } catch let failed as RequestPipeline.Failure {
                // The original error decides, because handlers may have replaced the error of the call.
                let cause = failed.report.attempts.last?.error ?? failed.error
                (outcome, failure) = (.failed(isRetryable: reconnection.isWorthwhile(after: cause)), failed.error)
            } catch {
                (outcome, failure) = (.failed(isRetryable: reconnection.isWorthwhile(after: error)), error)
            }
            let spread = client.configuration.random.fraction()
            guard
                await goOn(machine.step(after: outcome, id: nil, retry: nil, spread: spread), failure, presence)
            else { return }
        }
    }

    /// Returns what follows from a close frame of the server.
    private func result(
        of close: WebSocketClose, _ connection: WebSocketCall.Connection
    ) -> (ReconnectionMachine.Outcome, (any Error)?) {
        state.withLock { $0.closure = close }
        guard close.code != .normal else { return (.noContent, nil) }
        let error = NetworkError(
            .webSocketClosed, reason: "the server closed the WebSocket with code \(close)", underlying: close)
        return (.failed(isRetryable: !reconnection.endingCodes.contains(close.code)), connection.mapping(error))
    }

    /// Follows a decision of the machine.
    ///
    /// - Returns: Whether the socket connects again.
    private func goOn(
        _ step: ReconnectionMachine.Step, _ failure: (any Error)?, _ presence: StreamPresence
    ) async -> Bool {
        switch step {
        case .deliver: break
        case .end: finish(.success(()))
        case .fail: finish(.failure(failure ?? NetworkError(.unknown)))  // a failed outcome always has an error
        case .reconnect(let delay):
            guard publish(.waiting(delay)) else { return false }
            do {
                try await client.wait(
                    for: delay, before: endpoint, with: settings, as: presence, waking: reconnection.reachability)
                return true
            } catch {
                finish(.failure(error))
            }
        }
        return false
    }

    /// Publishes a state, unless the socket has ended.
    private func publish(_ next: WebSocket.State) -> Bool {
        guard state.withLock({ $0.end == nil }) else { return false }
        states.publish(next)
        return true
    }

    /// The most connections that wait to be read.
    private static let mostUnread = 16

    /// Lets the users have a connection.
    ///
    /// - Returns: False if the socket has ended meanwhile.
    private func offer(_ connection: WebSocketCall.Connection) -> Bool {
        let waiters: [Settlement<Void>]? = state.withLock { state in
            guard state.end == nil else { return nil }
            defer { state.waiters = [] }
            (state.channel, state.mapping, state.hasMessage) = (connection.channel, connection.mapping, false)
            if state.unread.count == WebSocketCore.mostUnread { state.unread.removeFirst() }
            state.unread.append(connection.channel)
            return state.waiters
        }
        guard let waiters else {
            connection.channel.close(WebSocketClose(.goingAway))
            return false
        }
        _ = publish(.open)
        for waiter in waiters { waiter.settle(.success(())) }
        return true
    }

    /// Takes a connection back that has ended.
    ///
    /// - Returns: Whether a message has arrived on it.
    private func withdraw(_ channel: any WebSocketChannel) -> Bool {
        state.withLock { state in
            guard state.channel === channel else { return false }
            state.channel = nil
            return state.hasMessage
        }
    }

    /// Waits for the end of a connection.
    private func end(of connection: WebSocketCall.Connection, inSession session: Int?) async -> End {
        let channel = connection.channel
        let isOver = Settlement<Bool>()
        channel.observeOutcome { isOver.settle(.success(false)) }
        let client = client
        let token =
            connection.carriesToken
            ? client.configuration.session?.tokens.observe(replayingCurrent: true, on: nil) { token in
                if token == nil || client.sessionNumber != session { isOver.settle(.success(true)) }
            } : nil
        let pings = WebSocketPings(channel, options, client.clock)
        defer {
            token?.cancel()
            pings?.cancel()
        }
        guard let isSessionOver = try? await isOver.value() else { return .socket }
        if isSessionOver {
            channel.close(WebSocketClose(.normal))
            return .session
        }
        return channel.outcome.map { .connection($0) } ?? .connection(.failure(NetworkError(.connectionLostAfterHead)))
    }
}
