extension ConcurrencyLimit {
    typealias Waiter = Settlement<Void>

    struct Host: Sendable {
        var active = 0
        /// The waiters by their priority.
        var lines: [HTTPRequest.Priority: WaitingLine<Waiter>] = [:]

        var isIdle: Bool { active == 0 && lines.isEmpty }

        /// Returns the next waiter: the first waiter with the highest priority.
        func next(at origin: HTTPOrigin) -> Candidate? {
            guard let priority = lines.keys.max(), let number = lines[priority]?.first else { return nil }
            return Candidate(priority: priority, number: number, origin: origin)
        }

        mutating func popNext() -> Waiter? {
            guard let priority = lines.keys.max() else { return nil }
            defer { tidy(priority) }
            return lines[priority]?.popFirst()
        }

        mutating func tidy(_ priority: HTTPRequest.Priority) {
            if lines[priority]?.count == 0 { lines[priority] = nil }
        }
    }

    /// The next waiter of a host.
    package struct Candidate: Comparable, Hashable, Sendable {
        package let priority: HTTPRequest.Priority
        package let number: UInt64
        package let origin: HTTPOrigin

        package static func < (one: Candidate, other: Candidate) -> Bool {
            (other.priority, one.number) < (one.priority, other.number)
        }
    }

    struct State: Sendable {
        var hosts: [HTTPOrigin: Host] = [:]
        /// The next waiters of the hosts with a free permit, and some outdated entries. Empty if ``total`` is
        /// nil.
        var candidates = Heap<Candidate>()
        var active = 0
        /// The number of waiters of all hosts.
        var waiting = 0
        var nextNumber: UInt64 = 0
        /// The lower limits of the hosts that have refused requests.
        var reduced = OriginTable<Reduction>()
    }

    /// The lower limit of a host.
    package struct Reduction: Equatable, Sendable {
        package var limit: Int
        /// The number of requests in progress that were admitted before the limit was halved.
        package var earlier: Int
    }
}

extension ConcurrencyLimit {
    /// A copy of the state of a limit, for checks.
    package struct Contents: Sendable {
        /// The number of requests in progress, by host.
        package let active: [HTTPOrigin: Int]
        /// The numbers of the waiters, by host and priority.
        package let lines: [HTTPOrigin: [HTTPRequest.Priority: [UInt64]]]
        package let candidates: [Candidate]
        /// The lower limits of the hosts that have refused requests.
        package let reduced: [HTTPOrigin: Reduction]
    }

    package var contents: Contents {
        state.withLock { state in
            Contents(
                active: state.hosts.mapValues(\.active),
                lines: state.hosts.mapValues { $0.lines.mapValues(\.numbers) }, candidates: state.candidates.elements,
                reduced: state.reduced.values)
        }
    }
}

extension HTTPRequest {
    /// Returns the number of the request in the queue of a limit. Nil if the request has never waited in this queue.
    package func number(in limit: ConcurrencyLimit) -> UInt64? { positions?.number(in: limit.state.id) }
}
