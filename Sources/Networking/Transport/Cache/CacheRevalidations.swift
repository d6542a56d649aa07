/// The validations of stored responses that have been used already, without a caller that waits.
final class CacheRevalidations: ResetParticipant {
    /// Whether the current task is such a validation.
    @TaskLocal private static var isCurrent = false

    private let tasks = Locked<[String: Task<Void, Never>]>([:])

    /// Starts a validation, unless one with the same key is in progress.
    ///
    /// - Parameter prepare: Returns the validation. It is called before this method returns, if the validation starts.
    func start(_ key: String, _ prepare: () -> @Sendable () async -> Void) {
        tasks.withLock { running in
            guard running[key] == nil else { return }
            let validate = prepare()
            running[key] = Task.detached { [tasks] in
                await CacheRevalidations.$isCurrent.withValue(true) { await validate() }
                tasks.withLock { $0[key] = nil }
            }
        }
    }

    /// Cancels all validations, and waits for their ends. A validation that causes the reset does not wait, because it
    /// would wait for itself.
    func reset() async {
        let running = tasks.withLock { Array($0.values) }
        for task in running { task.cancel() }
        guard !CacheRevalidations.isCurrent else { return }
        for task in running { await task.value }
    }
}
