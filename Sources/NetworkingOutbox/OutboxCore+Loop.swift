import Foundation
import Networking

// The loop that sends the entries. The lease is held only while something is sent, so that another process can send
// when this one has nothing to do, or waits.
extension OutboxCore {
    private enum Work: Sendable {
        case none(Duration?)
        case some
        case closed
    }

    func run() async {
        var failures = 0
        while true {
            await updateOwner()
            switch await on({ self.look() }) {
            case .closed: return
            case .none(let limit): await wait(atMost: limit)
            case .some:
                do {
                    try await folder.lease.hold(ExclusiveOperation { try await self.drain() })
                    failures = 0
                } catch {
                    // The disk is full, the folder does not exist any more, or another process has taken the lease.
                    await on { self.marks = [:] }
                    await wait(atMost: min(.milliseconds(500) * (1 << min(failures, 7)), .seconds(60)))
                    failures += 1
                }
            }
        }
    }

    /// Looks whether there is something to do.
    private func look() -> Work {
        if isClosed { return .closed }
        passes += 1
        let isReadable = (try? reload(completely: false)) != nil
        guard isReadable else {
            endFlushes()
            return .none(.seconds(5))
        }
        if !unrecorded.isEmpty || machine.peek(at: clock.now(), on: clock.date()) != nil { return .some }
        endFlushes()
        observeNetwork()
        return .none(machine.wait(at: clock.now(), on: clock.date()))
    }

    private func endFlushes() {
        for flush in flushes where flush.pass < passes { flush.end.settle(.success(())) }
        flushes.removeAll { $0.pass < passes }
    }

    /// Sends entries until there is nothing to do, while this process holds the lease.
    private func drain() async throws {
        await on { self.isLeader = true }
        do {
            try await on { try self.reload(completely: true) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                while !Task.isCancelled {
                    await updateOwner()
                    while let name = try await on({ try self.nextEntry() }) {
                        group.addTask { await self.send(name) }
                    }
                    if await on({ self.endDraining() }) { return }
                    await wait(atMost: .seconds(1))
                    try await on { try self.reload(completely: false) }
                }
            }
        } catch {
            await on { self.isLeader = false }
            throw error
        }
        await on { self.isLeader = false }
    }

    /// Ends the draining if nothing is sent and nothing can be sent now.
    ///
    /// - Returns: Whether it has ended.
    private func endDraining() -> Bool {
        guard machine.inFlight.isEmpty else { return false }
        guard isClosed || machine.peek(at: clock.now(), on: clock.date()) == nil else { return false }
        isLeader = false
        return true
    }

    /// Does what needs no call, and returns the next entry to send; nil if there is none now.
    private func nextEntry() throws -> OutboxName? {
        try recordAgain()
        guard !isClosed else { return nil }
        while let step = machine.next(at: clock.now(), on: clock.date()) {
            switch step {
            case .send(let name):
                publish(name)
                return name
            case .expire(let name):
                try record(.expired, of: name)
            case .doubt(let name):
                try record(.inDoubt(reason: "the process that sent it has ended"), of: name)
            case .drop(let name):
                let entry = entry(name, as: .dropped)
                try folder.remove(name)
                forget(name)
                if let entry { changes.publish(entry) }
            }
        }
        return nil
    }

    // MARK: The files

    /// Brings the machine into step with the files.
    ///
    /// - Parameter completely: Whether entries are looked at that are known already. Only the process that holds the
    ///   lease changes them.
    func reload(completely: Bool) throws {
        let names = try folder.names()
        let present = Set(names)
        for name in machine.entries.keys where !present.contains(name) && !machine.inFlight.contains(name) {
            forget(name)
        }
        for name in names where completely || marks[name] == nil {
            guard !machine.inFlight.contains(name), unrecorded[name] == nil else { continue }
            let mark = folder.mark(of: name)
            if mark == nil || mark != marks[name] { read(name, mark) }
        }
    }

    /// Reads an entry, and tells the machine.
    func read(_ name: OutboxName, _ mark: UInt64?) {
        let before = machine.entries[name]
        let record: OutboxRecord?
        do { record = try folder.record(name) } catch {
            let isFault = error is OutboxRecord.Fault
            marks[name] = isFault ? mark : nil
            faults[name] = (error as? OutboxRecord.Fault)?.description
            machine.set(.init(name, owner: nil, expires: nil, asks: false, stage: isFault ? .held : .unread))
            if isFault, before?.stage != .held { publish(name) }
            return
        }
        guard let record else { return forget(name) }
        let stage: OutboxMachine.Stage =
            switch record.state {
            case .sending: .marked
            case .inDoubt, .refused: .held
            case .sent, .expired: .ended
            case .waiting: kinds.knows(record.call) ? .waiting : .held
            }
        marks[name] = mark
        faults[name] = nil
        if case .waiting = record.state, stage == .held {
            do { _ = try kinds.decode(record.call) } catch { faults[name] = error.description }
        }
        let entry = OutboxMachine.Entry(
            name, owner: record.owner, expires: record.expires, asks: record.asks, stage: stage)
        machine.set(entry)
        if stage != before?.stage { publish(name) }
    }

    /// Forgets an entry that does not exist any more.
    func forget(_ name: OutboxName) {
        machine.remove(name)
        (marks[name], faults[name], unrecorded[name]) = (nil, nil, nil)
    }

    /// Records what has happened to an entry, and publishes it.
    func record(_ state: OutboxRecord.State, of name: OutboxName) throws {
        do {
            try folder.change(name) { $0.state = state }
            unrecorded[name] = nil
            marks[name] = folder.mark(of: name)
        } catch {
            unrecorded[name] = state
            publish(name)
            throw error
        }
        publish(name)
    }

    /// Records what could not be recorded before.
    private func recordAgain() throws {
        for (name, state) in unrecorded { try record(state, of: name) }
    }
}
