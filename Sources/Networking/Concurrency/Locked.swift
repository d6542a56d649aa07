import Foundation

/// State that is only ever touched under its lock.
///
/// `NSLock` and not `Mutex`: the latter needs newer Apple systems and gives false races under the thread sanitizer.
/// Never resume a continuation or call a closure inside `withLock`; take what is needed out, then act.
final class Locked<State: Sendable>: @unchecked Sendable {  // because of the lock around `state`
    private let lock = NSLock()
    private var state: State

    init(_ state: State) {
        self.state = state
    }

    func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
