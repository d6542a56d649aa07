/// An object that identifies a token refresh. A task that the refresh started belongs to the refresh until the refresh
/// ends. If the task continues after that, it no longer belongs to the refresh.
final class RefreshMark: Sendable {
    /// The failure of a call that the refresh made.
    struct Failure: Sendable {
        /// The error with which the call ended.
        let error: any Error
        /// The error of the call before the service mapped it to an error of the app.
        let cause: any Error
    }

    private struct State: Sendable {
        var isOpen = true
        var failure: Failure?
    }

    private let state = Locked(State())

    /// Whether the refresh is in progress.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// The most recent failure of a call of the refresh.
    var failure: Failure? { state.withLock { $0.failure } }

    /// Stores the failure of a call of the refresh.
    func note(_ failure: Failure) { state.withLock { $0.failure = failure } }

    /// Runs an operation as part of the refresh. The refresh ends when the operation returns.
    func run<Value: Sendable>(_ operation: @Sendable () async throws -> Value) async throws -> Value {
        defer { state.withLock { $0.isOpen = false } }
        return try await CallScope.Position.$current.withValue(.refreshing(self), operation: operation)
    }
}
