/// The validations of stored responses that have been used already, without a caller that waits. At most one runs for
/// each key.
final class CacheRevalidations: ResetParticipant {
    private struct State: Sendable {
        var claimed: Set<String> = []
        var tasks: [String: Task<Void, Never>] = [:]
    }

    /// The key of the validation that the current task belongs to; nil if it belongs to none.
    @TaskLocal private static var current: String?

    /// Whether the current task belongs to a validation. A reset that it causes waits for no validation and for no
    /// other reset, because they may wait for it.
    static var isInside: Bool { current != nil }

    private let state = Locked(State())

    /// Returns whether a validation may start: none with the same key is in progress.
    func claim(_ key: String) -> Bool {
        state.withLock { $0.claimed.insert(key).inserted }
    }

    /// Starts a validation, after its key was claimed.
    func start(_ key: String, _ validate: @escaping @Sendable () async -> Void) {
        state.withLock { running in
            running.tasks[key] = Task.detached { [state] in
                await CacheRevalidations.$current.withValue(key) { await validate() }
                state.withLock { state in
                    state.tasks[key] = nil
                    state.claimed.remove(key)
                }
            }
        }
    }

    /// Cancels all validations except the one that calls this method.
    func cancel() {
        let running = state.withLock { $0.tasks }
        for (key, task) in running where key != CacheRevalidations.current { task.cancel() }
    }

    /// Waits for the ends of the validations.
    func reset() async {
        guard !CacheRevalidations.isInside else { return }
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }
}
