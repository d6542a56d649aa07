/// The task of a socket: it connects, says hello, waits for the end of the connection, and connects again.
extension WebSocketCore {
    /// How a connection ended.
    private enum End {
        case connection(Result<WebSocketClose, any Error>)
        /// The session in which the socket was first used has ended.
        case session
        /// The hello failed.
        case hello(any Error)
        /// The socket has ended.
        case socket
    }

    /// - Parameter session: The number of the session in which the socket was first used. A socket never continues for
    ///   another user.
    func run(inSession session: Int?) async {
        let presence = StreamPresence(in: client.calls) { [weak self] in self?.shutDown() }
        let watch = watchSession(session)
        defer { watch?.cancel() }
        var machine = ReconnectionMachine(
            .init(delay: reconnection.delay, maximumFailures: reconnection.maximumFailures), repeating: .always)
        while publish(.connecting) {
            var failure: (any Error)?
            var asked = Duration.zero
            let outcome: ReconnectionMachine.Outcome
            do {
                let call = WebSocketCall(self, inSession: session)
                presence.begin(call.scope)
                let connection = try await call.connect()
                let isFirst = !machine.hasConnected
                machine.connect()
                let opened = client.clock.now()
                let end = await use(connection, isFirst: isFirst)
                // The waits are reset only if the connection brought a message and lasted as long as the delay.
                // Otherwise, a server that sends one message and closes at once would cause reconnections without
                // longer waits.
                if connection.channel.activity.messages > 0, client.clock.now() - opened >= reconnection.delay {
                    _ = machine.step(after: .event, id: nil, retry: nil, spread: 0)
                }
                switch end {
                case .socket: return
                case .session:
                    // The next call fails like every call of an ended session, or is sent without a token if its token
                    // is optional. From now on, the socket belongs to no session.
                    watch?.cancel()
                    leaveSession()
                    continue
                case .hello(let error): (outcome, failure) = result(of: error, mapped: error, isFirst: isFirst)
                case .connection(.success(let close)): (outcome, failure) = result(of: close, connection)
                case .connection(.failure(let error)):
                    (outcome, failure) = result(of: error, mapped: connection.mapping(error), isFirst: false)
                }
            } catch let failed as RequestPipeline.Failure {
                let isRetryable = failed.mayPass(reconnection.isWorthwhile)
                (outcome, failure) = (.failed(isRetryable: isRetryable), failed.error)
                asked = retryDelay(of: failed.cause)
            } catch {
                (outcome, failure) = (.failed(isRetryable: reconnection.isWorthwhile(after: error)), error)
            }
            note(failure)
            let spread = client.configuration.random.fraction()
            let step = machine.step(after: outcome, id: nil, retry: nil, spread: spread)
            guard await goOn(step, notBefore: asked, failure, presence) else { return }
        }
    }

    /// Says hello on a connection, makes the connection available to the users of the socket, and waits for its end.
    private func use(_ connection: WebSocketCall.Connection, isFirst: Bool) async -> End {
        let channel = connection.channel
        let pings = WebSocketPings(channel, options, client.clock)
        defer {
            pings?.cancel()
            withdraw(channel)
        }
        if let hello {
            guard greet(channel) else { return endEarly(channel) }
            do {
                try await greet(connection, isFirst, hello)
            } catch  where channel.outcome == nil {
                channel.close(WebSocketClose(.goingAway))
                return hasEnded ? endEarly(channel) : .hello(error)
            } catch {}  // the connection has ended, and its outcome is the more precise error
        }
        guard offer(connection) else { return endEarly(channel) }
        let isOver = Settlement<Void>()
        channel.observeOutcome { isOver.settle(.success(())) }
        guard await isWoken(isOver) else { return .socket }
        return channel.outcome.map { .connection($0) } ?? endEarly(channel)
    }

