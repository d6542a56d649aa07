/// An outcome that is set once. The first outcome wins, and every observer receives it.
///
/// This is the library's only way to wait. A caller of ``value()`` stops waiting when its task is cancelled or its
/// ``CallScope`` ends. The interruption is then the outcome: a later ``settle(_:)`` returns false, so that the real
/// outcome can be passed to another waiter. Copies share the outcome.
package struct Settlement<Value: Sendable>: Endable {
    package typealias Outcome = Result<Value, any Error>
    package typealias Observer = @Sendable (Outcome) -> Void

    private enum State: Sendable {
        case pending
        /// A single task waits. Its continuation needs no closure, and resuming the continuation runs no other code.
        case awaited(UnsafeContinuation<Value, any Error>)
        case observed(Few<Observer>)
        /// Observers are being notified. Observers that are added now are notified after them, on the same thread.
        case notifying(Outcome, late: Few<Observer>)
        case settled(Outcome)

        var outcome: Outcome? {
            switch self {
            case .pending, .awaited, .observed: nil
            case .notifying(let outcome, _), .settled(let outcome): outcome
            }
        }
    }

    private let state = Locked(State.pending)

    package init() {}

    package var id: ObjectIdentifier { state.id }

    /// The outcome; nil until it is set.
    package var outcome: Outcome? { state.withLock { $0.outcome } }

    /// Sets the outcome, unless it is set already. Observers are notified in the order in which they were added.
    ///
    /// - Returns: Whether this call has set the outcome.
    @discardableResult
    package func settle(_ outcome: Outcome) -> Bool {
        let before = state.withLock { state in
            let before = state
            switch before {
            case .pending, .awaited: state = .settled(outcome)
            case .observed: state = .notifying(outcome, late: Few())
            case .notifying, .settled: break
            }
            return before
        }
        switch before {
        case .notifying, .settled:
            return false
        case .pending:
            return true
        case .awaited(let continuation):
            continuation.resume(with: outcome)
            return true
        case .observed(let observers):
            observers.forEach { $0(outcome) }
            while let late = lateObservers() { late.forEach { $0(outcome) } }
            return true
        }
    }

    /// Returns the observers that were added while others were notified. Returns nil if there are none; from then on,
    /// a new observer is notified at once.
    private func lateObservers() -> Few<Observer>? {
        state.withLock { state in
            guard case .notifying(let outcome, let late) = state else { return nil }
            state = late.isEmpty ? .settled(outcome) : .notifying(outcome, late: Few())
            return late.isEmpty ? nil : late
        }
    }

    /// Calls `observer` exactly once with the outcome: immediately if the outcome is set, otherwise on the thread that
    /// sets it.
    package func observe(_ observer: @escaping Observer) {
        let outcome: Outcome? = state.withLock { state in
            switch state {
            case .settled(let outcome):
                return outcome
            case .pending:
                state = .observed(Few(observer))
            case .awaited(let continuation):
                var observers = Few { continuation.resume(with: $0) } as Few<Observer>
                observers.append(observer)
                state = .observed(observers)
            case .observed(var observers):
                state = .pending  // so that the list has one owner, and is not copied
                observers.append(observer)
                state = .observed(observers)
            case .notifying(let outcome, var late):
                state = .notifying(outcome, late: Few())
                late.append(observer)
                state = .notifying(outcome, late: late)
            }
            return nil
        }
        if let outcome { observer(outcome) }
    }

    package func end(with interruption: Interruption) {
        settle(.failure(interruption))
    }

    /// Resumes a continuation exactly once with the outcome: immediately if the outcome is set, otherwise on the thread
    /// that sets it.
    private func resume(_ continuation: UnsafeContinuation<Value, any Error>) {
        let isWaiting = state.withLock { state in
            guard case .pending = state else { return false }
            state = .awaited(continuation)
            return true
        }
        if !isWaiting { observe { continuation.resume(with: $0) } }
    }

    /// Waits for the outcome. If the task is cancelled or its call ends, the outcome is an ``Interruption``.
    package func value() async throws -> Value {
        let scope = CallScope.current
        scope?.add(self)
        defer {
            scope?.remove(self)
            // Makes everything that happened before `settle` visible to the caller. The runtime does so, too, but the
            // thread sanitizer does not notice this if the continuation is resumed before the task is suspended.
            state.withLock { _ in }
        }
        return try await withTaskCancellationHandler {
            // An unsafe continuation is sufficient, because `settle` resumes it exactly once: the first outcome wins,
            // and every observer receives it.
            try await withUnsafeThrowingContinuation { resume($0) }
        } onCancel: {
            end(with: .cancelled)
        }
    }
}

extension Settlement {
    /// Waits for the outcome, like ``value()``. If the time limit passes first, the closure `late` provides the
    /// outcome.
    ///
    /// - Parameter limit: The longest time to wait; nil for no limit.
    package func value(
        within limit: Duration?, on clock: NetworkClock = .continuous,
        else late: @escaping @Sendable (_ limit: Duration) -> Outcome
    ) async throws -> Value {
        let timer = limit.map { limit in clock.schedule(at: clock.now() + limit) { settle(late(limit)) } }
        defer { timer?.cancel() }
        return try await value()
    }
}

/// Performs your own asynchronous work, and waits until it completes or the surrounding call ends.
///
/// Use this function in adapters, policies, handlers and transports that wait. A call's total deadline, a reset and
/// `cancelAll` end the waits of the library, but they do not cancel your tasks.
///
/// ```swift
/// func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
///     try await withCallCancellation { await app.becomesActive() }
///     return AdmissionPermit()
/// }
/// ```
///
/// The work runs in a separate task, which inherits priority and task-local values. That task is cancelled if the wait
/// ends early, and its result is then dropped. Outside a call, the wait ends early only if the surrounding task is
/// cancelled. To wait for a duration, use `NetworkClock.wait(for:)`.
///
/// - Throws: The error of the work. If the call has ended, the function throws an error of the library that contains
///   the reason. Rethrow that error.
public func withCallCancellation<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let outcome = Settlement<Value>()
    let task = Task {
        do { outcome.settle(.success(try await work())) } catch { outcome.settle(.failure(error)) }
    }
    defer { task.cancel() }
    return try await outcome.value()
}

/// The reason why the library ended a wait early.
package enum Interruption: Error, Equatable {
    /// The task, or the call, was cancelled.
    case cancelled
    /// The total deadline of the call passed.
    case deadlineExceeded
    /// The work was paused. It restarts when it is resumed.
    case paused
    /// The service is being reset.
    case resetting
    /// The client was shut down.
    case shutDown
}

/// A wait that can be ended from outside. Its identity is the identity of the underlying object.
package protocol Endable: Identifiable<ObjectIdentifier>, Sendable {
    func end(with interruption: Interruption)
}
