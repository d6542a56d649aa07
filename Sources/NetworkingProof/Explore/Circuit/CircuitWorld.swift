import Networking

/// A circuit machine, and calls whose outcomes arrive in any order.
struct CircuitWorld: World {
    struct Options: Sendable {
        var calls = 3
        var minimumCalls = 2
        /// The pause, in slices of the window. The window has 10 slices.
        var pause: Int64 = 3
        /// While the window contains this number of outcomes, no call begins.
        var outcomes = 4
    }

    enum Call: UInt8, CaseIterable, Sendable {
        /// A call that was admitted since the circuit closed.
        case current
        /// A call that was admitted before the circuit opened.
        case late
        case probe
        /// A probe that took so long that another probe began.
        case oldProbe
    }

    enum Move: CustomStringConvertible, Sendable {
        case enter
        case leave(Call, CircuitMachine.Outcome)
        case wait(slices: Int64)

        var description: String {
            switch self {
            case .enter: "a call asks for a permit"
            case .leave(let call, let outcome): "a \(call) call ends: \(outcome)"
            case .wait(let slices): "\(slices) slices pass"
            }
        }
    }

    let options: Options
    var machine: CircuitMachine
    /// The time in slices.
    var now: Int64 = 100
    /// The calls in progress, each with the number of times that the circuit had opened when it admitted the call. For
    /// a probe, the number of the probe.
    var running: [Call: [Int]] = [:]
    var rules: CircuitRules

    init(_ options: Options) {
        self.options = options
        rules = CircuitRules(minimumCalls: options.minimumCalls, pause: options.pause)
        machine = CircuitMachine(
            .init(
                failureRatio: 0.5, minimumCalls: options.minimumCalls, window: .milliseconds(10),
                pause: .milliseconds(options.pause)))
    }

    var time: Duration { .milliseconds(now) }

    var moves: [Move] {
        var moves: [Move] = []
        if running.values.joined().count < options.calls, rules.window(at: now).count < options.outcomes {
            moves.append(.enter)
        }
        for call in Call.allCases where running[call]?.isEmpty == false {
            moves += [.success, .failure, .neither].map { .leave(call, $0) }
        }
        return moves + [.wait(slices: 1), .wait(slices: 4)]
    }

    mutating func make(_ move: Move) -> [String] {
        rules.faults = []
        switch move {
        case .enter: enter()
        case .leave(let call, let outcome): leave(call, outcome)
        case .wait(let slices): now += slices
        }
        var later = machine
        let answer = CircuitRules.Answer(later.enter(at: time + .milliseconds(options.pause)))
        rules.aRefusedCircuitBecomesReady(answer)
        if machine.isIdle(at: time) { rules.beIdle(at: now) }
        return rules.faults
    }

    private mutating func enter() {
        let answer = CircuitRules.Answer(machine.enter(at: time))
        rules.enter(answer, at: now)
        switch answer {
        case .pass: running[.current, default: []].append(machine.openings)
        case .probe:
            running[.oldProbe, default: []] += running[.probe, default: []]
            running[.probe] = [machine.probes]
        case .refuse: break
        }
    }

    private mutating func leave(_ call: Call, _ outcome: CircuitMachine.Outcome) {
        let admitted = running[call, default: []].removeFirst()
        let before = shown
        switch call {
        case .probe, .oldProbe: machine.leave(outcome, probe: admitted, at: time)
        case .current, .late: machine.leave(outcome, admitted: admitted, at: time)
        }
        let result = CircuitRules.Outcome(outcome)
        switch call {
        case .probe, .oldProbe:
            rules.endProbe(result, isLast: call == .probe, at: now, before: before, shown: shown)
        case .late: rules.endLate(before: before, shown: shown)
        case .current:
            guard rules.end(result, at: now, shown: shown) else { return }
            running[.late, default: []] += running[.current, default: []]
            running[.current] = nil
        }
    }

    /// The state of the machine as the rules see it.
    private var shown: CircuitRules.Shown {
        let phase: CircuitRules.Phase =
            switch machine.phase {
            case .closed: .closed
            case .open(let until): .open(until: until.slices)
            case .halfOpen(let isProbing): .halfOpen(isProbing: isProbing)
            }
        let counts = machine.counts
        return CircuitRules.Shown(
            phase: phase, counted: counts.map(\.calls).reduce(0, +), failures: counts.map(\.failures).reduce(0, +))
    }

    func write(to key: inout StateKey) {
        for call in Call.allCases { key.write(UInt8(running[call]?.count ?? 0)) }
        switch machine.phase {
        case .closed: key.write(0)
        case .open(let until):
            key.write(1)
            key.write(UInt8(clamping: Int64(max(until - time, .milliseconds(-10)) / .milliseconds(1)) + 10))
        case .halfOpen(let isProbing):
            key.write(isProbing ? 2 : 3)
            key.write(UInt8(max(rules.nextProbe - now, -1) + 1))
        }
        for count in machine.counts where now - count.slice < 10 {
            key.write([UInt8(now - count.slice), UInt8(count.calls), UInt8(count.failures)])
        }
        key.write(0xFF)
        switch rules.phase {
        case .closed: key.write(0)
        case .open(let until): key.write([1, UInt8(max(until - now, -10) + 10)])
        case .halfOpen(let isProbing): key.write(isProbing ? 2 : 3)
        }
        for one in rules.window(at: now).sorted(by: {
            ($0.slice, $0.isFailure ? 1 : 0) < ($1.slice, $1.isFailure ? 1 : 0)
        }) {
            key.write([UInt8(now - one.slice), one.isFailure ? 1 : 0])
        }
    }
}

extension Duration {
    /// The duration in slices; -1 if it is not a whole number of slices.
    fileprivate var slices: Int64 { Int64(exactly: self / .milliseconds(1)) ?? -1 }
}

extension CircuitRules.Answer {
    fileprivate init(_ answer: CircuitMachine.Answer) {
        self =
            switch answer {
            case .pass: .pass
            case .probe: .probe
            case .refuse(let after): .refuse(after: after.slices)
            }
    }
}

extension CircuitRules.Outcome {
    fileprivate init(_ outcome: CircuitMachine.Outcome) {
        self =
            switch outcome {
            case .success: .success
            case .failure: .failure
            case .neither: .neither
            }
    }
}

extension ExploreCheck {
    /// The states of a circuit breaker for one origin.
    static let circuits: [ExplorePart] = [
        .world("circuit", limits: (60_000, .max)) { [CircuitWorld(.init())] },
        .world("circuit-late", limits: (60_000, 3_000_000)) {
            [CircuitWorld(.init(calls: 4, minimumCalls: 3, pause: 12, outcomes: 5))]
        },
    ]
}
