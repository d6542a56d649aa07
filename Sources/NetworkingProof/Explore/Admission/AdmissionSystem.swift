import Foundation
import Networking

/// The limits, the gate and the calls of one state.
enum AdmissionSystem {
    struct Caller: Sendable {
        var host = 0
        var priority = 0
        /// Whether the caller's service lists the limits in the opposite order.
        var isReversed = false
    }

    struct Limit: Sendable {
        var perHost = 1
        var total: Int?
    }

    struct Options: Sendable {
        let limits: [Limit]
        let callers: [Caller]
        let hasGate: Bool
        /// Whether servers refuse requests when they are overloaded.
        let hasRefusals: Bool
        /// The requests of the callers, and their origins. They are created once, because every move is made many
        /// times.
        let requests: [HTTPRequest]
        let origins: [HTTPOrigin]

        init(limits: [Limit], callers: [Caller], hasGate: Bool = false, hasRefusals: Bool = false) {
            (self.limits, self.callers, self.hasGate, self.hasRefusals) = (limits, callers, hasGate, hasRefusals)
            let urls = ["https://a.example/", "https://b.example/", "https://c.example/"].compactMap { URL(string: $0) }
            origins = urls.compactMap { HTTPOrigin($0) }
            requests = callers.enumerated().map { index, caller in
                var request = HTTPRequest(.get, urls[caller.host])
                request.order(priority: HTTPRequest.Priority(caller.priority))
                request[option: CallerOption.self] = index
                return request
            }
        }
    }

    enum Move: CustomStringConvertible, Sendable {
        case begin(Int)
        case run(Int)
        case cancel(Int)
        case hear(Int, isRefused: Bool)
        case leave(Int)
        case closeGate
        case openGate

