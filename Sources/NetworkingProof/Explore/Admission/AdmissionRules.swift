// The rules. The name of a rule is the name of its function.
extension AdmissionLedger {
    func noPermitAboveTheLimit(_ limit: Int, _ caller: Int) {
        let host = callers[caller].host
        expect(
            used(limit, host: host) <= limits[limit].perHost && used(limit) <= limits[limit].total ?? .max,
            "limit \(limit + 1) has admitted \(used(limit)) calls")
    }

    /// A new call gets no permit beyond the lowered limit of a host that has refused requests.
    func noPermitAboveALowerLimit(_ limit: Int, _ caller: Int) {
        let host = callers[caller].host
        expect(
            used(limit, host: host) <= allowed[limit][host],
            "limit \(limit + 1) has admitted \(used(limit, host: host)) calls, expected \(allowed[limit][host])")
    }

    /// A free permit goes to the caller with the most urgent priority. If several callers have this priority, the
    /// permit goes to the caller that has waited longest.
    func theOldestOfTheMostUrgentAreNext(_ next: [Int], _ expected: [Int]) {
        expect(next == expected, "the permits go to \(next.map { $0 + 1 }), not to \(expected.map { $0 + 1 })")
    }

    /// The library's limit of a host is the limit that follows from the refusals and successes of the host.
    func theLowerLimitIsKnown(_ limit: Int, host: Int, found: Int?) {
        let expected = allowed[limit][host] < limits[limit].perHost ? allowed[limit][host] : nil
        expect(found == expected, "the limit of host \(host) is \(found ?? -1), expected \(expected ?? -1)")
    }

    /// A caller does not take a permit for which another caller waits.
    func nobodyOvertakes(_ caller: Int, _ limit: Int) {
        let host = callers[caller].host
        expect(
            !queue(limit).contains { callers[$0].host == host },
            "call \(caller + 1) gets a permit of limit \(limit + 1) for which another call waits")
    }

    /// While a caller waits for a limit, the caller holds permits only of earlier limits in the fixed order.
    func limitsAreReservedInOrder(_ caller: Int, _ limit: Int) {
        let later = limits.indices.filter { $0 > limit && entries[$0][caller].position == .holding }
        expect(later.isEmpty, "call \(caller + 1) waits for limit \(limit + 1) and holds a permit of a later limit")
    }

    /// A caller that waits at a gate holds no permit.
    func nothingIsHeldAtAGate(_ caller: Int) {
        expect(
            limits.indices.allSatisfy { entries[$0][caller].position == .outside },
            "call \(caller + 1) waits at the gate and holds a permit")
    }

    /// No caller waits while a permit that it could use is free.
    func noWaiterIsForgotten() {
        for limit in limits.indices {
            for waiter in queue(limit) {
                expect(
                    !isFree(limit, host: callers[waiter].host),
                    "call \(waiter + 1) waits while a permit of limit \(limit + 1) is free")
            }
        }
    }

    /// The limit counts the permits that are held or reserved.
    func theLimitCountsWhatIsHeld(_ limit: Int, permits: Int) {
        expect(permits == used(limit), "limit \(limit + 1) counts \(permits) permits, expected \(used(limit))")
    }

    /// The limit counts the callers that wait. A cancelled caller may still be counted.
    func theLimitCountsWhoWaits(_ limit: Int, waiters: Int) {
        let waiting = callers.indices.filter { entries[limit][$0].position == .waiting }
        let queue = queue(limit)
        expect(
            (queue.count...waiting.count).contains(waiters),
            "limit \(limit + 1) counts \(waiters) waiters, expected \(queue.count) to \(waiting.count)")
    }

    /// When all calls have ended, the limit counts no permits and no waiters.
    func nothingIsLost(_ limit: Int, permits: Int, waiters: Int, hosts: Int) {
        expect(
            permits == 0 && waiters == 0 && hosts == 0,
            "limit \(limit + 1) counts \(permits) permits, \(waiters) waiters and \(hosts) hosts after the last call")
    }

    /// While calls wait and the gate is open, at least one call can continue or release its permits.
    func someoneCanContinue(isGateOpen: Bool, isEntering: [Bool], isAdmitted: [Bool]) {
        guard isEntering.contains(true), isGateOpen else { return }
        expect(callers.indices.contains { isReady($0) || isAdmitted[$0] }, "all calls wait for each other")
    }

    /// A call ends if it is cancelled at any point.
    func everyCallEnds(isEntering: [Bool]) {
        expect(!isEntering.contains(true), "a cancelled call still waits")
    }
}
