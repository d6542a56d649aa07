/// Lets one task at a time run an operation that waits. The others wait, in the order in which they came.
struct AsyncLock: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [Settlement<Void>] = []
    }

    private let state = Locked(State())

    /// Waits until no other operation runs, and runs this one.
    ///
    /// - Throws: What the operation throws; an ``Interruption`` when the task is cancelled while it waits.
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
            if next.settle(.success(())) { return }  // one that was cancelled is skipped
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
