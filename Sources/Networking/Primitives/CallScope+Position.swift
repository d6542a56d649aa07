extension CallScope {
    /// The scope of the call that the current task runs in.
    static var current: CallScope? { Position.current?.owner }

    /// The relation of a task to the calls of the library.
    enum Position: Sendable {
        /// The task runs in a call. When the call ends, the waits of the task end.
        case inside(CallScope)
        /// The task runs in a transfer that a call has started. The transfer continues when that call ends.
        case beside(CallScope)
        /// The task runs in a token refresh.
        case refreshing(RefreshMark)

        /// The position of the current task; nil outside calls and refreshes.
        @TaskLocal static var current: Position?

        /// The call that started the work of the task.
        var scope: CallScope? {
            switch self {
            case .inside(let scope), .beside(let scope): scope
            case .refreshing: nil
            }
        }

        /// The call that the task runs in. The end of this call also ends the waits of the task.
        var owner: CallScope? { if case .inside(let scope) = self { scope } else { nil } }

        /// The token refresh to which the task belongs, directly or through one of the calls of the refresh.
        var refresh: RefreshMark? { if case .refreshing(let mark) = self { mark } else { scope?.refresh } }

        /// Whether the task runs under the permit of a call. If so, the calls that the task makes need no further permit.
        var hasPermit: Bool {
            switch self {
            case .inside(let scope): scope.hasPermit
            case .beside: true
            case .refreshing: false
            }
        }

        /// Whether the call of the task has returned. A task that still runs after that no longer belongs to the call.
        var isOver: Bool { owner?.isOver ?? false }
    }
}

/// An object that identifies a token refresh. The tasks of the refresh belong to the refresh until it has ended. Tasks
/// that continue afterwards do not belong to the refresh.
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
