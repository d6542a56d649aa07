/// The calls of a service that are in progress. They can be ended together.
final class RunningCalls: Sendable {
    private struct Call: Sendable {
        let scope: CallScope
        let endpoint: any Endpoint
    }

    /// A reset in progress, with the calls that it has ended and that have not returned yet.
    private struct Reset: Sendable {
        var calls: Set<ObjectIdentifier>
        let isDone = Settlement<Void>()
    }

    private struct State: Sendable {
        var calls: [ObjectIdentifier: Call] = [:]
        var resets: [ObjectIdentifier: Reset] = [:]
        /// Settled when the participants have been reset; nil while no reset of the participants is in progress.
        var participants: Settlement<Void>?
        /// The event streams that are being read, each until it is released.
        var streams: [ObjectIdentifier: Weak<StreamPresence>] = [:]
        /// The calls of the clients that were derived from this client, directly or through other clients.
        var derived: [Weak<RunningCalls>] = []
        /// The calls of the clients from which this client was derived, if these clients still exist.
        var ancestors: [Weak<RunningCalls>] = []
        /// When the list of derived clients has reached this length, released clients are removed from it.
        var largestCount = 16
        /// Whether the client was shut down. After a shutdown, only calls that are made inside other calls begin.
        var isShutDown = false
        /// The next reset of the participants. It begins after the reset in progress.
        var next: Settlement<Void>?
    }

    /// The reset of the participants in which the current task runs.
    @TaskLocal private static var current: Settlement<Void>?

    private let state = Locked(State())

    /// The number of calls in progress.
    var count: Int { state.withLock { $0.calls.count } }

    /// Adds a call that begins. The calls of a token refresh are not added, because a refresh continues during a reset.
    /// If the client was shut down, ends the call, unless it is made inside another call.
    func enter(_ scope: CallScope, _ endpoint: any Endpoint) {
        guard !scope.isPartOfRefresh else { return }
        let mayBegin = state.withLock { state in
            guard !state.isShutDown || scope.parent != nil else { return false }
            state.calls[ObjectIdentifier(scope)] = Call(scope: scope, endpoint: endpoint)
            return true
        }
        if !mayBegin { scope.interrupt(.shutDown) }
    }

    /// Removes a call that has returned.
    func leave(_ scope: CallScope) {
        let done: [Settlement<Void>] = state.withLock { state in
            state.calls[ObjectIdentifier(scope)] = nil
            guard !state.resets.isEmpty else { return [] }
            for id in state.resets.keys { state.resets[id]?.calls.remove(ObjectIdentifier(scope)) }
            return state.resets.values.filter(\.calls.isEmpty).map(\.isDone)
        }
        for isDone in done { isDone.settle(.success(())) }
    }

    /// Cancels each call if `shouldCancel` returns true for its endpoint.
    ///
    /// - Returns: The number of calls that this method cancelled. Calls that had already ended are not counted.
    func cancel(where shouldCancel: (any Endpoint) -> Bool) -> Int {
        let calls = state.withLock { Array($0.calls.values) }
        return calls.reduce(0) { shouldCancel($1.endpoint) && $1.scope.interrupt(.cancelled) ? $0 + 1 : $0 }
    }

    /// Adds an event stream that is about to be read.
    func enter(_ stream: StreamPresence) {
        let reference = Weak<StreamPresence>()
        reference.object = stream
        let mayBegin = state.withLock { state in
            if !state.isShutDown { state.streams[ObjectIdentifier(stream)] = reference }
            return !state.isShutDown
        }
        if !mayBegin { stream.end() }
    }

    /// Removes an event stream that is being released.
    func leave(_ stream: ObjectIdentifier) { state.withLock { $0.streams[stream] = nil } }

    /// Adds the calls of a client that is derived from this client.
    func add(derived calls: RunningCalls) {
        let own = Weak<RunningCalls>()
        own.object = self
        let ancestors = state.withLock { $0.ancestors }.filter { $0.object != nil } + [own]
        calls.state.withLock { $0.ancestors = ancestors }
        let reference = Weak<RunningCalls>()
        reference.object = calls
        let areShutDown = ancestors.compactMap { $0.object?.register(reference) }
        if areShutDown.contains(true) { _ = calls.close(except: []) }
    }

    /// - Returns: Whether this client was shut down.
    private func register(_ derived: Weak<RunningCalls>) -> Bool {
        state.withLock { state in
            if state.derived.count >= state.largestCount {
                state.derived.removeAll { $0.object == nil }
                state.largestCount = max(16, state.derived.count * 2)
            }
            state.derived.append(derived)
            return state.isShutDown
        }
    }

    /// The calls of a client that is being shut down, and the outcome that is settled when these calls have returned.
    /// `wait` is nil if there are no calls.
    private typealias Closed = (calls: RunningCalls, wait: Settlement<Void>?)

    /// The calls inside which the current task runs.
    private static var own: Set<ObjectIdentifier> {
        let outer = sequence(first: CallScope.Position.current?.scope) { $0?.parent }
        return Set(outer.compactMap { $0 }.map(ObjectIdentifier.init))
    }

