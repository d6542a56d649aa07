import Foundation

/// A limit for the number of requests that are in progress at once, for each host and in total. Further requests wait
/// in a queue. The waiting request with the highest priority (``HTTPRequest/Priority``) is admitted first. Requests
/// with the same priority are admitted in the order of their arrival.
///
/// Several services of the same server can share one limit. A call that is cancelled leaves the queue. Requests whose
/// ``RequestSettings/admission`` is ``RequestSettings/Admission/unlimited`` need no permit.
public final class ConcurrencyLimit: StagedAdmissionPolicy {
    fileprivate typealias Waiter = Settlement<Void>

    fileprivate struct Host: Sendable {
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

    fileprivate struct State: Sendable {
        var hosts: [HTTPOrigin: Host] = [:]
        /// The next waiters of the hosts with a free permit, and some outdated entries. Empty if ``total`` is
        /// nil.
        var candidates = Heap<Candidate>()
        var active = 0
        /// The number of waiters of all hosts.
        var waiting = 0
        var nextNumber: UInt64 = 0
    }

    /// The maximum number of requests to one host that are in progress at once.
    let limit: Int
    /// The maximum number of requests to all hosts together that are in progress at once. Nil if it is not limited.
    let total: Int?
    fileprivate let state = Locked(State())

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of concurrent requests for each host, at least 1. Default: 64.
    ///   - total: The maximum number of concurrent requests in total, at least 1. Default: no limit.
    public init(_ limit: Int = 64, total: Int? = nil) {
        self.limit = max(limit, 1)
        self.total = total.map { max($0, 1) }
    }

    package var stage: AdmissionStage { .limit }

    /// The number of requests in progress.
    public var activeCount: Int { state.withLock { $0.active } }

    /// The number of requests that wait for a permit.
    public var waiterCount: Int { state.withLock { $0.waiting } }

    /// Returns a permit if a permit is free and no other request waits for it. Otherwise returns nil.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
        guard let origin = origin(request) else { return AdmissionPermit() }
        return state.withLock { takePermit(at: origin, &$0) } ? AdmissionPermit(for: origin) : nil
    }

    /// Waits in the queue of the request's host.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
        guard let origin = origin(request) else { return AdmissionPermit() }
        let priority = request.priority
        let waiter = Waiter()
        let positions = request.positions
        let known = positions?.number(in: state.id)
        let number: UInt64? = state.withLock { state in
            if takePermit(at: origin, &state) { return nil }
            if known == nil { state.nextNumber += 1 }
            let number = known ?? state.nextNumber
            state.waiting += 1
            state.hosts[origin, default: Host()].lines[priority, default: WaitingLine()].insert(waiter, number: number)
            nominate(origin, &state)
            return number
        }
        guard let number else { return AdmissionPermit(for: origin) }
        positions?.note(number, in: state.id)
        do {
            try await waiter.value()
        } catch {
            leaveLine(origin, priority, number)
            throw error
        }
        return AdmissionPermit(for: origin)
    }

    /// Passes the permit to the next waiter in the queue, or releases it.
    public func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
        guard let origin = permit.origin else { return }
        var freed = origin
        while let next = nextWaiter(freeing: freed) {
            // A waiter that was cancelled cannot be settled: its permit goes to the next waiter.
            if next.waiter.settle(.success(())) { return }
            freed = next.origin
        }
    }

    /// Takes a permit if a permit is free and no request waits for it.
    private func takePermit(at origin: HTTPOrigin, _ state: inout State) -> Bool {
        guard state.active < total ?? .max else { return false }
        var host = state.hosts[origin] ?? Host()
        guard host.active < limit, host.lines.isEmpty else { return false }
        host.active += 1
        state.hosts[origin] = host
        state.active += 1
        return true
    }

    // A host is read and written as a whole: changing it in place through the dictionary needs three allocations.
    private func release(_ origin: HTTPOrigin, _ state: inout State) {
        state.active -= 1
        guard let index = state.hosts.index(forKey: origin) else { return }
        var host = state.hosts.values[index]
        host.active -= 1
        if host.isIdle { state.hosts.remove(at: index) } else { state.hosts.values[index] = host }
    }

    /// Releases a permit, and takes it for the next waiter. Returns that waiter; nil if no waiter can use the permit.
    private func nextWaiter(freeing origin: HTTPOrigin) -> (waiter: Waiter, origin: HTTPOrigin)? {
        state.withLock { state in
            release(origin, &state)
            guard state.waiting > 0 else { return nil }
            nominate(origin, &state)
            guard let next = total == nil ? origin : mostUrgent(&state),
                let waiter = state.hosts[next]?.popNext()
            else { return nil }
            state.waiting -= 1
            state.active += 1
            state.hosts[next]?.active += 1
            nominate(next, &state)
            return (waiter, next)
        }
    }

    /// Adds the next waiter of a host to the candidates for the next permit, if the host has not reached its limit.
    private func nominate(_ origin: HTTPOrigin, _ state: inout State) {
        guard total != nil, let host = state.hosts[origin], host.active < limit, let next = host.next(at: origin) else {
            return
        }
        // The candidates still contain waiters that have left. If there are too many candidates, they are replaced by
        // one candidate for each host.
        if state.candidates.count > 2 * state.hosts.count + 64 {
            state.candidates = Heap()
            for (origin, host) in state.hosts where host.active < limit {
                if let next = host.next(at: origin) { state.candidates.insert(next) }
            }
        } else {
            state.candidates.insert(next)
        }
    }

    /// Returns the origin of the waiter that gets the next permit. Only waiters of hosts with a free permit are
    /// considered. The waiter with the highest priority comes first. If several waiters have this priority, the waiter
    /// that has waited longest comes first.
    private func mostUrgent(_ state: inout State) -> HTTPOrigin? {
        while let candidate = state.candidates.popSmallest() {
            guard let host = state.hosts[candidate.origin], host.active < limit,
                host.next(at: candidate.origin) == candidate
            else { continue }  // outdated: the waiter has left, or its host has no free permit
            return candidate.origin
        }
        return nil
    }

    private func leaveLine(_ origin: HTTPOrigin, _ priority: HTTPRequest.Priority, _ number: UInt64) {
        state.withLock { state in
            guard state.hosts[origin]?.lines[priority]?.remove(number: number) == true else { return }
            state.waiting -= 1
            state.hosts[origin]?.tidy(priority)
            nominate(origin, &state)
            if state.hosts[origin]?.isIdle == true { state.hosts[origin] = nil }
        }
    }

    private func origin(_ request: HTTPRequest) -> HTTPOrigin? {
        request.admission == .required ? request.origin : nil
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
    }

    package var contents: Contents {
        state.withLock { state in
            Contents(
                active: state.hosts.mapValues(\.active),
                lines: state.hosts.mapValues { $0.lines.mapValues(\.numbers) }, candidates: state.candidates.elements)
        }
    }
}

extension HTTPRequest {
    /// Returns the number of the request in the queue of a limit. Nil if the request has never waited in this queue.
    package func number(in limit: ConcurrencyLimit) -> UInt64? { positions?.number(in: limit.state.id) }
}