        var description: String {
            switch self {
            case .begin(let index): "call \(index + 1) begins"
            case .run(let index): "call \(index + 1) continues"
            case .cancel(let index): "call \(index + 1) is cancelled"
            case .hear(let index, let isRefused): "call \(index + 1) is \(isRefused ? "refused" : "accepted")"
            case .leave(let index): "call \(index + 1) releases its permits"
            case .closeGate: "the gate closes"
            case .openGate: "the gate opens"
            }
        }
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class LiveAdmission: LiveSystem {
    private struct Root: Endpoint {
        var path: EndpointPath { "" }
    }

    let options: AdmissionSystem.Options
    let ledger: AdmissionLedger
    let limits: [RecordedLimit]
    let gate: ManualGate
    let calls: [ManualCall]

    init(_ options: AdmissionSystem.Options) {
        self.options = options
        let ledger = AdmissionLedger(options)
        self.ledger = ledger
        gate = ManualGate(ledger)
        calls = options.callers.map { _ in ManualCall() }
        // Limits are reserved in the order of their addresses. The first limit has the lowest address.
        limits = options.limits.map { _ in RecordedLimit(ledger) }
            .sorted { ObjectIdentifier($0) < ObjectIdentifier($1) }
        for (index, limit) in limits.enumerated() { limit.begin(options.limits[index], at: index) }
        ledger.isReady = { [calls] in calls[$0].executor.isReady }
        ledger.isCancelled = { [calls] in calls[$0].isCancelled }
    }

    var moves: [AdmissionSystem.Move] {
        var moves: [AdmissionSystem.Move] = []
        for (index, call) in calls.enumerated() {
            if call.task == nil { moves.append(.begin(index)) }
            if call.executor.isReady { moves.append(.run(index)) }
            if call.isEntering, !call.isCancelled { moves.append(.cancel(index)) }
            if call.isAdmitted { moves.append(.leave(index)) }
            if options.hasRefusals, call.isAdmitted, !call.hasHead {
                moves += [.hear(index, isRefused: true), .hear(index, isRefused: false)]
            }
        }
        return moves + (options.hasGate ? [gate.isOpen ? .closeGate : .openGate] : [])
    }

    func make(_ move: AdmissionSystem.Move) -> [String] {
        ledger.faults = []
        switch move {
        case .begin(let index): begin(index)
        case .run(let index): calls[index].executor.run()
        case .cancel(let index): cancel(index)
        case .hear(let index, let isRefused): hear(index, isRefused: isRefused)
        case .leave(let index): leave(index)
        case .closeGate: gate.isOpen = false
        case .openGate: gate.open()
        }
        for (index, call) in calls.enumerated() where call.isEntering { finish(index) }
        ledger.noWaiterIsForgotten()
        ledger.someoneCanContinue(
            isGateOpen: gate.isOpen, isEntering: calls.map(\.isEntering), isAdmitted: calls.map(\.isAdmitted))
        for (index, limit) in limits.map(\.limit).enumerated() {
            ledger.theLimitCountsWhatIsHeld(index, permits: limit.activeCount)
            ledger.theLimitCountsWhoWaits(index, waiters: limit.waiterCount)
            let reduced = limit.contents.reduced
            for host in ledger.allowed[index].indices {
                ledger.theLowerLimitIsKnown(index, host: host, found: reduced[options.origins[host]]?.limit)
            }
        }
        return ledger.faults
    }

    private func begin(_ index: Int) {
        let (call, caller, request) = (calls[index], options.callers[index], options.requests[index])
        let policies = (caller.isReversed ? limits.reversed() : limits) as [any AdmissionPolicy] + [gate]
        call.task = Task(executorPreference: call.executor) {
            do { call.keep(try await Admission(policies).enter(request, for: Root())) } catch { call.hasFailed = true }
        }
        call.executor.run()
    }

    /// Resets a call that was cancelled and has ended without a permit.
    private func finish(_ index: Int) {
        guard calls[index].hasFailed else { return }
        reset(index)
    }

    private func reset(_ index: Int) {
        let call = calls[index]
        (call.task, call.isCancelled, call.hasFailed, call.hasHead) = (nil, false, false, false)
        for limit in limits { limit.requests[index] = nil }
        ledger.end(index)
    }

    private func cancel(_ index: Int) {
        calls[index].isCancelled = true
        calls[index].task?.cancel()
    }

    private func hear(_ index: Int, isRefused: Bool) {
        calls[index].hasHead = true
        for limit in limits { limit.hear(index, options.requests[index], isRefused: isRefused) }
    }

    private func leave(_ index: Int) {
        calls[index].leave()
        reset(index)
    }

    func end() -> [String] {
        ledger.faults = []
        for (index, call) in calls.enumerated() where call.isEntering {
            if !call.isCancelled { cancel(index) }
            while call.executor.isReady { call.executor.run() }
            finish(index)
        }
        ledger.everyCallEnds(isEntering: calls.map(\.isEntering))
        for (index, call) in calls.enumerated() where call.isAdmitted { leave(index) }
        for (index, limit) in limits.map(\.limit).enumerated() {
            ledger.nothingIsLost(
                index, permits: limit.activeCount, waiters: limit.waiterCount, hosts: limit.contents.active.count)
        }
        return ledger.faults
    }
}

extension ExploreCheck {
    /// The states of limits, and of the calls that wait for them.
    static var admissions: [ExplorePart] {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return [] }
        return [
            part(
                "admission-total", (6_000, .max),
                .init(
                    limits: [.init(perHost: 1, total: 2)],
                    callers: [.init(), .init(priority: 1), .init(host: 1), .init(host: 2, priority: 1)])),
            part(
                "admission-two", (6_000, .max),
                .init(
                    limits: [.init(), .init()],
                    callers: [.init(), .init(isReversed: true), .init(priority: 1)])),
            part(
                "admission-gate", (6_000, .max),
                .init(
                    limits: [.init(), .init(perHost: 2, total: 1)],
                    callers: [.init(), .init(), .init(isReversed: true)], hasGate: true)),
            part(
                "admission-refusals", (6_000, 400_000),
                .init(
                    limits: [.init(perHost: 4)],
                    callers: [.init(), .init(), .init(), .init(), .init(priority: 1)], hasRefusals: true)),
            part(
                "admission-refusals-total", (6_000, 400_000),
                .init(
                    limits: [.init(perHost: 2, total: 2)],
                    callers: [.init(), .init(), .init(host: 1), .init(host: 1, priority: 1)], hasRefusals: true)),
        ]
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func part(
        _ name: String, _ limits: (quick: Int, full: Int), _ options: AdmissionSystem.Options
    ) -> ExplorePart {
        .world(name, limits: limits) { [ReplayedWorld<LiveAdmission>(options)] }
    }
}
