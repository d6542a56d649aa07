/// Lets one task at a time run an operation that waits; the others take their turns in order.
struct AsyncLock: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [Settlement<Void>] = []
    }

    private let state = Locked(State())

    /// Waits for the turn, and runs the operation.
    ///
    /// - Throws: What the operation throws; an ``Interruption`` when the task is cancelled while it waits.
    func withLock<Value: Sendable>(_ operation: () async throws -> Value) async throws -> Value {
        let turn = Settlement<Void>()
        let isFree = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return true
            }
            state.waiting.append(turn)
            return false
        }
        if !isFree { try await turn.value() }
        defer { leave() }
        return try await operation()
    }

    private func leave() {
        while let next = nextWaiter() {
            if next.settle(.success(())) { return }  // one that has given up takes no turn
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
