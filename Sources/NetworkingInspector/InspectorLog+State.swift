import Foundation
import Networking

extension InspectorLog {
    struct WeakGate: Sendable {
        weak var gate: BackoffGate?
    }

    struct State: Sendable {
        /// The records of calls. Each record keeps its place; nil is a free place.
        var places: [InspectorRecord?] = []
        var free: [Int] = []
        /// The number of calls that have begun.
        var begun = 0
        /// The places of the calls that have ended, in the order of their ends. The calls before `firstEnded` have been
        /// removed.
        var ended: [Int] = []
        var firstEnded = 0
        /// The numbers of the calls that were removed. If there are too many, the oldest numbers are forgotten.
        var removed: [Int] = []
        var forgotten = 0
        /// The approximate number of bytes that the calls retain. Each call may retain up to 8 KiB more.
        var size = 0
        /// The number of changes so far.
        var change = 0
        var notes: [Note] = []
        var notesChange = 0
        var parts: [InspectorContent.Part] = []
        var partsChange = 0
        var gates: [WeakGate] = []
        /// The number of pages that are open.
        var watchers = 0
    }
}

extension InspectorLog.State {
    mutating func begin(_ call: InspectorCall, in log: InspectorLog) -> InspectorRecord {
        change += 1
        begun += 1
        size += call.size
        let place = free.popLast() ?? places.count
        if place == places.count { places.append(nil) }
        var call = call
        call.number = begun
        let record = InspectorRecord(call, at: place, in: log, wantsProgress: watchers > 0)
        places[place] = record
        return record
    }

    private var count: Int { places.count - free.count }

    /// The calls, as they are now.
    mutating func calls() -> [InspectorCall] {
        var last = change
        defer { change = last }
        return places.compactMap { $0?.read(&last) }
    }

    mutating func call(_ number: Int) -> InspectorCall? {
        let record = places.first { $0?.number == number } ?? nil
        return record?.read(&change)
    }

    /// Removes calls while there are too many of them or while they are too large: first the calls that ended first,
    /// then the oldest calls in progress.
    mutating func makeRoom(limit: Int) -> [InspectorCall] {
        var taken: [InspectorCall] = []
        while count > limit || size > InspectorLog.largestSize, count > 1 {
            if firstEnded < ended.count {
                take(ended[firstEnded], into: &taken)
                firstEnded += 1
            } else {
                // No call has ended. Finding the oldest calls needs a search through all calls, so several calls are
                // removed at once.
                let oldest = places.compactMap { $0 }.sorted { $0.number < $1.number }
                for record in oldest.prefix(max(min(limit / 16, oldest.count - 1), 1)) {
                    take(record.place, into: &taken)
                }
            }
        }
        if firstEnded > limit, firstEnded * 2 > ended.count {
            ended.removeFirst(firstEnded)
            firstEnded = 0
        }
        if removed.count > 2 * limit + 1_000 {
            let count = removed.count - limit
            removed.removeFirst(count)
            forgotten += count
        }
        return taken
    }

    private mutating func take(_ place: Int, into taken: inout [InspectorCall]) {
        guard let record = places[place] else { return }
        let (call, counted) = record.remove()
        places[place] = nil
        free.append(place)
        size -= counted
        removed.append(record.number)
        taken.append(call)
    }
}
