import Foundation
import NetworkingOutbox

/// Two processes that share the folder of an outbox, the users who log in and out, the server, and a wall clock that
/// jumps. At any step, a process may be killed or lose its lease.
struct OutboxWorld: World {
    struct Options: Sendable {
        /// The writes that the app may store: the lane, and whether the write expires.
        var writes: [(lane: Int?, expires: Bool)] = [(1, false), (1, false)]
        var asks = false
        var dropsAtLogOut = false
        var hasTwoUsers = true
        var canKill = true
        var hasClock = true
        var hasLogOut = true
        var number: UInt8 = 0
    }

    /// What the server does with a request.
    enum Answer: CaseIterable, Sendable {
        case executed, refused, notNow, lostAfterExecution, lostOnTheWay, notConnected
    }

    enum Move: CustomStringConvertible, Sendable {
        case store(process: Int)
        case lead(Int)
        case step(Int)
        case answer(Int, write: Int, Answer)
        case record(Int, write: Int)
        case release(Int)
        case kill(Int)
        case start(Int)
        case loseLease
        case logIn(OutboxRules.User?)
        case notice(Int)
        case sendAgain(Int)
        case drop(Int)
        case pass
        case jump

        var description: String {
            switch self {
            case .store(let process): "process \(process) stores a write"
            case .lead(let process): "process \(process) takes the lease"
            case .step(let process): "process \(process) does the next thing"
            case .answer(let process, let write, let answer): "write \(write) of process \(process): \(answer)"
            case .record(let process, let write): "process \(process) records the end of write \(write)"
            case .release(let process): "process \(process) gives the lease back"
            case .kill(let process): "process \(process) is killed"
            case .start(let process): "process \(process) starts"
            case .loseLease: "the lease expires"
            case .logIn(let user): user.map { "\($0) logs in" } ?? "the user logs out"
            case .notice(let process): "process \(process) notices who is logged in"
            case .sendAgain(let write): "the app sends write \(write) again"
            case .drop(let write): "the app drops write \(write)"
            case .pass: "a second passes"
            case .jump: "the wall clock jumps"
            }
        }
    }

    /// A call in progress. The service binds the call to the session in which the call began.
    struct Call: Hashable, Sendable {
        let user: OutboxRules.User?
        let begunAfterExpiry: Bool
        /// Whether its process has lost the lease.
        var isLate = false
        let id: UUID
        var end: OutboxMachine.End?
    }

    struct Process: Sendable {
        var machine: OutboxMachine
        var isAlive = true
        var calls: [Int: Call] = [:]
    }

    let options: Options
    var files: [OutboxName: OutboxRecord.State] = [:]
    /// The entries whose response was lost.
    var doubtful: Set<OutboxName> = []
    var processes: [Process] = []
    /// The process with the lease.
    var leader: Int?
    var user: OutboxRules.User? = .ann
    var now = 0
    var isLate = false
    var rules = OutboxRules()

    init(_ options: Options) {
        self.options = options
        processes = (0..<2).map { _ in Process(machine: machine()) }
    }

    func machine() -> OutboxMachine {
        // All delays are a second, so that the number of failures makes no difference.
        OutboxMachine(
            .init(
                limit: 2, dropsAtLogOut: options.dropsAtLogOut, firstDelay: .seconds(1), longestDelay: .seconds(1)))
    }

    var time: Duration { .seconds(now) }
    /// Entries that expire do so at 100 s. The wall clock shows an earlier time before its jump, and a later time after
    /// it.
    var date: Date { Date(timeIntervalSince1970: isLate ? 200 : 0) }

    func name(_ write: Int) -> OutboxName {
        OutboxName(
            number: UInt64(write + 1), lane: rules.writes[write].lane.map { UInt64($0 * 2) + lane(of: write) },
            id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(write))))
    }

    /// As in the library, the lane of an order differs from user to user.
    func lane(of write: Int) -> UInt64 { rules.writes[write].user == .ben ? 1 : 0 }

    func number(_ name: OutboxName) -> Int { Int(name.number) - 1 }

    func isHeld(_ state: OutboxRecord.State) -> Bool {
        switch state {
        case .inDoubt, .refused: true
        case .waiting, .sending, .sent, .expired, .dropped: false
        }
    }

    // MARK: Moves

    var moves: [Move] {
        var moves: [Move] = options.hasClock ? [.pass, .jump] : []
        for (index, process) in processes.enumerated() {
            guard process.isAlive else {
                moves.append(.start(index))
                continue
            }
            if rules.writes.count < options.writes.count, user != nil { moves.append(.store(process: index)) }
            if options.canKill { moves.append(.kill(index)) }
            moves.append(.notice(index))
            // A process whose lease has expired does not take it again before its calls have ended.
            if leader == nil, process.calls.isEmpty { moves.append(.lead(index)) }
            if leader == index {
                moves.append(.step(index))
                if process.calls.isEmpty { moves.append(.release(index)) }
            }
            for (write, call) in process.calls.sorted(by: { $0.key < $1.key }) {
                if call.end == nil {
                    moves += Answer.allCases.map { .answer(index, write: write, $0) }
                } else {
                    moves.append(.record(index, write: write))
                }
            }
        }
        if leader != nil { moves.append(.loseLease) }
        let users: [OutboxRules.User?] = options.hasTwoUsers ? [nil, .ann, .ben] : [nil, .ann]
        if options.hasLogOut { moves += users.filter { $0 != user }.map { .logIn($0) } }
        for (name, state) in files.sorted(by: { $0.key < $1.key }) where isHeld(state) && leader == nil {
            moves += [.sendAgain(number(name)), .drop(number(name))]
        }
        return moves
    }

    mutating func make(_ move: Move) -> [String] {
        rules.faults = []
        switch move {
        case .store(let process): store(in: process)
        case .lead(let process):
            leader = process
            reload(process)
        case .step(let process): step(process)
        case .answer(let process, let write, let answer): self.answer(process, write, answer)
        case .record(let process, let write): record(process, write)
        case .release: leader = nil
        case .kill(let process):
            // The calls of a process without the lease already counted as lost when the lease was lost, and the app may
            // have decided about them since then.
            if leader == process { for write in processes[process].calls.keys { rules.lose(write) } }
            processes[process] = Process(machine: machine(), isAlive: false)
        case .start(let process):
            processes[process].isAlive = true
            reload(process)
            notice(process)
        case .loseLease:
            // The process is still running: its calls are cancelled, but their requests may arrive later.
            if let leader {
                for (write, call) in processes[leader].calls {
                    processes[leader].calls[write]?.isLate = call.end == nil
                    if call.end == nil { rules.lose(write) } else { rules.postpone(write) }
                }
            }
            leader = nil
        case .logIn(let user): self.user = user
        case .notice(let process): notice(process)
        case .sendAgain(let write):
            files[name(write)] = .waiting
            rules.decide(write)
            for index in processes.indices { processes[index].machine.resume(name(write)) }
        case .drop(let write):
            files[name(write)] = nil
            rules.end(write)
        case .pass: now += 1
        case .jump: isLate.toggle()
        }
        checkProgress()
        return rules.faults
    }
}
