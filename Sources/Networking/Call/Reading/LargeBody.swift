import Foundation

/// Reads large bodies on threads of their own.
///
/// A decoder works until it is done, and cannot be interrupted. On the threads that all tasks share, a few large bodies
/// would stop every other task. Here, the call waits for the value and not for the thread, so that it ends at once when
/// it is cancelled, or at its deadline. The thread then ends its work for nothing.
enum LargeBody {
    /// The size of the largest body that is read at once: 1 MiB. A JSON decoder needs a few hundredths of a second.
    static let size = 1 << 20

    /// Reads a body in a task of its own, with the task-local values of the caller.
    ///
    /// - Throws: The error of the closure, or an ``Interruption``.
    static func read<Value: Sendable>(_ read: @escaping @Sendable () throws -> Value) async throws -> Value {
        let end = Settlement<Value>()
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            Task(executorPreference: Threads.shared) { end.settle(Result { try read() }) }
        } else {
            Task { end.settle(Result { try read() }) }
        }
        return try await end.value()
    }

    /// An executor whose threads do not belong to the pool of the tasks.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class Threads: TaskExecutor {
        static let shared = Threads()
        private let queue = DispatchQueue(
            label: "networking.large-body", attributes: .concurrent, target: .global(qos: .userInitiated))

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
