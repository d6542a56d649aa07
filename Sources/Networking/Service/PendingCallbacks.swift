/// The callbacks of a call that have yet to be called, so that its observers are notified of its end after them.
final class PendingCallbacks: Sendable {
    private struct State: Sendable {
        var count = 0
        var next: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// One more is registered.
    func add() {
        state.withLock { $0.count += 1 }
    }

    /// One has been called.
    func finishOne() {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            state.count -= 1
            guard state.count == 0 else { return nil }
            defer { state.next = nil }
            return state.next
        }
        next?()
    }

    /// Does something once all of them have been called; at once where there are none.
    func afterwards(_ action: @escaping @Sendable () -> Void) {
        let isNow = state.withLock { state in
            guard state.count > 0 else { return true }
            state.next = action
            return false
        }
        if isNow { action() }
    }
}
