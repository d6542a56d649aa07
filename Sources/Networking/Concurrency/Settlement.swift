/// An outcome that several parties may try to give: the first one wins, and everybody who asks gets that one.
///
/// This is the library's only way to wait. A caller of ``value()`` stops waiting when its task is cancelled or its
/// ``CallScope`` ends. That *settles*, too: ``settle(_:)`` returns false to the party that has the real outcome later,
/// which can pass it to another waiter. Copies are the same settlement.
struct Settlement<Value: Sendable>: Endable {
    typealias Outcome = Result<Value, any Error>
    typealias Observer = @Sendable (Outcome) -> Void

    private enum State: Sendable {
        case pending
        case observed(Few<Observer>)
        /// Those who waited are being told; who comes now is told after them, by the same thread.
        case telling(Outcome, late: Few<Observer>)
        case settled(Outcome)

        var outcome: Outcome? {
            switch self {
            case .pending, .observed: nil
            case .telling(let outcome, _), .settled(let outcome): outcome
            }
        }
    }

    private let state = Locked(State.pending)

    var id: ObjectIdentifier { state.id }

    /// The outcome, where there is one already.
    var outcome: Outcome? { state.withLock { $0.outcome } }

    /// Settles, unless somebody else did before. Whoever observes is told in the order of their coming.
    ///
    /// - Returns: Whether this outcome is the one that counts.
    @discardableResult
    func settle(_ outcome: Outcome) -> Bool {
        let before = state.withLock { state in
            let before = state
            switch before {
            case .pending: state = .settled(outcome)
            case .observed: state = .telling(outcome, late: Few())
            case .telling, .settled: break
            }
            return before
        }
        switch before {
        case .telling, .settled:
            return false
        case .pending:
            return true
        case .observed(let observers):
            observers.forEach { $0(outcome) }
            while let late = lateObservers() { late.forEach { $0(outcome) } }
            return true
        }
    }

    /// Those who have come while others were told; nil once there are none, and from then on whoever comes is told at
    /// once.
    private func lateObservers() -> Few<Observer>? {
        state.withLock { state in
            guard case .telling(let outcome, let late) = state else { return nil }
            state = late.isEmpty ? .settled(outcome) : .telling(outcome, late: Few())
            return late.isEmpty ? nil : late
        }
    }

    /// Calls `observer` once with the outcome: at once where there is one, otherwise from whoever settles.
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
            case .telling(let outcome, var late):
                state = .telling(outcome, late: Few())
                late.append(observer)
                state = .telling(outcome, late: late)
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
