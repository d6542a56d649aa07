import Dispatch

/// Runs an asynchronous closure, and blocks the thread until the closure has returned. The thread must not be one of
/// the threads that run tasks.
func waiting<Value: Sendable>(for body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let result = WaitResult<Value>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        do { result.value = .success(try await body()) } catch { result.value = .failure(error) }
        done.signal()
    }
    done.wait()
    guard let value = result.value else { throw FuzzViolation(rule: "the call did not end") }
    return try value.get()
}

/// The result of a task.
private final class WaitResult<Value: Sendable>: @unchecked Sendable {  // because the semaphore orders write and read
    var value: Result<Value, any Error>?
}
