import Networking

/// A gate machine, and requests that wait for their turns after pauses. A unit of time is a millisecond.
struct GateWorld: World {
    struct Options: Sendable {
        var requests = 2
        /// The spread, in halves of a pause: the time after the pause over which its requests leave.
        var halves = 1
        /// The pauses that the server requests. They are even numbers, so that half of a pause is a whole number.
        var pauses = [2, 4]
        var longest = 4
    }

    struct Request: Hashable, Sendable {
        var isRepeated: Bool
        /// The time of the request's turn, and the end of the pause to which the turn belongs.
        var turn: Int
        var opening: Int
    }

    enum Move: CustomStringConvertible, Sendable {
        case close(Int)
        case arrive(isRepeated: Bool, isLate: Bool)
        case wait

        var description: String {
            switch self {
            case .close(let pause): "the server requests a pause of \(pause) ms"
            case .arrive(let isRepeated, let isLate):
                "a \(isRepeated ? "repeated" : "new") request draws \(isLate ? "the last" : "the first") turn"
            case .wait: "a millisecond passes"
            }
        }
    }

    let options: Options
    var machine = GateMachine()
    var now = 100
    var waiting: [Request] = []
    var rules = GateRules()

    init(_ options: Options) {
        self.options = options
    }

    private var time: Duration { .milliseconds(now) }

    var moves: [Move] {
        var moves: [Move] = options.pauses.map { Move.close($0) } + [.wait]
        if waiting.count < options.requests {
            for isRepeated in [false, true] {
                moves += [false, true].map { Move.arrive(isRepeated: isRepeated, isLate: $0) }
            }
        }
        return moves
    }

    mutating func make(_ move: Move) -> [String] {
        rules.faults = []
        switch move {
        case .close(let pause):
            let spread = Double(options.halves) / 2
            let wait = machine.close(
                for: .milliseconds(pause), atMost: .milliseconds(options.longest), spread: spread, at: time)
            rules.close(for: pause, halves: options.halves, at: now, changed: wait != nil)
        case .arrive(let isRepeated, let isLate):
            proceed(Request(isRepeated: isRepeated, turn: now, opening: 0), isLate: isLate)
        case .wait:
            now += 1
            let due = waiting.filter { $0.turn <= now }
            waiting.removeAll { $0.turn <= now }
            for request in due { proceed(request, isLate: true) }
        }
        return rules.faults
    }

    /// Handles a request that arrives, or whose turn has come: the request leaves, or draws its next turn.
    private mutating func proceed(_ request: Request, isLate: Bool) {
        let opening: Duration? = request.opening > 0 ? .milliseconds(request.opening) : nil
        guard machine.holds(isRepeated: request.isRepeated, havingTurnOf: opening, at: time) else {
            return rules.leave(isRepeated: request.isRepeated, turnOf: request.opening, at: now)
        }
        let turn = machine.turn(at: time, before: nil, fraction: isLate ? 1 : 0)
        var request = request
        request.turn = Int((turn / .milliseconds(1)).rounded(.up))
        request.opening = Int((machine.opening / .milliseconds(1)).rounded())
        rules.wait(until: request.turn, at: now)
        // If the time of the turn has already come, the request takes the turn at once.
        if request.turn <= now { return proceed(request, isLate: isLate) }
        waiting.append(request)
    }

    func write(to key: inout StateKey) {
        func left(_ time: Duration) -> UInt8 {
            UInt8(clamping: Int(max((time - self.time) / .milliseconds(1), -1).rounded()) + 1)
        }
        key.write(UInt8(options.halves))
        key.write([left(machine.opening), left(machine.end)])
        key.write([UInt8(max(rules.opening - now, -1) + 1), UInt8(max(rules.end - now, -1) + 1)])
        for request in waiting.sorted(by: { ($0.turn, $0.opening) < ($1.turn, $1.opening) }) {
            key.write(request.isRepeated, request.opening == rules.opening)
            key.write(UInt8(request.turn - now))
        }
    }
}

extension ExploreCheck {
    /// The states of a backoff gate for one origin, with and without a spread.
    static let gates: [ExplorePart] = [
        .world("gate") { [0, 1, 2].map { GateWorld(.init(halves: $0)) } }
    ]
}
