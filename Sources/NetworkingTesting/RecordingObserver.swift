import Foundation
public import Networking

/// An observer that records the events it receives.
public final class RecordingObserver: RequestObserver, @unchecked Sendable {  // because of the lock around the events
    /// Whether the observer requests progress events.
    public let wantsProgress: Bool
    private let lock = NSLock()
    private var told: [(event: RequestEvent, call: RequestEvent.Call)] = []

    /// Creates an observer, by default without progress events.
    public init(wantsProgress: Bool = false) {
        self.wantsProgress = wantsProgress
    }

    /// The events received so far, in order, each with its call.
    public var events: [(event: RequestEvent, call: RequestEvent.Call)] { lock.withLock { told } }

    /// The reports of the calls that have ended, in the order in which the calls ended.
    public var reports: [CallReport] {
        events.compactMap { if case .finished(let report) = $0.event { report } else { nil } }
    }

    /// Removes all recorded events.
    public func forget() {
        lock.withLock { told = [] }
    }

    /// Records an event.
    public func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        lock.withLock { told.append((event, call)) }
    }
}
