import Foundation

/// Holds the workers of a soak test between two calls, while the memory is measured.
final class SoakRest: @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var isHeld = false
    private var held: [CheckedContinuation<Void, Never>] = []

    /// The number of workers that wait.
    var waiting: Int { lock.withLock { held.count } }

    /// Returns at once if the workers are not held. Otherwise returns when the rest ends.
    func wait() async {
        await withCheckedContinuation { continuation in
            let goesOn = lock.withLock {
                if isHeld { held.append(continuation) }
                return !isHeld
            }
            if goesOn { continuation.resume() }
        }
    }

    func begin() { lock.withLock { isHeld = true } }

    func end() {
        let resumed = lock.withLock {
            defer { held = [] }
            isHeld = false
            return held
        }
        for continuation in resumed { continuation.resume() }
    }
}
