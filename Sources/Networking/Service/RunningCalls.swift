/// The calls of a service that are under way, so that they can be ended together.
final class RunningCalls: Sendable {
    private struct Call: Sendable {
        let scope: CallScope
        let endpoint: any Endpoint
    }

    /// A reset that waits for every call but those that it was called from.
    private struct Reset: Sendable {
        let exempt: Set<ObjectIdentifier>
        let isDone: Settlement<Void>
    }

    private struct State: Sendable {
        var calls: [ObjectIdentifier: Call] = [:]
        var resets: [ObjectIdentifier: Reset] = [:]
        /// Settled when the participants have forgotten; nil where none is at it.
        var forgetting: Settlement<Void>?

        func isWaiting(_ reset: Reset) -> Bool { calls.keys.contains { !reset.exempt.contains($0) } }
    }

    private let state = Locked(State())

    /// How many calls are under way.
    var count: Int { state.withLock { $0.calls.count } }

    /// A call begins. While the service is being reset it is ended at once. A refresh outlives a reset, and so do its calls.
    func enter(_ scope: CallScope, _ endpoint: any Endpoint) {
        guard !scope.isPartOfRefresh else { return }
        let isResetting = state.withLock { state in
            state.calls[ObjectIdentifier(scope)] = Call(scope: scope, endpoint: endpoint)
            return !state.resets.isEmpty
        }
        if isResetting { scope.end(.resetting) }
    }

    /// A call has returned.
    func leave(_ scope: CallScope) {
        let done: [Settlement<Void>] = state.withLock { state in
            state.calls[ObjectIdentifier(scope)] = nil
            guard !state.resets.isEmpty else { return [] }
            return state.resets.values.filter { !state.isWaiting($0) }.map(\.isDone)
        }
        for isDone in done { isDone.settle(.success(())) }
    }

    /// Cancels the calls whose endpoint the closure names.
    ///
    /// - Returns: How many it made end.
    func cancel(where isMeant: (any Endpoint) -> Bool) -> Int {
        let calls = state.withLock { Array($0.calls.values) }
        return calls.reduce(0) { isMeant($1.endpoint) && $1.scope.end(.cancelled) ? $0 + 1 : $0 }
    }

    /// Ends every call besides those that it is called from, and waits until they have returned; then has the participants forget.
    /// Until all of that is done, calls that begin are ended.
    func reset(_ participants: [any ResetParticipant]) async {
        let innermost = CallPosition.current?.scope
        let own = Set(sequence(first: innermost) { $0?.parent }.compactMap { $0 }.map(ObjectIdentifier.init))
        let reset = Reset(exempt: own, isDone: Settlement())
        let (others, isWaiting) = state.withLock { state in
            state.resets[reset.isDone.id] = reset
            return (state.calls.filter { !own.contains($0.key) }.map(\.value.scope), state.isWaiting(reset))
        }
        for scope in others { scope.end(.resetting) }
        if isWaiting { await reset.isDone.settled() }
        await forget(participants)
        state.withLock { $0.resets[reset.isDone.id] = nil }
    }

    /// Has the participants forget, unless another reset is at it: then waits for that.
    private func forget(_ participants: [any ResetParticipant]) async {
        guard !participants.isEmpty else { return }
        let mine = Settlement<Void>()
        let running = state.withLock { state in
            defer { state.forgetting = state.forgetting ?? mine }
            return state.forgetting
        }
        if let running { return await running.settled() }
        for participant in participants { await participant.reset() }
        state.withLock { $0.forgetting = nil }
        mine.settle(.success(()))
    }
}

extension Settlement where Value == Void {
    /// Waits for the outcome, also in a cancelled task; only the end of the call that it is made in ends the wait.
    fileprivate func settled() async {
        let scope = CallScope.current
        scope?.add(self)
        defer { scope?.remove(self) }
        await withCheckedContinuation { continuation in
            observe { _ in continuation.resume() }
        }
    }
}
