/// A gate that can pause an asynchronous operation. Pausing ends the operation at once. After the gate is
/// resumed, the operation restarts.
final class PauseGate: Sendable {
    private struct State: Sendable {
        /// The settlement that is settled when the work may resume. Nil if the work is not paused.
        var isResumed: Settlement<Void>?
        /// The scope of the work that is in progress.
        var work: CallScope?
        /// Whether a pause ended the work.
        var wasInterrupted = false
        /// Whether the work is in progress, and cannot be paused any more.
        var isClosed = false
    }

    private let state = Locked(State())

    /// Whether the work is paused.
    var isPaused: Bool { state.withLock { $0.isResumed != nil } }

    /// Ends the work that is in progress, and prevents new work from beginning.
    ///
    /// - Returns: False if the work is paused already, or cannot be paused any more.
    func pause() -> Bool {
        let (isNew, work) = state.withLock { state -> (Bool, CallScope?) in
            guard state.isResumed == nil, !state.isClosed else { return (false, nil) }
            state.isResumed = Settlement()
            return (true, state.work)
        }
        work?.interrupt(.paused)
        return isNew
    }

    /// Prevents the work in progress from being paused, unless it is paused already.
    ///
    /// - Throws: ``Interruption/paused``.
    func close() throws {
        state.withLock { $0.isClosed = $0.isResumed == nil }
        try CallScope.check()
    }

    /// Allows the work to resume.
    ///
    /// - Returns: False if the work is not paused.
    func resume() -> Bool {
        let isResumed = state.withLock { state in
            defer { state.isResumed = nil }
            return state.isResumed
        }
        return isResumed?.settle(.success(())) ?? false
    }

    /// Whether a pause ended the work, and ``takeInterruption()`` has not been called since.
    var wasInterrupted: Bool { state.withLock { $0.wasInterrupted } }

    /// Returns whether a pause ended the work, and resets this information. Call this method once, after the work has
    /// ended.
    func takeInterruption() -> Bool {
        state.withLock { state in
            defer { state.wasInterrupted = false }
            return state.wasInterrupted
        }
    }

    /// Waits until the work may resume. Returns at once if the work is not paused.
    func resumed() async throws {
        try await state.withLock { $0.isResumed }?.value()
    }

    /// Performs work that `gate` can pause. Without a gate, the work cannot be paused.
    static func passing<Value: Sendable>(_ gate: PauseGate?, _ work: () async throws -> Value) async throws -> Value {
        guard let gate else { return try await work() }
        let outer = CallScope.current
        let scope = CallScope()
        scope.admission = outer?.admission
        let isPaused = gate.state.withLock { state in
            (state.work, state.isClosed) = (scope, false)
            return state.isResumed != nil
        }
        if isPaused { scope.interrupt(.paused) }
        outer?.add(scope)
        defer {
            scope.detach()
            outer?.remove(scope)
            gate.state.withLock { $0.work = nil }
        }
        return try await CallScope.Position.$current.withValue(.inside(scope)) {
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
