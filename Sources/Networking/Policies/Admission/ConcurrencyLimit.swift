import Foundation

/// A limit for the number of requests that are in progress at once, for each host and in total. Further requests wait
/// in a queue. The waiting request with the highest priority (``HTTPRequest/Priority``) is admitted first. Requests
/// with the same priority are admitted in the order of their arrival.
///
/// After a 429, 503 or 529 response, the limit of that host is halved, so that a host that recovers is not overloaded
/// at once. The limit never falls below an eighth of the configured value. Each other response that is not a server
/// error raises the limit by one, up to the configured value. The refusals of requests that were in progress when the
/// limit was halved do not halve it again.
///
/// Several services of the same server can share one limit. A call that is cancelled leaves the queue. Requests whose
/// ``RequestSettings/admission`` is ``RequestSettings/Admission/unlimited`` need no permit.
public final class ConcurrencyLimit: StagedAdmissionPolicy {
    /// The maximum number of requests to one host that are in progress at once.
    let limit: Int
    /// The maximum number of requests to all hosts together that are in progress at once. Nil if it is not limited.
    let total: Int?
    let state = Locked(State())

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

    /// Halves the limit of the host if the host refuses the request because of its load. Any other response that is not
    /// a server error raises a limit that was halved.
    public func heard(_ permit: AdmissionPermit, _ head: HTTPResponse) {
        // The origins are compared only if a limit may change.
        let isRefusal = head.status.isRefusalForLoad
        guard isRefusal || !head.status.isServerError && state.withLock({ !$0.reduced.isEmpty }) else { return }
        guard let origin = permit.origin, head.request.origin == origin else { return }
        if isRefusal {
            state.withLock { reduce(origin, &$0) }
        } else if state.withLock({ $0.reduced[origin] != nil }) {
            admitWaiters(at: origin) { state in
                guard var reduced = state.reduced[origin] else { return }
                reduced.limit += 1
                state.reduced[origin] = reduced.limit < limit ? reduced : nil
            }
        }
    }

    /// Passes the permit to the next waiter in the queue, or releases it.
    public func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
        guard let origin = permit.origin else { return }
        admitWaiters(at: origin) { state in
            if !state.reduced.isEmpty, let earlier = state.reduced[origin]?.earlier, earlier > 0 {
                state.reduced[origin]?.earlier = earlier - 1
            }
            release(origin, &state)
        }
    }

    /// Admits the waiters for which a permit is free after a change to a host.
    private func admitWaiters(at changed: HTTPOrigin, after change: (inout State) -> Void) {
        var next = state.withLock { state in
            change(&state)
            return nextWaiter(at: changed, &state)
        }
        while let (waiter, origin) = next {
            // A waiter that was cancelled cannot be settled: its permit goes to the next waiter.
            let isAdmitted = waiter.settle(.success(()))
            next = state.withLock { state in
                if !isAdmitted { release(origin, &state) }
                return nextWaiter(at: origin, &state)
            }
        }
    }

    /// Halves the limit of a host. Does nothing if requests that were admitted before the limit was last halved are
    /// still in progress: their refusals say nothing about the lower limit.
    private func reduce(_ origin: HTTPOrigin, _ state: inout State) {
        guard limit > 1 else { return }
        let reduced = state.reduced[origin]
        guard reduced?.earlier ?? 0 == 0 else { return }
        // There is no time after which a lower limit is certainly outdated. If very many hosts have a lower limit, all
        // lower limits are removed.
        state.reduced.makeRoom(for: origin) { _ in false }
        state.reduced[origin] = Reduction(
            limit: max((reduced?.limit ?? limit) / 2, limit / 8, 1),
            earlier: state.hosts[origin]?.active ?? 0)
    }

    /// Takes a permit if a permit is free and no request waits for it.
    private func takePermit(at origin: HTTPOrigin, _ state: inout State) -> Bool {
        guard state.active < total ?? .max else { return false }
        var host = state.hosts[origin] ?? Host()
        guard host.active < limit(of: origin, state), host.lines.isEmpty else { return false }
        host.active += 1
        state.hosts[origin] = host
        state.active += 1
        return true
    }

    /// The limit of a host, which is lower after the host has refused requests.
    private func limit(of origin: HTTPOrigin, _ state: State) -> Int {
        state.reduced.isEmpty ? limit : state.reduced[origin]?.limit ?? limit
    }

    // A host is read and written as a whole: changing it in place through the dictionary needs three allocations.
    private func release(_ origin: HTTPOrigin, _ state: inout State) {
        state.active -= 1
        guard let index = state.hosts.index(forKey: origin) else { return }
        var host = state.hosts.values[index]
        host.active -= 1
        if host.isIdle { state.hosts.remove(at: index) } else { state.hosts.values[index] = host }
    }

    /// Takes a permit for the next waiter. Returns that waiter; nil if no waiter can use a free permit.
    ///
    /// - Parameter origin: The host that has changed.
    private func nextWaiter(at origin: HTTPOrigin, _ state: inout State) -> (waiter: Waiter, origin: HTTPOrigin)? {
        guard state.waiting > 0 else { return nil }
        nominate(origin, &state)
        guard state.active < total ?? .max else { return nil }
        guard let next = total == nil ? origin : mostUrgent(&state), var host = state.hosts[next],
            host.active < limit(of: next, state), let waiter = host.popNext()
        else { return nil }
        state.waiting -= 1
        state.active += 1
        host.active += 1
        state.hosts[next] = host
        nominate(next, &state)
        return (waiter, next)
    }

    /// Adds the next waiter of a host to the candidates for the next permit, if the host has not reached its limit.
    private func nominate(_ origin: HTTPOrigin, _ state: inout State) {
        guard total != nil, let host = state.hosts[origin], host.active < limit(of: origin, state),
            let next = host.next(at: origin)
        else { return }
        // The candidates still contain waiters that have left. If there are too many candidates, they are replaced by
        // one candidate for each host.
        if state.candidates.count > 2 * state.hosts.count + 64 {
            state.candidates = Heap()
            for (origin, host) in state.hosts where host.active < limit(of: origin, state) {
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
            guard let host = state.hosts[candidate.origin], host.active < limit(of: candidate.origin, state),
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
