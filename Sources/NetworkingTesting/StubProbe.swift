import Foundation
public import Networking

/// A reachability probe whose status is set by hand.
public final class StubProbe: ReachabilityProbe, @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var current: ReachabilityStatus
    private var asked = 0

    /// Makes a probe.
    public init(_ status: ReachabilityStatus) {
        current = status
    }

    /// How often it was asked.
    public var count: Int { lock.withLock { asked } }

    /// Changes what is found from now on.
    public func set(_ status: ReachabilityStatus) {
        lock.withLock { current = status }
    }

    /// What it was told, counted.
    public func status() async -> ReachabilityStatus {
        lock.withLock {
            asked += 1
            return current
        }
    }

    /// What it was told, not counted.
    public func quickStatus() -> ReachabilityStatus {
        lock.withLock { current }
    }
}
