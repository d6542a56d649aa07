/// A counter of the callbacks of a call that have not run yet. The observers of the call are notified of the end of the
/// call after these callbacks.
package final class PendingCallbacks: Sendable {
    private struct State: Sendable {
        var count = 0
        var next: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    package init() {}

    /// Adds a registered callback to the count.
    func add() {
        state.withLock { $0.count += 1 }
    }

    /// Subtracts a callback that has run from the count.
    func finishOne() {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            state.count -= 1
            guard state.count == 0 else { return nil }
            defer { state.next = nil }
            return state.next
        }
        next?()
    }

    /// Calls `action` after all callbacks have run. If there are none, calls it immediately.
    func afterwards(_ action: @escaping @Sendable () -> Void) {
        let isNow = state.withLock { state in
            guard state.count > 0 else { return true }
            state.next = action
            return false
        }
        if isNow { action() }
    }
}
