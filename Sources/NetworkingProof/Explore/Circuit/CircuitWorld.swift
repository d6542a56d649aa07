import Networking

/// A circuit machine, calls whose outcomes arrive in any order, and the facts that the rules need.
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

    /// The expected phase of the circuit, computed without the machine.
    enum Phase: Equatable, Sendable {
        case closed
        case open(until: Int64)
        case halfOpen
    }

    /// An outcome that has arrived since the circuit closed, and that the circuit counts.
    struct Counted: Sendable {
        let slice: Int64
        let isFailure: Bool
    }

    let options: Options
    var machine: CircuitMachine
    /// The time in slices.
    var now: Int64 = 100
    var phase = Phase.closed
    var counted: [Counted] = []
    /// The calls in progress, each with the number of times that the circuit had opened before it admitted the call.
    var running: [Call: [Int]] = [:]
    /// The broken rules of the last move.
    var faults: [String] = []

    init(_ options: Options) {
        self.options = options
        machine = CircuitMachine(
            .init(
                failureRatio: 0.5, minimumCalls: options.minimumCalls, window: .milliseconds(10),
                pause: .milliseconds(options.pause)))
    }

    var time: Duration { .milliseconds(now) }

    /// The outcomes that are in the window now.
    var window: [Counted] { counted.filter { now - $0.slice < 10 } }

    var moves: [Move] {
        var moves: [Move] = []
        if running.values.joined().count < options.calls, window.count < options.outcomes { moves.append(.enter) }
        for call in Call.allCases where running[call]?.isEmpty == false {
            moves += [.success, .failure, .neither].map { .leave(call, $0) }
        }
        return moves + [.wait(slices: 1), .wait(slices: 4)]
    }

    mutating func make(_ move: Move) -> [String] {
        faults = []
        switch move {
        case .enter: enter()
        case .leave(let call, let outcome): leave(call, outcome)
        case .wait(let slices): now += slices
        }
        aRefusedCircuitBecomesReady()
        anIdleMachineMayBeForgotten()
        return faults
    }

    func write(to key: inout StateKey) {
        for call in Call.allCases { key.write(UInt8(running[call]?.count ?? 0)) }
        switch machine.phase {
        case .closed: key.write(0)
        case .open(let until):
            key.write(1)
            key.write(UInt8(clamping: Int64(max(until - time, .milliseconds(-10)) / .milliseconds(1)) + 10))
        case .halfOpen(let isProbing): key.write(isProbing ? 2 : 3)
        }
        for count in machine.counts where now - count.slice < 10 {
            key.write([UInt8(now - count.slice), UInt8(count.calls), UInt8(count.failures)])
        }
        key.write(0xFF)
        switch phase {
        case .closed: key.write(0)
        case .open(let until): key.write([1, UInt8(max(until - now, -10) + 10)])
        case .halfOpen: key.write(2)
        }
        for one in window.sorted(by: { ($0.slice, $0.isFailure ? 1 : 0) < ($1.slice, $1.isFailure ? 1 : 0) }) {
            key.write([UInt8(now - one.slice), one.isFailure ? 1 : 0])
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
