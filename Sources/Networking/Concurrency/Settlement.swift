/// An outcome that several parties may try to give: the first one wins, and everybody who asks gets that one.
///
/// This is the library's only way to wait. Whoever waits in ``value()`` is ended at once when its task is cancelled or its
/// ``CallScope`` ends; because that ending *settles*, the party that comes later with the real outcome is told so by
/// ``settle(_:)`` and can hand it to somebody else.
final class Settlement<Value: Sendable>: Endable {
    typealias Outcome = Result<Value, any Error>
    typealias Observer = @Sendable (Outcome) -> Void

    private enum State: Sendable {
        case pending
        /// One party waits: nearly always the only one.
        case observed(Observer, others: [Observer])
        case settled(Outcome)
    }

    private let state = Locked(State.pending)

    /// The outcome, where there is one already.
    var outcome: Outcome? {
        state.withLock { state in
            if case .settled(let outcome) = state { outcome } else { nil }
        }
    }

    /// Settles, unless somebody else did before.
    ///
    /// - Returns: Whether this outcome is the one that counts.
    @discardableResult
    func settle(_ outcome: Outcome) -> Bool {
        let before = state.withLock { state in
            let before = state
            if case .settled = before { return before }
            state = .settled(outcome)
            return before
        }
        switch before {
        case .settled:
            return false
        case .pending:
            return true
        case .observed(let first, let others):
            first(outcome)
            for observer in others { observer(outcome) }
            return true
        }
    }

    /// Calls `observer` once with the outcome: at once where there is one, otherwise from whoever settles.
    func observe(_ observer: @escaping Observer) {
        let outcome: Outcome? = state.withLock { state in
            switch state {
            case .settled(let outcome):
                return outcome
            case .pending:
                state = .observed(observer, others: [])
                return nil
            case .observed(let first, let others):
                state = .observed(first, others: others + [observer])
                return nil
            }
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
