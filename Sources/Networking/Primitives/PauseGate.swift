/// Lets somebody pause a piece of work, which ends at once and is begun again later.
final class PauseGate: Sendable {
    private struct State: Sendable {
        /// Settled when the work may go on; nil unless it is paused.
        var isResumed: Settlement<Void>?
        /// The waits of the work that is under way.
        var work: CallScope?
        /// The work was ended by a pause.
        var wasInterrupted = false
    }

    private let state = Locked(State())

    /// Whether the work is paused.
    var isPaused: Bool { state.withLock { $0.isResumed != nil } }

    /// Ends the work that is under way, and lets none begin.
    ///
    /// - Returns: False if it is paused already.
    func pause() -> Bool {
        let (isNew, work) = state.withLock { state -> (Bool, CallScope?) in
            guard state.isResumed == nil else { return (false, nil) }
            state.isResumed = Settlement()
            return (true, state.work)
        }
        work?.interrupt(.paused)
        return isNew
    }

    /// Lets the work go on.
    ///
    /// - Returns: False if it is not paused.
    func resume() -> Bool {
        let isResumed = state.withLock { state in
            defer { state.isResumed = nil }
            return state.isResumed
        }
        return isResumed?.settle(.success(())) ?? false
    }

    /// Whether the work was ended by a pause; asked once after it has ended.
    func takeInterruption() -> Bool {
        state.withLock { state in
            defer { state.wasInterrupted = false }
            return state.wasInterrupted
        }
    }

    /// Waits until the work may go on; returns at once where it may.
    func resumed() async throws {
        try await state.withLock { $0.isResumed }?.value()
    }

    /// Does a piece of work that may be paused; without a gate, just does it.
    static func passing<Value: Sendable>(_ gate: PauseGate?, _ work: () async throws -> Value) async throws -> Value {
        guard let gate else { return try await work() }
        let outer = CallScope.current
        let scope = CallScope()
        scope.permit = outer?.permit
        let isPaused = gate.state.withLock { state in
            state.work = scope
            return state.isResumed != nil
        }
        if isPaused { scope.interrupt(.paused) }
        outer?.add(scope)
        defer {
            scope.detach()
            outer?.remove(scope)
            gate.state.withLock { $0.work = nil }
        }
        return try await CallPosition.$current.withValue(.inside(scope)) {
            do {
                try CallScope.check()
                return try await work()
            } catch {
                if scope.wasPaused { gate.state.withLock { $0.wasInterrupted = true } }
                throw error
            }
        }
    }
}
