import Foundation
public import Networking

/// A reachability probe that reports the status that the test sets.
public final class StubProbe: ReachabilityProbe, @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var current: ReachabilityStatus
    private var asked = 0

    /// Creates a probe that reports a status.
    public init(_ status: ReachabilityStatus) {
        current = status
    }

    /// The number of calls of ``status()``.
    public var count: Int { lock.withLock { asked } }

    /// Changes the status that the probe reports from now on.
    public func set(_ status: ReachabilityStatus) {
        lock.withLock { current = status }
    }

    /// Returns the status that was set last, and counts the call.
    public func status() async -> ReachabilityStatus {
        lock.withLock {
            asked += 1
            return current
        }
    }

    /// Returns the status that was set last. The call is not counted.
    public func quickStatus() -> ReachabilityStatus {
        lock.withLock { current }
    }
}
