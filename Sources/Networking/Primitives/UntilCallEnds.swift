/// Waits for something of your own as the library waits: until it is there, or the call ends in which this stands. Adapters, policies, handlers and
/// transports that wait use it, since a call's total deadline, a reset and `cancelAll` end the library's waits and cancel no task of yours.
///
/// ```swift
/// func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionTicket {
///     try await untilCallEnds { await app.becomesActive() }
///     return AdmissionTicket()
/// }
/// ```
///
/// The work runs in a task of its own, which inherits priority and task-local values, and is cancelled when the wait ends early; what it returns then is
/// dropped. Outside of a call, only cancelling the surrounding task ends the wait. For a time, `NetworkClock.wait(for:)` does the same.
///
/// - Throws: What the work throws; where the call ended, the library's word for why: let it pass.
public func untilCallEnds<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let outcome = Settlement<Value>()
    let task = Task {
        do { outcome.settle(.success(try await work())) } catch { outcome.settle(.failure(error)) }
    }
    defer { task.cancel() }
    return try await outcome.value()
}
