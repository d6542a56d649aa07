import Foundation
public import Networking

/// An observer that remembers what it was told.
public final class RecordingObserver: RequestObserver, @unchecked Sendable {  // because of the lock around the events
    /// Whether it asks for progress.
    public let wantsProgress: Bool
    private let lock = NSLock()
    private var told: [(event: RequestEvent, call: RequestEvent.Call)] = []

    /// Makes an observer.
    public init(wantsProgress: Bool = false) {
        self.wantsProgress = wantsProgress
    }

    /// What it was told, in order, each with the call that it was about.
    public var events: [(event: RequestEvent, call: RequestEvent.Call)] { lock.withLock { told } }

    /// The reports of the calls that are over, in the order in which they ended.
    public var reports: [CallReport] {
        events.compactMap { if case .finished(let report) = $0.event { report } else { nil } }
    }

    /// Forgets everything.
    public func forget() {
        lock.withLock { told = [] }
    }

    /// Remembers.
    public func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        lock.withLock { told.append((event, call)) }
    }
}
