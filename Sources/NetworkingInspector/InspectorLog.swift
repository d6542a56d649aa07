import Foundation
import Networking

/// The calls that an inspector has seen. Events are converted to text only when a page shows them.
final class InspectorLog: Sendable {
    /// Something that is no call, such as a refresh.
    struct Note: Sendable {
        let date: Date
        let part: String
        let text: String
        let isFault: Bool
    }

    let redaction: Redaction
    /// The maximum number of bytes of a body that are kept; 0 if no body is shown.
    let bodyLimit: Int
    private let limit: Int
    private let state = Locked(State())

    static let largestSize = 64 << 20
    private static let mostNotes = 500

    init(_ redaction: Redaction, limit: Int, bodyLimit: Int) {
        self.redaction = redaction
        (self.limit, self.bodyLimit) = (min(max(limit, 1), 1_000_000), redaction.hidesBodies ? 0 : max(bodyLimit, 0))
    }

    /// The number of bytes that the calls retain, roughly.
    var size: Int { state.withLock { $0.size } }

    /// Whether a page is open.
    var isWatched: Bool { state.withLock { $0.watchers > 0 } }

    /// Adds an open page (1), or removes an open page (-1). Returns the number of pages that are open.
    func watch(_ change: Int) -> Int {
        state.withLock { state in
            state.watchers += change
            return state.watchers
        }
    }

    /// Begins the record of a call. Reads the endpoint outside the lock, because the endpoint may make calls.
    func begin(_ call: RequestEvent.Call, at time: ContinuousClock.Instant) -> InspectorRecord {
        let call = InspectorCall(call, at: time)
        let (record, removed) = state.withLock { state in
            (state.begin(call, in: self), state.makeRoom(limit: limit))
        }
        withExtendedLifetime(removed) {}  // released outside the lock
        return record
    }

    /// Notes that a call has grown, and whether it has ended.
    func note(_ growth: Int, of record: InspectorRecord, isEnd: Bool) {
        let removed = state.withLock { state -> [InspectorCall] in
            // The growth is added even if the record was removed meanwhile, because the removal has already subtracted
            // it.
            state.size += growth
            guard state.places[record.place] === record else { return [] }
            if isEnd { state.ended.append(record.place) }
            return state.size > InspectorLog.largestSize ? state.makeRoom(limit: limit) : []
        }
        withExtendedLifetime(removed) {}  // released outside the lock
    }

    func note(_ part: String, _ text: String, isFault: Bool = false) {
        state.withLock { state in
            state.change += 1
            state.notesChange = state.change
            state.notes.append(Note(date: Date(), part: part, text: text, isFault: isFault))
            if state.notes.count > InspectorLog.mostNotes { state.notes.removeFirst() }
        }
    }

    /// Adds a gate, which is not retained.
    func add(_ gate: BackoffGate) {
        state.withLock { state in
            state.gates.removeAll { $0.gate == nil }
            state.gates.append(WeakGate(gate: gate))
        }
    }

    func set(_ parts: [InspectorContent.Part]) {
        state.withLock { state in
            guard state.parts != parts else { return }
            state.change += 1
            (state.parts, state.partsChange) = (parts, state.change)
        }
    }
}

// Reading.
extension InspectorLog {
    /// A position in the changes of the log.
    struct Position {
        var change = 0
        var removed = 0
    }

    /// What has changed since an earlier position.
    struct Changes: Sendable {
        /// Whether the page has missed removals, and has to begin again.
        var isWhole = false
        var calls: [InspectorCall] = []
        /// The numbers of the calls that were removed.
        var removed: [Int] = []
        var notes: [Note]?
        var parts: [InspectorContent.Part]?
        var queues = InspectorQueues()
    }

    /// Returns what has changed, and moves the position. Nil if nothing has changed.
    ///
    /// - Parameter isWaitingSent: Whether calls that wait are returned even if they have not changed. The text of their
    ///   wait contains a time, which always changes.
    func changes(since position: inout Position, sendingWaiting isWaitingSent: Bool = false) -> Changes? {
        let (changes, end) = state.withLock { [position] state -> (Changes?, Position) in
            let calls = state.calls()
            let end = Position(change: state.change, removed: state.forgotten + state.removed.count)
            let isSame = state.change == position.change && end.removed == position.removed
            guard !isSame || isWaitingSent else { return (nil, end) }
            var changes = Changes(isWhole: position.change == 0 || position.removed < state.forgotten)
            let since = changes.isWhole ? 0 : position.change
            let waiting = calls.filter { $0.currentWait != nil }
            changes.queues = InspectorQueues(waiting, state.gates.compactMap(\.gate))
            changes.calls = calls.filter { $0.change > since || isWaitingSent && $0.currentWait != nil }
            changes.removed =
                changes.isWhole ? [] : Array(state.removed.dropFirst(position.removed - state.forgotten))
            changes.notes = state.notesChange > since ? state.notes : nil
            changes.parts = state.partsChange > since ? state.parts : nil
            return (changes, end)
        }
        position = end
        guard var changes else { return nil }
        changes.calls.sort { $0.number < $1.number }
        return changes
    }

    func call(_ number: Int) -> InspectorCall? {
        state.withLock { $0.call(number) }
    }

    /// Returns the whole content of the log.
    func everything() -> Changes {
        var position = Position()
        return changes(since: &position) ?? Changes()
    }
}
