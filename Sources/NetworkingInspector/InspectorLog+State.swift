import Foundation
import Networking

extension InspectorLog {
    struct WeakGate: Sendable {
        weak let gate: BackoffGate?
    }

    struct State: Sendable {
        /// The calls, each in a place that it keeps, and the places that are free.
        var places: [InspectorCall?] = []
        var free: [Int] = []
        /// The place of each call.
        var placeOf: [UUID: Int] = [:]
        /// The number of calls that have begun.
        var begun = 0
        /// The places of the calls that have ended, in the order of their ends. Those before `firstEnded` are removed.
        var ended: [Int] = []
        var firstEnded = 0
        /// The numbers of the calls that were removed; the first ones are forgotten.
        var removed: [Int] = []
        var forgotten = 0
        /// The number of bytes that the calls retain, roughly.
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
    mutating func begin(_ call: InspectorCall) {
        guard placeOf[call.id] == nil else { return }
        change += 1
        begun += 1
        size += call.size
        let place = free.popLast() ?? places.count
        if place == places.count { places.append(nil) }
        placeOf[call.id] = place
        places[place] = call
        places[place]?.number = begun
        places[place]?.change = change
    }

    /// Removes the calls that ended first, then the oldest ones, while there are too many calls or they are too large.
    mutating func makeRoom(limit: Int) -> [InspectorCall] {
        var taken: [InspectorCall] = []
        while placeOf.count > limit || size > InspectorLog.largestSize, placeOf.count > 1 {
            if firstEnded < ended.count {
                take(ended[firstEnded], into: &taken)
                firstEnded += 1
            } else {
                // No call has ended. All calls are looked at, so several are removed.
                let oldest = places.indices.filter { places[$0] != nil }.sorted { number(at: $0) < number(at: $1) }
                for place in oldest.prefix(max(min(limit / 16, oldest.count - 1), 1)) { take(place, into: &taken) }
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

    private func number(at place: Int) -> Int { places[place]?.number ?? 0 }

    private mutating func take(_ place: Int, into taken: inout [InspectorCall]) {
        guard let call = places[place] else { return }
        places[place] = nil
        free.append(place)
        placeOf[call.id] = nil
        size -= call.size
        removed.append(call.number)
        taken.append(call)
    }
}