    /// Prevents further calls and ends the event streams, both for this client and for all clients that are derived
    /// from it.
    ///
    /// - Parameter own: Calls that are neither waited for nor ended.
    private func close(except own: Set<ObjectIdentifier>) -> [Closed] {
        let (wait, derived) = closeAlone(except: own)
        return [(self, wait)] + derived.compactMap(\.object).map { ($0, $0.closeAlone(except: own).wait) }
    }

    private func closeAlone(
        except own: Set<ObjectIdentifier>
    ) -> (wait: Settlement<Void>?, derived: [Weak<RunningCalls>]) {
        let (streams, derived, wait) = state.withLock { state in
            defer { state.streams = [:] }
            state.isShutDown = true
            let reset = Reset(calls: Set(state.calls.keys.filter { !own.contains($0) }))
            if !reset.calls.isEmpty { state.resets[reset.isDone.id] = reset }
            return (state.streams, state.derived, reset.calls.isEmpty ? nil : reset.isDone)
        }
        for stream in streams.values { stream.object?.end() }
        return (wait, derived)
    }

    private func endAll(except own: Set<ObjectIdentifier>) {
        let scopes = state.withLock { $0.calls.filter { !own.contains($0.key) }.map(\.value.scope) }
        for scope in scopes { scope.interrupt(.shutDown) }
    }

    /// Shuts down this client and its derived clients: ends their event streams, and waits for their other calls.
    ///
    /// - Parameters:
    ///   - limit: The longest time to wait for the calls. After this time, they are ended.
    ///   - clock: The clock that measures the limit.
    func shutDown(draining limit: Duration, on clock: NetworkClock) async {
        let own = RunningCalls.own
        let closed = close(except: own)
        let end: @Sendable () -> Void = { for (calls, _) in closed { calls.endAll(except: own) } }
        let giveUp: @Sendable () -> Void = { for (_, wait) in closed { wait?.settle(.success(())) } }
        // After an interruption, a call returns soon, unless code of the app ignores the interruption.
        let timers = [
            clock.schedule(at: clock.now() + limit, end),
            clock.schedule(at: clock.now() + limit + .seconds(1), giveUp),
        ]
        await withTaskCancellationHandler {
            for case (let calls, let wait?) in closed {
                await withCheckedContinuation { continuation in wait.observe { _ in continuation.resume() } }
                calls.state.withLock { $0.resets[wait.id] = nil }
            }
        } onCancel: {
            end()
            giveUp()
        }
        for timer in timers { timer.cancel() }
    }

    /// Ends every call except the calls inside which this method is called. Then waits until the ended calls have
    /// returned, and resets the participants. Calls that begin while the method waits are not ended.
    func reset(_ participants: [any ResetParticipant]) async {
        let own = RunningCalls.own
        let (reset, scopes) = state.withLock { state in
            let others = state.calls.filter { !own.contains($0.key) }
            let reset = Reset(calls: Set(others.keys))
            if !others.isEmpty { state.resets[reset.isDone.id] = reset }
            return (reset, others.map(\.value.scope))
        }
        for scope in scopes { scope.interrupt(.resetting) }
        if !scopes.isEmpty { await reset.isDone.settled() }
        state.withLock { $0.resets[reset.isDone.id] = nil }
        await self.reset(all: participants)
    }

    /// Resets the participants. If a reset of the participants is in progress, another reset follows it, because
    /// something may have been stored since the reset in progress began. All callers that wait for the reset in
    /// progress share the reset that follows. If a participant starts a reset while it is being reset, the new reset
    /// returns immediately, because it would wait for itself.
    private func reset(all participants: [any ResetParticipant]) async {
        guard !participants.isEmpty else { return }
        let mine = Settlement<Void>()
        let current = RunningCalls.current
        let (running, shared) = state.withLock { state -> (Settlement<Void>?, Settlement<Void>?) in
            guard let running = state.participants else {
                state.participants = mine
                return (nil, nil)
            }
            guard running.id != current?.id, !CacheRevalidations.isInside else { return (running, running) }
            if let next = state.next { return (running, next) }
            state.next = mine
            return (running, nil)
        }
        guard let running else { return await resetNow(participants, as: mine) }
        if let shared {
            if shared.id != running.id { await shared.settled() }
            return
        }
        reset(participants, as: mine, after: running)
        await mine.settled()
    }

    /// Resets the participants after another reset. The reset runs in a task of its own and outside of the caller's
    /// call, because the caller's wait may end earlier.
    private func reset(
        _ participants: [any ResetParticipant], as mine: Settlement<Void>, after running: Settlement<Void>
    ) {
        // A detached task inherits neither the call nor its deadline.
        Task.detached { [self] in
            await withCheckedContinuation { continuation in running.observe { _ in continuation.resume() } }
            await resetNow(participants, as: mine)
        }
    }

    private func resetNow(_ participants: [any ResetParticipant], as mine: Settlement<Void>) async {
        await RunningCalls.$current.withValue(mine) { for participant in participants { await participant.reset() } }
        state.withLock { state in
            state.participants = state.next
            state.next = nil
        }
        mine.settle(.success(()))
    }
}

extension Settlement where Value == Void {
    /// Waits for the outcome, even if the current task is cancelled. The wait ends early only if the enclosing call
    /// ends.
    fileprivate func settled() async {
        let scope = CallScope.current
        scope?.add(self)
        defer { scope?.remove(self) }
        await withCheckedContinuation { continuation in observe { _ in continuation.resume() } }
    }
}
