/// The number of callbacks of a call that have not been called yet. The observers of the call are notified of its end
/// after the callbacks.
final class PendingCallbacks: Sendable {
    private struct State: Sendable {
        var count = 0
        var next: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Counts a callback that has been registered.
    func add() {
        state.withLock { $0.count += 1 }
    }

    /// Removes a callback that has been called from the count.
    func finishOne() {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            state.count -= 1
            guard state.count == 0 else { return nil }
            defer { state.next = nil }
            return state.next
        }
        next?()
    }

    /// Calls `action` after all callbacks have been called; immediately if there are none.
    func afterwards(_ action: @escaping @Sendable () -> Void) {
        let isNow = state.withLock { state in
            guard state.count > 0 else { return true }
            state.next = action
            return false
        }
        if isNow { action() }
    }
}
