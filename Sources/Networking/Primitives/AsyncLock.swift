/// A lock for asynchronous operations. One task at a time runs its operation. The other tasks wait in the order of
/// their arrival.
struct AsyncLock: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [Settlement<Void>] = []
    }

    private let state = Locked(State())

    /// Waits until no other operation runs, and then runs `operation`.
    ///
    /// - Throws: The error of the operation, or an ``Interruption`` if the wait ends because the task is cancelled.
    func withLock<Value: Sendable>(_ operation: () async throws -> Value) async throws -> Value {
        let isNext = Settlement<Void>()
        let isFree = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return true
            }
            state.waiting.append(isNext)
            return false
        }
        if !isFree { try await isNext.value() }
        defer { leave() }
        return try await operation()
    }

    private func leave() {
        while let next = nextWaiter() {
            if next.settle(.success(())) { return }  // a waiter that was cancelled is skipped
        }
    }

    private func nextWaiter() -> Settlement<Void>? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
