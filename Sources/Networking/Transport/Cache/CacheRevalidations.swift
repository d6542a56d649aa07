/// The background validations of stored responses. The caller has already received the stored response and does not
/// wait for the validation. At most one validation runs for each key.
final class CacheRevalidations: ResetParticipant {
    private struct State: Sendable {
        var claimed: Set<String> = []
        var tasks: [String: Task<Void, Never>] = [:]
    }

    /// The key of the validation that the current task belongs to; nil if it belongs to none.
    @TaskLocal private static var current: String?

    /// Whether the current task belongs to a validation. If a validation causes a reset, this reset does not wait for
    /// validations and other resets, because they may wait for this validation.
    static var isInside: Bool { current != nil }

    private let state = Locked(State())

    /// Claims a key for a validation. Returns false if a validation with this key is already claimed or in progress.
    func claim(_ key: String) -> Bool {
        state.withLock { $0.claimed.insert(key).inserted }
    }

    /// Starts a validation whose key has been claimed.
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

    /// Waits until the validations have ended.
    func reset() async {
        guard !CacheRevalidations.isInside else { return }
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }
}
