/// Where a task stands in relation to the calls of the library.
enum CallPosition: Sendable {
    /// In a call, whose end ends the task's waits.
    case inside(CallScope)
    /// In a transfer that a call has started, and that the end of that call does not end.
    case beside(CallScope)
    /// In a token refresh.
    case refreshing(RefreshMark)

    /// The position of the current task; nil outside of calls and refreshes.
    @TaskLocal static var current: CallPosition?

    /// The call that made the task do what it does.
    var scope: CallScope? {
        switch self {
        case .inside(let scope), .beside(let scope): scope
        case .refreshing: nil
        }
    }

    /// The call whose end ends the task's waits.
    var owner: CallScope? { if case .inside(let scope) = self { scope } else { nil } }

    /// The refresh that the task is part of, directly or by one of the refresh's calls.
    var refresh: RefreshMark? { if case .refreshing(let mark) = self { mark } else { scope?.refresh } }

    /// Whether calls that the task makes need no permit: it runs under one that others wait for.
    var hasPermit: Bool {
        switch self {
        case .inside(let scope): scope.hasPermit
        case .beside: true
        case .refreshing: false
        }
    }

    /// A task that a finished call has left running stands outside of it.
    var isOver: Bool { owner?.isOver ?? false }
}

/// Marks a token refresh, and what its task does until it has ended: tasks that it leaves running are no part of it.
final class RefreshMark: Sendable {
    /// How a call of the refresh has failed.
    struct Failure: Sendable {
        /// What the call ended with.
        let error: any Error
        /// What it was before the service mapped it.
        let cause: any Error
    }

    private struct State: Sendable {
        var isOpen = true
        var failure: Failure?
    }

    private let state = Locked(State())

    /// Whether the refresh is running.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// The failure of the call that failed last.
    var failure: Failure? { state.withLock { $0.failure } }

    /// A call of the refresh has failed.
    func note(_ failure: Failure) { state.withLock { $0.failure = failure } }

    /// Runs an operation as a refresh.
    func run<Value: Sendable>(_ operation: @Sendable () async throws -> Value) async throws -> Value {
        defer { state.withLock { $0.isOpen = false } }
        return try await CallPosition.$current.withValue(.refreshing(self), operation: operation)
    }
}

extension CallScope {
    /// The scope of the call that the current task runs in.
    static var current: CallScope? { CallPosition.current?.owner }
}
