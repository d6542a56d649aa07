import Foundation

/// Reads large bodies on threads of their own.
///
/// A decoder works until it is done, and cannot be interrupted. On the threads that all tasks share, a few large bodies
/// would stop every other task. Here, the call waits for the value and not for the thread, so a cancellation or the
/// deadline ends the call at once. The task that decodes is then cancelled, too.
enum LargeBody {
    /// The size of the largest body that is read directly, without a thread of its own: 16 KiB. A JSON decoder needs a
    /// few milliseconds for a body of this size, but many times as long for a deeply nested ``JSONValue`` inside a type
    /// of the app.
    private static let size = 16 << 10

    /// Whether a body is read by ``reading(_:_:)``.
    static func isLarge(_ body: Data) -> Bool { body.count > size }

    /// Reads a large body in a task of its own, with the task-local values of the caller.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - maximumCount: The maximum number of values in a JSON text.
    ///   - read: A closure that reads the body.
    /// - Throws: The error of the closure, or an ``Interruption``.
    static func reading<Value: Sendable>(
        _ body: Data, upTo maximumCount: Int = JSONValue.standardCount,
        _ read: @escaping @Sendable (Data) throws -> Value
    ) async throws -> Value {
        let end = Settlement<Value>()
        let operation: @Sendable () async -> Void = {
            _ = end.settle(Result { try JSONValue.$work.withValue(JSONValue.Work(maximumCount)) { try read(body) } })
        }
        let work =
            if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
                Task(executorPreference: Threads.shared, operation: operation)
            } else {
                Task(operation: operation)
            }
        defer { work.cancel() }
        return try await end.value()
    }

    /// An executor whose threads do not belong to the pool of the tasks.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class Threads: TaskExecutor {
        static let shared = Threads()

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // Each serial queue gets its own thread, up to a few hundred threads. A concurrent queue has only as many
            // threads as the processor has cores, and file reads use these threads, too.
            DispatchQueue(label: "networking.large-body", qos: .userInitiated).async { [self] in
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
}

extension HTTPResponse {
    /// The maximum number of values in the JSON of the response: 2,000,000 for each 32 MiB that the response may have.
    var maximumValues: Int {
        guard let size = request.parts.transfer?.rules?.maximumSize else { return JSONValue.standardCount }
        return max(size >> 25, 1) * JSONValue.standardCount
    }
}
