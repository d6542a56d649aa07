/// Runs the jobs of one task when the explorer calls ``run()``, on the thread of the explorer.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class ManualExecutor: TaskExecutor, @unchecked Sendable {  // because only one thread at a time uses it
    private var jobs: [UnownedJob] = []

    /// Whether the task can continue.
    var isReady: Bool { !jobs.isEmpty }

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    /// Runs the task to its next suspension point.
    func run() {
        if isReady { jobs.removeFirst().runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
