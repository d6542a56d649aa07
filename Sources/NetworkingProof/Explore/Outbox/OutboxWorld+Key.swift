import Foundation
import NetworkingOutbox

extension OutboxWorld {
    /// If no call is in progress, no process holds the lease, and a write can be sent, then a process that takes the
    /// lease finds something to do.
    mutating func checkProgress() {
        guard leader == nil, processes.allSatisfy({ $0.calls.isEmpty }) else { return }
        let open = rules.writes.indices.first { isOpen($0) }
        guard let open else { return }
        for index in processes.indices where processes[index].isAlive {
            var world = self
            world.reload(index)
            world.notice(index)
            world.processes[index].machine.queueAll()
            let later = time + .seconds(10_000)
            rules.anOpenWriteIsSent(open, world.processes[index].machine.peek(at: later, on: date) != nil)
        }
    }

    /// Whether a write is the first of its lane, belongs to the user who is logged in, and waits for nothing.
    private func isOpen(_ number: Int) -> Bool {
        let write = rules.writes[number]
        guard !write.isOver, write.user == user,
            let state = files.first(where: { self.number($0.key) == number })?.value
        else { return false }
        guard case .waiting = state, let lane = write.lane else { return state == .waiting }
        return !rules.writes.prefix(number).contains { $0.lane == lane && $0.user == write.user && !$0.isOver }
    }

    func write(to key: inout StateKey) {
        key.write(options.number)
        key.write(isLate, leader != nil, leader == 1)
        key.write(user.map { $0.rawValue + 1 } ?? 0)
        for write in rules.writes {
            key.write([write.user.map { $0.rawValue + 1 } ?? 0, UInt8(min(write.arrivals, 2))])
            key.write(write.mayArrive, write.isInDoubt, write.isRefused, write.isOver)
        }
        for (name, state) in files.sorted(by: { $0.key < $1.key }) {
            key.write([UInt8(number(name)), code(of: state)])
            key.write(doubtful.contains(name))
        }
        for process in processes { write(process, to: &key) }
    }

    private func code(of state: OutboxRecord.State) -> UInt8 {
        switch state {
        case .waiting: 0
        case .sending(let call): 8 + call.uuid.15
        case .inDoubt: 2
        case .refused: 3
        case .sent: 4
        case .expired: 5
        case .dropped: 6
        }
    }

    private func write(_ process: Process, to key: inout StateKey) {
        let machine = process.machine
        key.write(process.isAlive, machine.offlineUntil.map { $0 > time } ?? false)
        key.write(UInt8(truncatingIfNeeded: machine.owner == .unknown ? 0 : machine.owner == .nobody ? 1 : 2))
        if case .user(let user) = machine.owner { key.write(user == "ann") }
        for (name, entry) in machine.entries.sorted(by: { $0.key < $1.key }) {
            let stages: [OutboxMachine.Stage] = [.waiting, .marked, .held, .unread, .ended]
            key.write([UInt8(number(name)), UInt8(stages.firstIndex(of: entry.stage) ?? 9)])
            key.write(machine.inFlight.contains(name))
        }
        key.write(0xFF)
        for (_, line) in machine.lines.sorted(by: {
            ($0.value.names.first?.number ?? 99) < ($1.value.names.first?.number ?? 99)
        }) {
            key.write(line.names.map { UInt8(number($0)) })
            key.write(line.isBusy, line.pause.map { $0.end > time } ?? false)
        }
        key.write(0xFE)
        for (write, call) in process.calls.sorted(by: { $0.key < $1.key }) {
            let ends: [OutboxMachine.End?] = [
                nil, .executed, .refused, .notNow(after: nil, isOffline: true), .notNow(after: nil, isOffline: false),
                .noToken, .lost,
            ]
            key.write([UInt8(write), UInt8(ends.firstIndex(of: call.end) ?? 9), call.user.map { $0.rawValue + 1 } ?? 0])
            key.write(call.begunAfterExpiry, call.isLate)
        }
    }
}

extension ExploreCheck {
    /// The states of an outbox that two processes share.
    static let outboxes: [ExplorePart] = [
        outbox(
            "outbox-lease", .init(writes: [(1, false)], canKill: false, hasClock: false, hasLogOut: false),
            (60_000, .max)),
        outbox(
            "outbox-lease-asks",
            .init(writes: [(1, false)], asks: true, canKill: false, hasClock: false, hasLogOut: false), (60_000, .max)),
        outbox("outbox", .init(writes: [(1, false), (1, false)]), (60_000, 3_000_000)),
        outbox("outbox-asks", .init(writes: [(1, false), (1, false)], asks: true), (60_000, 3_000_000)),
        outbox("outbox-expires", .init(writes: [(1, true), (1, false)], hasTwoUsers: false), (60_000, 2_000_000)),
        outbox("outbox-drops", .init(writes: [(nil, false), (1, false)], dropsAtLogOut: true), (60_000, 2_000_000)),
        outbox(
            "outbox-lanes",
            .init(writes: [(1, false), (2, false), (1, false)], hasTwoUsers: false, canKill: false),
            (60_000, 3_000_000)),
    ]

    private static func outbox(
        _ name: String, _ options: OutboxWorld.Options, _ limits: (quick: Int, full: Int)
    ) -> ExplorePart {
        .world(name, limits: limits) { [OutboxWorld(options)] }
    }
}
