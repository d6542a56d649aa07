/// Records, independently of the library, which callers hold a permit of each limit and which callers wait for a
/// permit. The rules compare the limits with these records.
final class AdmissionLedger: @unchecked Sendable {  // because one thread at a time uses it
    enum Position: UInt8, Sendable {
        case outside, waiting, reserved, holding
    }

    /// The position of a caller at one limit.
    struct Entry: Sendable {
        var position = Position.outside
        /// The position of the caller in the order in which callers began to wait. It is kept to the end of the call.
        var arrival: Int?
    }

    /// The entries, by limit and caller.
    var entries: [[Entry]]
    let callers: [AdmissionSystem.Caller]
    let limits: [AdmissionSystem.Limit]
    /// The current limits for each host. Refusals lower them.
    private(set) var allowed: [[Int]]
    /// For each host, the number of requests in progress that were admitted before the limit of the host was last
    /// halved.
    private(set) var earlier: [[Int]]
    private var lastArrival = 0
    /// The broken rules of the last move.
    var faults: [String] = []
    /// Whether a caller's task can continue.
    var isReady: (Int) -> Bool = { _ in false }
    var isCancelled: (Int) -> Bool = { _ in false }

    init(_ options: AdmissionSystem.Options) {
        (callers, limits) = (options.callers, options.limits)
        let hosts = (options.callers.map(\.host).max() ?? 0) + 1
        allowed = options.limits.map { Array(repeating: $0.perHost, count: hosts) }
        earlier = allowed.map { $0.map { _ in 0 } }
        entries = Array(repeating: Array(repeating: Entry(), count: callers.count), count: limits.count)
    }

    func expect(_ isTrue: Bool, _ text: String, rule: String = #function) {
        if !isTrue { faults.append("\(rule.prefix { $0 != "(" }): \(text)") }
    }

    /// The number of permits of a limit that are held or reserved, for one host or for all hosts.
    func used(_ limit: Int, host: Int? = nil) -> Int {
        callers.indices.filter {
            entries[limit][$0].position.rawValue >= Position.reserved.rawValue
                && (host == nil || callers[$0].host == host)
        }.count
    }

    /// The callers that wait for a limit and are not cancelled, in the order in which they get permits.
    func queue(_ limit: Int) -> [Int] {
        callers.indices.filter { entries[limit][$0].position == .waiting && !isCancelled($0) }
            .sorted {
                (-callers[$0].priority, entries[limit][$0].arrival ?? 0)
                    < (-callers[$1].priority, entries[limit][$1].arrival ?? 0)
            }
    }

    /// Whether a permit for a host is free.
    ///
    /// - Parameter taking: Callers that also get a permit.
    func isFree(_ limit: Int, host: Int, taking others: [Int] = []) -> Bool {
        used(limit, host: host) + others.filter { callers[$0].host == host }.count < allowed[limit][host]
            && used(limit) + others.count < limits[limit].total ?? .max
    }

    func enter(_ caller: Int, _ limit: Int) {
        nobodyOvertakes(caller, limit)
        entries[limit][caller].position = .holding
        noPermitAboveTheLimit(limit, caller)
        noPermitAboveALowerLimit(limit, caller)
    }

    func wait(_ caller: Int, _ limit: Int) {
        limitsAreReservedInOrder(caller, limit)
        if entries[limit][caller].arrival == nil {
            lastArrival += 1
            entries[limit][caller].arrival = lastArrival
        }
        entries[limit][caller].position = .waiting
    }

    /// Records that a waiting caller has got its permit.
    func stopWaiting(_ caller: Int, _ limit: Int) {
        entries[limit][caller].position = .holding
        noPermitAboveTheLimit(limit, caller)
    }

    func leave(_ caller: Int, _ limit: Int, by release: () -> Void) {
        entries[limit][caller].position = .outside
        let host = callers[caller].host
        earlier[limit][host] = max(earlier[limit][host] - 1, 0)
        change(limit, by: release)
    }

    /// The head of a response arrives. If it is a refusal, the limit of the host is halved, unless requests that were
    /// admitted before the last halving are still in progress. Any other head raises a lowered limit by one.
    func hear(_ caller: Int, _ limit: Int, isRefused: Bool, by tell: () -> Void) {
        let (host, perHost) = (callers[caller].host, limits[limit].perHost)
        let now = allowed[limit][host]
        if !isRefused {
            allowed[limit][host] = min(now + 1, perHost)
        } else if earlier[limit][host] == 0 {
            allowed[limit][host] = max(now / 2, perHost / 8, 1)
            earlier[limit][host] = used(limit, host: host)
        }
        if allowed[limit][host] == perHost { earlier[limit][host] = 0 }
        change(limit, by: tell)
    }

    /// After a change, each waiting caller for which a permit is free gets it.
    private func change(_ limit: Int, by change: () -> Void) {
        let ready = callers.indices.filter(isReady)
        var expected: [Int] = []
        while let next = queue(limit).first(where: {
            !expected.contains($0) && isFree(limit, host: callers[$0].host, taking: expected)
        }) { expected.append(next) }
        change()
        let next = callers.indices.filter {
            entries[limit][$0].position == .waiting && !isCancelled($0) && isReady($0) && !ready.contains($0)
        }
        theOldestOfTheMostUrgentAreNext(next, expected.sorted())
        for winner in next { entries[limit][winner].position = .reserved }
    }

    func end(_ caller: Int) {
        for limit in limits.indices { entries[limit][caller] = Entry() }
    }
}
