import Foundation
import NetworkingOutbox

// The steps of the processes.
extension OutboxWorld {
    mutating func store(in process: Int) {
        let (lane, expires) = options.writes[rules.writes.count]
        rules.store(.init(user: user, lane: lane, asks: options.asks, canExpire: expires))
        let name = name(rules.writes.count - 1)
        files[name] = .waiting
        reload(process, completely: false)
    }

    mutating func notice(_ process: Int) {
        processes[process].machine.set(user.map { .user("\($0)") } ?? .nobody)
    }

    /// Updates a process with the content of the folder.
    ///
    /// - Parameter completely: Whether the process also reads the files that it already knows, as it does when it gets
    ///   the lease.
    mutating func reload(_ process: Int, completely: Bool = true) {
        for name in processes[process].machine.entries.keys where files[name] == nil {
            processes[process].machine.remove(name)
        }
        for name in files.keys.sorted() where processes[process].calls[number(name)] == nil {
            if completely || processes[process].machine.entries[name] == nil { read(name, in: process) }
        }
    }

    mutating func read(_ name: OutboxName, in process: Int) {
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

    mutating func step(_ process: Int) {
        processes[process].machine.queueAll()
        guard let step = processes[process].machine.next(at: time, on: date) else { return }
        switch step {
        case .send(let name):
            let write = number(name)
            // Before the call begins, the outbox asks who is logged in, and compares this user with the owner of the
            // entry.
            let owner = user.map { OutboxMachine.Owner.user("\($0)") } ?? .nobody
            guard owner.maySend(writeOf: record(of: name).owner, anonymously: true) else {
                processes[process].machine.end(name, as: .noToken, at: time, fraction: 0.5)
                return
            }
            // The outbox reads and marks the file while it holds the lock.
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

    func record(of name: OutboxName) -> OutboxRecord {
        let write = rules.writes[number(name)]
        var record = OutboxRecord(
            id: name.id, key: "", order: nil, owner: write.user.map { "\($0)" }, enqueued: date, expires: nil,
            asks: write.asks, call: .init(name: "", version: 1, content: Data()), state: files[name] ?? .dropped)
        record.isDoubtful = doubtful.contains(name)
        return record
    }

    /// Changes an entry as the library does, unless the entry has ended or has been removed.
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

    mutating func answer(_ process: Int, _ write: Int, _ answer: Answer) {
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

    mutating func record(_ process: Int, _ write: Int) {
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
