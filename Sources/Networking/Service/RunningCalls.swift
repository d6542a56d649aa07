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
    }

    /// The reset of the participants in which the current task runs.
    @TaskLocal private static var current: Settlement<Void>?

    private let state = Locked(State())

    /// The number of calls in progress.
    var count: Int { state.withLock { $0.calls.count } }

    /// Adds a call that begins. The calls of a token refresh are not added, because a refresh continues during a reset.
    func enter(_ scope: CallScope, _ endpoint: any Endpoint) {
        guard !scope.isPartOfRefresh else { return }
        state.withLock { $0.calls[ObjectIdentifier(scope)] = Call(scope: scope, endpoint: endpoint) }
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

    /// Ends every call except the calls inside which this method is called. Then waits until the ended calls have
    /// returned, and resets the participants. Calls that begin while the method waits are not ended.
    func reset(_ participants: [any ResetParticipant]) async {
        let outer = sequence(first: CallScope.Position.current?.scope) { $0?.parent }
        let own = Set(outer.compactMap { $0 }.map(ObjectIdentifier.init))
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

    /// Resets the participants, or waits for a reset of the participants that is already in progress. If a participant
    /// starts a reset while it is being reset, the new reset returns immediately, because it would wait for itself.
    private func reset(all participants: [any ResetParticipant]) async {
        guard !participants.isEmpty else { return }
        let mine = Settlement<Void>()
        let running = state.withLock { state in
            defer { state.participants = state.participants ?? mine }
            return state.participants
        }
        if let running {
            let isInside = running.id == RunningCalls.current?.id || CacheRevalidations.isInside
            if !isInside { await running.settled() }
            return
        }
        await RunningCalls.$current.withValue(mine) { for participant in participants { await participant.reset() } }
        state.withLock { $0.participants = nil }
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