    /// Calls the app's `hello` closure, and waits for it at most for the idle timeout. A closure that waits for the
    /// socket itself, or for a server that sends nothing, must not block the socket forever.
    private func greet(
        _ connection: WebSocketCall.Connection, _ isFirst: Bool,
        _ hello: @escaping @Sendable (WebSocket.Connection) async throws -> Void
    ) async throws {
        let greeted = WebSocket.Connection(connection.channel, response: connection.response, isFirst: isFirst) {
            try self.message(of: $0)
        }
        let limit = client.resolved(settings, for: endpoint).timeouts.effectiveIdle
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hello(greeted) }
            group.addTask { [clock = client.clock] in
                try await clock.wait(for: limit)
                throw NetworkError(.idleTimedOut, reason: "the hello was not completed within \(limit.shortText)")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Closes a connection before the server does, because the session or the socket has ended.
    private func endEarly(_ channel: any WebSocketChannel) -> End {
        guard isSessionOver else {
            channel.close(WebSocketClose(.goingAway))
            return .socket
        }
        channel.close(WebSocketClose(.normal))
        return .session
    }

    /// Waits for a settlement. The end of the session settles it, too.
    ///
    /// - Returns: False if the socket has ended.
    private func isWoken(_ settlement: Settlement<Void>) async -> Bool {
        guard beginWait(settlement) else { return true }
        defer { endWait() }
        do { try await settlement.value() } catch { return false }
        return true
    }

    /// Returns what follows from an error of a connection.
    private func result(
        of error: any Error, mapped: any Error, isFirst: Bool
    ) -> (ReconnectionMachine.Outcome, (any Error)?) {
        let isRetryable = !isFirst && reconnection.maximumFailures > 0 && reconnection.isWorthwhile(after: error)
        return (isRetryable ? .ended : .failed(isRetryable: false), mapped)
    }

    /// Returns what follows from a close frame of the server.
    private func result(
        of close: WebSocketClose, _ connection: WebSocketCall.Connection
    ) -> (ReconnectionMachine.Outcome, (any Error)?) {
        note(close)
        guard close.code != .normal else { return (.noContent, nil) }
        let error = NetworkError(
            .webSocketClosed, reason: "the server closed the WebSocket with code \(close)", underlying: close)
        let isRetryable = reconnection.maximumFailures > 0 && !reconnection.endingCodes.contains(close.code)
        return (isRetryable ? .ended : .failed(isRetryable: false), connection.mapping(error))
    }

    /// Returns the delay that a server requests when it refuses a handshake (`Retry-After`), but at most ten minutes.
    private func retryDelay(of error: any Error) -> Duration {
        let headers = (error as? NetworkError)?.response?.headers
        return min(headers?.retryDelay(from: client.clock.date()) ?? .zero, .seconds(600))
    }

    /// Carries out a decision of the machine.
    ///
    /// - Returns: Whether the socket connects again.
    private func goOn(
        _ step: ReconnectionMachine.Step, notBefore asked: Duration, _ failure: (any Error)?,
        _ presence: StreamPresence
    ) async -> Bool {
        switch step {
        case .deliver: break
        case .end: finish(.success(()))
        case .fail: finish(.failure(failure ?? NetworkError(.unknown)))  // a failed outcome always has an error
        case .reconnect(let delay):
            let delay = delay < asked ? asked + asked * 0.75 * client.configuration.random.fraction() : delay
            guard publish(.waiting(delay)) else { return false }
            let wake = Settlement<Void>()
            guard beginWait(wake) else { return true }
            defer { endWait() }
            // A server that has requested a delay was reachable, so a change of the network does not end this wait
            // early.
            let token =
                asked > .zero
                ? nil
                : reconnection.reachability?.statuses.observe(on: nil) { status in
                    if status.isReachable { wake.settle(.success(())) }
                }
            defer { token?.cancel() }
            do {
                try await client.wait(for: delay, before: endpoint, with: settings, as: presence, wokenBy: wake)
                return true
            } catch {
                finish(.failure(error))
            }
        }
        return false
    }
}
