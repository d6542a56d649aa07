import Foundation
import NetworkingOutbox

/// Two processes that share the folder of an outbox, the users who log in and out, the server, and a wall clock that
/// jumps. Processes are killed, and lose their lease, at any step.
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

    /// A call on its way. Its session is that of its beginning: the service pins it.
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

    private func machine() -> OutboxMachine {
        // All delays are a second, so that the number of failures makes no difference.
        OutboxMachine(
            .init(
                limit: 2, dropsAtLogOut: options.dropsAtLogOut, firstDelay: .seconds(1), longestDelay: .seconds(1)))
    }

    var time: Duration { .seconds(now) }
    /// Entries that expire do so at 100 s. Before the jump, it is earlier; after the jump, later.
    var date: Date { Date(timeIntervalSince1970: isLate ? 200 : 0) }

    func name(_ write: Int) -> OutboxName {
        OutboxName(
            number: UInt64(write + 1), lane: rules.writes[write].lane.map { UInt64($0 * 2) + lane(of: write) },
            id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(write))))
    }

    /// As in the library, the lane of an order differs from user to user.
    private func lane(of write: Int) -> UInt64 { rules.writes[write].user == .ben ? 1 : 0 }

    func number(_ name: OutboxName) -> Int { Int(name.number) - 1 }

    private func isHeld(_ state: OutboxRecord.State) -> Bool {
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
            for write in processes[process].calls.keys { rules.lose(write) }
            processes[process] = Process(machine: machine(), isAlive: false)
        case .start(let process):
            processes[process].isAlive = true
            reload(process)
            notice(process)
        case .loseLease:
            // The calls of a process that lives are cancelled, and their requests may arrive later.
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

    private mutating func store(in process: Int) {
        let (lane, expires) = options.writes[rules.writes.count]
        rules.store(.init(user: user, lane: lane, asks: options.asks, canExpire: expires))
        let name = name(rules.writes.count - 1)
        files[name] = .waiting
        reload(process, completely: false)
    }

    mutating func notice(_ process: Int) {
        processes[process].machine.set(user.map { .user("\($0)") } ?? .nobody)
    }

    /// Brings a process into step with the folder.
    ///
    /// - Parameter completely: Whether it also looks at the files that it knows, as it does when it gets the lease.
    mutating func reload(_ process: Int, completely: Bool = true) {
        for name in processes[process].machine.entries.keys where files[name] == nil {
            processes[process].machine.remove(name)
        }
        for name in files.keys.sorted() where processes[process].calls[number(name)] == nil {
            if completely || processes[process].machine.entries[name] == nil { read(name, in: process) }
        }
    }

    private mutating func read(_ name: OutboxName, in process: Int) {
        guard let state = files[name] else { return }
        let stage: OutboxMachine.Stage =
            switch state {
            case .sending: .marked
            case .inDoubt, .refused: .held
            case .sent, .expired, .dropped: .ended
            case .waiting: .waiting
            }
        let write = rules.writes[number(name)]
        processes[process].machine.set(
            .init(
                name, owner: write.user.map { "\($0)" },
                expires: write.canExpire ? Date(timeIntervalSince1970: 100) : nil, asks: write.asks, stage: stage))
    }

    private mutating func step(_ process: Int) {
        processes[process].machine.queueAll()
        guard let step = processes[process].machine.next(at: time, on: date) else { return }
        switch step {
        case .send(let name):
            let write = number(name)
            // The outbox asks for the session, and compares its user, before the call begins.
            guard record(of: name).mayBeSent(by: user.map { "\($0)" }, anonymously: true) else {
                processes[process].machine.end(name, as: .noToken, at: time, fraction: 0.5)
                return
            }
            // The file is read, and marked, under its lock.
            guard files[name] == .waiting else {
                processes[process].machine.end(
                    name, as: .notNow(after: nil, isOffline: false), at: time, fraction: 0.5)
                return read(name, in: process)
            }
            let id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, UInt8(process)))
            if rules.writes[write].asks { files[name] = .sending(call: id) }
            let isOver = rules.writes[write].canExpire && isLate
            processes[process].calls[write] = Call(user: user, begunAfterExpiry: isOver, id: id)
        case .expire(let name): change(name, to: .expired, in: process)
        case .doubt(let name): change(name, to: .inDoubt(reason: ""), in: process)
        case .drop(let name):
            // The outbox asks once more who is logged in.
            guard user != rules.writes[number(name)].user else { return read(name, in: process) }
            rules.drop(number(name), whileLoggedIn: user, isChosen: options.dropsAtLogOut)
            change(name, to: .dropped, in: process)
        }
    }

    private func record(of name: OutboxName) -> OutboxRecord {
        let write = rules.writes[number(name)]
        var record = OutboxRecord(
            id: name.id, key: "", order: nil, owner: write.user.map { "\($0)" }, enqueued: date, expires: nil,
            asks: write.asks, call: .init(name: "", version: 1, content: Data()), state: files[name] ?? .dropped)
        record.isDoubtful = doubtful.contains(name)
        return record
    }

    /// Changes an entry as the library does, unless it is over or was removed.
    private mutating func change(
        _ name: OutboxName, to state: OutboxRecord.State, in process: Int, by call: UUID? = nil, isLost: Bool = false
    ) {
        guard let old = files[name] else { return }
        if !old.isEnd {
            var record = record(of: name)
            OutboxNote(state: state, isLost: isLost, call: call).apply(to: &record)
            files[name] = record.state
            if record.isDoubtful { doubtful.insert(name) }
            if record.state.isEnd { rules.end(number(name)) }
        }
        read(name, in: process)
    }

    private mutating func answer(_ process: Int, _ write: Int, _ answer: Answer) {
        guard var call = processes[process].calls[write] else { return }
        // A request of a session that has ended is not sent.
        if user != call.user {
            call.end = .noToken
            if call.isLate { rules.settleDoubt(write) }
        } else {
            if call.isLate {
                if answer != .notConnected { rules.arriveLate(write, tokenOf: call.user) }
            } else if answer != .notConnected, answer != .lostOnTheWay {
                rules.arrive(write, tokenOf: call.user, begunAfterExpiry: call.begunAfterExpiry)
            }
            switch answer {
            case .executed: call.end = .executed
            case .refused: call.end = .refused
            case .notNow: call.end = .notNow(after: nil, isOffline: false)
            case .lostAfterExecution, .lostOnTheWay: call.end = .lost
            case .notConnected: call.end = .notNow(after: nil, isOffline: true)
            }
            if !call.isLate { tell(write, answer) }
            if call.isLate, answer == .notNow || answer == .notConnected { rules.settleDoubt(write) }
        }
        processes[process].calls[write] = call
    }

    private mutating func tell(_ write: Int, _ answer: Answer) {
        switch answer {
        case .executed, .notConnected: break
        case .refused: rules.refuse(write)
        case .notNow: rules.postpone(write)
        case .lostAfterExecution, .lostOnTheWay: rules.lose(write)
        }
    }

    private mutating func record(_ process: Int, _ write: Int) {
        guard let call = processes[process].calls.removeValue(forKey: write), let end = call.end else { return }
        let id = call.id
        let name = name(write)
        processes[process].machine.end(name, as: end, at: time, fraction: 0.5)
        switch end {
        case .executed: change(name, to: .sent(status: 201, body: Data()), in: process, by: id)
        case .refused: change(name, to: .refused(status: 422, reason: "", body: Data()), in: process, by: id)
        case .lost:
            let state = rules.writes[write].asks ? OutboxRecord.State.inDoubt(reason: "") : .waiting
            change(name, to: state, in: process, by: id, isLost: true)
        case .notNow, .noToken: if rules.writes[write].asks { change(name, to: .waiting, in: process, by: id) }
        }
    }
}
