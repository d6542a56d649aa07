/// The callers that wait for the outcome of a task. When a caller stops waiting, its wait is removed.
struct TaskWaits<Value: Sendable>: Sendable {
    typealias Outcome = Settlement<Response<Value>>

    private struct State: Sendable {
        var waits: [ObjectIdentifier: Outcome] = [:]
        /// Whether the outcome of the task will settle the waits.
        var isObserving = false
    }

    private let state = Locked(State())

    /// The number of callers that wait.
    var count: Int { state.withLock { $0.waits.count } }

    /// Waits for the outcome of a task.
    ///
    /// - Throws: The error of the task, or an ``Interruption`` if the wait ends early.
    func response(of task: Outcome) async throws -> Response<Value> {
        let wait = Outcome()
        let isFirst = state.withLock { state in
            state.waits[wait.id] = wait
            defer { state.isObserving = true }
            return !state.isObserving
        }
        defer { state.withLock { $0.waits[wait.id] = nil } }
        if isFirst {
            task.observe { [state] outcome in
                let waits = state.withLock { state in
                    defer { state.waits = [:] }
                    return state.waits
                }
                for wait in waits.values { wait.settle(outcome) }
            }
        }
        // The task may have settled before the wait was added.
        if let outcome = task.outcome { wait.settle(outcome) }
        return try await wait.value()
    }
}
