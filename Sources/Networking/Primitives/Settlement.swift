/// An outcome that is set once: the first of several wins, and every observer gets that one.
///
/// This is the library's only way to wait. A caller of ``value()`` stops waiting when its task is cancelled or its
/// ``CallScope`` ends. That *settles*, too: ``settle(_:)`` returns false if the real outcome comes later, so that it
/// can be passed to another waiter. Copies are the same settlement.
struct Settlement<Value: Sendable>: Endable {
    typealias Outcome = Result<Value, any Error>
    typealias Observer = @Sendable (Outcome) -> Void

    private enum State: Sendable {
        case pending
        case observed(Few<Observer>)
        /// Observers are being notified; those added meanwhile are notified after them, on the same thread.
        case notifying(Outcome, late: Few<Observer>)
        case settled(Outcome)

        var outcome: Outcome? {
            switch self {
            case .pending, .observed: nil
            case .notifying(let outcome, _), .settled(let outcome): outcome
            }
        }
    }

    private let state = Locked(State.pending)

    var id: ObjectIdentifier { state.id }

    /// The outcome; nil before there is one.
    var outcome: Outcome? { state.withLock { $0.outcome } }

    /// Sets the outcome, unless there is one. Observers are notified in the order in which they were added.
    ///
    /// - Returns: Whether this outcome is the one that counts.
    @discardableResult
    func settle(_ outcome: Outcome) -> Bool {
        let before = state.withLock { state in
            let before = state
            switch before {
            case .pending: state = .settled(outcome)
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
        case .observed(let observers):
            observers.forEach { $0(outcome) }
            while let late = lateObservers() { late.forEach { $0(outcome) } }
            return true
        }
    }

    /// The observers that were added while others were notified; nil if there are none, and from then on an observer
    /// is notified at once.
    private func lateObservers() -> Few<Observer>? {
        state.withLock { state in
            guard case .notifying(let outcome, let late) = state else { return nil }
            state = late.isEmpty ? .settled(outcome) : .notifying(outcome, late: Few())
            return late.isEmpty ? nil : late
        }
    }

    /// Calls `observer` once with the outcome: at once if there is one, otherwise on the thread that settles.
    func observe(_ observer: @escaping Observer) {
        let outcome: Outcome? = state.withLock { state in
            switch state {
            case .settled(let outcome):
                return outcome
            case .pending:
                state = .observed(Few(observer))
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

    func end(with interruption: Interruption) {
        settle(.failure(interruption))
    }

    /// Waits for the outcome. Cancelling the task, or the end of its call, settles with an ``Interruption``.
    func value() async throws -> Value {
        if let outcome { return try outcome.get() }
        let scope = CallScope.current
        scope?.add(self)
        defer { scope?.remove(self) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                observe { continuation.resume(with: $0) }
            }
        } onCancel: {
            end(with: .cancelled)
        }
    }
}

extension Settlement where Value == Void {
    /// Waits until it is settled, the task is cancelled, or the time is over.
    func wait(atMost limit: Duration) async {
        let clock = NetworkClock.continuous
        let timer = clock.schedule(at: clock.now() + limit) { self.settle(.success(())) }
        defer { timer.cancel() }
        try? await value()
    }
}

/// Waits for something of your own as the library waits: until it is there, or the call ends in which this stands.
/// Adapters, policies, handlers and transports that wait use it, since a call's total deadline, a reset and
/// `cancelAll` end the library's waits and cancel no task of yours.
///
/// ```swift
/// func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
///     try await withCallCancellation { await app.becomesActive() }
///     return AdmissionPermit()
/// }
/// ```
///
/// The work runs in a task of its own, which inherits priority and task-local values, and is cancelled when the wait
/// ends early; what it returns then is dropped. Outside of a call, only cancelling the surrounding task ends the
/// wait. For a time, `NetworkClock.wait(for:)` does the same.
///
/// - Throws: What the work throws; where the call ended, the library's word for why: let it pass.
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
