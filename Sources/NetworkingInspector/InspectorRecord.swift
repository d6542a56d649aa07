import Foundation
import Networking

/// The record of one call in a log. It receives the events of the call.
final class InspectorRecord: RequestObserver {
    private struct State: Sendable {
        var call: InspectorCall
        /// Whether the log has removed the call, which is then empty.
        var isRemoved = false
        /// Whether the call has changed since a page has read it.
        var isChanged = true
        /// The part of the call's size that was reported to the log.
        var counted: Int
    }

    /// A weak reference to the log, because the log retains its records.
    private struct WeakLog: Sendable {
        weak var log: InspectorLog?
    }

    /// The number of the call in its log, from 1.
    let number: Int
    /// The place of the call in its log.
    let place: Int
    /// Whether a page was open when the call began.
    let wantsProgress: Bool
    private let bodyLimit: Int
    private let log: WeakLog
    private let state: Locked<State>

    /// The largest growth of a call, in bytes, that need not be reported to the log at once.
    private static let smallGrowth = 8 << 10

    init(_ call: InspectorCall, at place: Int, in log: InspectorLog, wantsProgress: Bool) {
        (number, self.place, self.wantsProgress) = (call.number, place, wantsProgress)
        (self.log, bodyLimit) = (WeakLog(log: log), log.bodyLimit)
        state = Locked(State(call: call, counted: call.size))
    }

    func observe(_ event: RequestEvent, of call: RequestEvent.Call) { store(event, at: .now) }

    /// Stores an event that happened at a time. What the call keeps of the event is created outside the lock.
    func store(_ event: RequestEvent, at time: ContinuousClock.Instant) {
        switch event {
        case .progress(let progress): change { $0.add(progress) }
        case .attemptEnded(let attempt):
            let (kept, sizes) = (attempt.kept(bytes: bodyLimit), InspectorCall.Sizes(attempt))
            change { $0.add(kept, sizes, at: time) }
        case .finished(let report):
            change(isEnd: true) { $0.end(with: report, keeping: bodyLimit, at: time) }
        case .messageSent(let message, let date), .messageReceived(let message, let date):
            let isSent = if case .messageSent = event { true } else { false }
            let kept = InspectorCall.Message(message, date, isSent: isSent, keeping: bodyLimit)
            change { $0.add(kept) }
        default:
            guard let step = InspectorCall.Step(event) else { return }
            change { $0.add(step, at: time) }
        }
    }

    private func change(isEnd: Bool = false, _ body: (inout InspectorCall) -> Void) {
        let growth = state.withLock { state -> Int? in
            guard !state.isRemoved else { return nil }
            body(&state.call)
            state.isChanged = true
            let growth = state.call.size - state.counted
            guard isEnd || abs(growth) > InspectorRecord.smallGrowth else { return nil }
            state.counted += growth
            return growth
        }
        if let growth { log.log?.note(growth, of: self, isEnd: isEnd) }
    }
}

// Called by the log, under its lock.
extension InspectorRecord {
    /// Returns the call. If the call has changed since it was last read, increments `change`. The new value is the
    /// number of the call's last change.
    func read(_ change: inout Int) -> InspectorCall {
        state.withLock { state in
            if state.isChanged {
                change += 1
                state.call.change = change
                state.isChanged = false
            }
            return state.call
        }
    }

    /// Removes the call. Its later events are ignored.
    ///
    /// - Returns: The call, to be released outside the log's lock, and the part of its size that the log knows.
    func remove() -> (call: InspectorCall, counted: Int) {
        state.withLock { state in
            defer {
                state.call.removeContent()
                state.isRemoved = true
            }
            return (state.call, state.counted)
        }
    }
}
