import Networking

extension TaskSystem {
    /// A task of the library, facts about the task that are recorded independently of the library, and what has been
    /// observed of the task.
    final class Node: @unchecked Sendable {  // because one thread uses it
        let task: RequestTask<Int>
        /// Whether the task is a call, not a derived task.
        let isCall: Bool
        /// The tasks from which this task is derived.
        var sources: [Int] = []
        /// The task that the closure of `flatMap` returns.
        var next: Int?
        /// Whether the closure has returned ``next``.
        var isFollowing = false
        /// Whether the closure has failed: ``next`` did not exist yet, or waited for this task, in which case both
        /// tasks would wait forever.
        var hasFailed = false
        /// Whether ``next`` had ended, or was cancelled, when the closure returned it. If so, the task takes over the
        /// outcome of ``next``, not the outcome of a task that ``next`` followed.
        var isFollowingEnded = false
        var kind: UInt8 = 0
        /// Whether the task was cancelled, directly or because nothing was interested in it.
        var isCancelled = false
        /// Whether the call was asked to end.
        var isStopped = false
        var observers = 0
        var joined = 0
        /// The attempts of a call.
        var attempts = 0
        /// The attempts of which an observer of the track has been notified, as the numbers of the calls.
        var track: [Int] = []
        /// The outcomes of which the observers of the task have been notified.
        var heard: [String] = []
        var outcome: String?

        init(_ task: RequestTask<Int>, isCall: Bool) {
            (self.task, self.isCall) = (task, isCall)
        }

        // The observable state of the task.

        var isOver: Bool { task.result != nil }
        var hasValue: Bool { if case .success = task.result { true } else { false } }
        var found: String? { task.result.map(TaskSystem.name) }
        var isFoundCancelled: Bool { task.isCancelled }
        var isRunning: Bool { if case .running = task.state { true } else { false } }
        /// The number of bytes that the task has received.
        var received: Int64 { task.track.meter.current.download.completed }
        /// The path of the endpoint in the task's report.
        var report: String? { task.track.report?.endpoint?.path.description }

        func cancel() -> Bool { task.cancel() }
    }
}
