import Foundation
import Networking

// The loop that sends the entries. This process holds the lease only while it sends something. While it waits or has
// nothing to do, another process can send.
extension OutboxCore {
    private enum Work: Sendable {
        case none(Duration?)
        case some
        case closed
    }

    func run() async {
        var failures = 0
        while true {
            let isKnown = await updateOwner()
            switch await on({ self.look(isOwnerKnown: isKnown) }) {
            case .closed: return
            case .none(let limit): await wait(atMost: limit)
            case .some:
                do {
                    try await lead { try await self.drain() }
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

    /// Checks whether there is something to do.
    private func look(isOwnerKnown: Bool) -> Work {
        if isClosed, unrecorded.isEmpty { return .closed }
        passes += 1
        var limit = clock.now() + folder.lease.length  // another process may store an entry and then end
        let isReadable = (try? reload(completely: false)) != nil
        if isReadable, !unrecorded.isEmpty || machine.peek(at: clock.now(), on: clock.date()) != nil { return .some }
        if !isReadable || !isOwnerKnown || machine.entries.values.contains(where: \.isUnread) {
            limit = min(limit, clock.now() + .seconds(5))
        }
        for flush in flushes where flush.pass < passes { flush.end.settle(.success(())) }
        flushes.removeAll { $0.pass < passes }
        observeNetwork()
        let wait = machine.wait(at: clock.now(), on: clock.date())
        return .none(min(wait ?? .seconds(3600), limit - clock.now()))
    }

    /// Sends entries until there is nothing to do. This process holds the lease meanwhile. After a fault, begins no
    /// further calls, but lets the calls in progress end.
    private func drain() async throws {
        var fault: (any Error)?
        await on { self.isLeader = true }
        do { try await on { try self.reload(completely: true) } } catch { fault = error }
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                while !Task.isCancelled {
                    if fault == nil {
                        await updateOwner()
                        do {
                            while let name = try await on({ try self.nextEntry() }) {
                                group.addTask { await self.send(name) }
                            }
                        } catch { fault = error }
                    }
                    let hasFault = fault != nil
                    if await on({ self.endDraining(hasFault) }) { return }
                    await wait(atMost: .seconds(1))
                    if fault == nil {
                        do { try await on { try self.reload(completely: false) } } catch { fault = error }
                    }
                }
            }
        } onCancel: {
            Task { await self.on { self.isLeader = false } }
        }
        await on { self.isLeader = false }
        if let fault { throw fault }
    }

    /// Ends the draining if nothing is being sent and nothing can be sent now.
    ///
    /// - Returns: Whether the draining has ended.
    private func endDraining(_ hasFault: Bool) -> Bool {
        guard machine.inFlight.isEmpty else { return false }
        guard hasFault || isClosed || machine.peek(at: clock.now(), on: clock.date()) == nil else { return false }
        isLeader = false
        return true
    }

    /// Performs the steps that need no call, and returns the next entry to send; nil if there is none now.
    private func nextEntry() throws -> OutboxName? {
        try recordAgain()
        guard !isClosed, isLeader else { return nil }
        while let step = machine.next(at: clock.now(), on: clock.date()) {
            switch step {
            case .send(let name):
                publish(name)
                return name
            case .expire(let name): try record(OutboxNote(state: .expired), of: name)
            case .doubt(let name):
                try record(OutboxNote(state: .inDoubt(reason: "the process that sent it has ended")), of: name)
                publishFollowers(of: name)
            case .drop(let name): try dropAtLogOut(name)
            }
        }
        return nil
    }

    /// Removes the content of an entry whose user has logged out.
    private func dropAtLogOut(_ name: OutboxName) throws {
        let session = client.currentWriteSession
        // The user may have logged in again since the machine was notified.
        guard let record = try? folder.record(name), record.owner != owner(in: session), !session.isOver else {
            set(.unknown)  // until the loop has asked again who is logged in
            read(name)
            return wakeUp()
        }
        try self.record(OutboxNote(state: .dropped), of: name)
    }

    // MARK: The files

    /// Updates the machine from the files.
    ///
    /// - Parameter completely: Whether known entries are also checked for changes. Only the process that holds the
    ///   lease changes them.
    func reload(completely: Bool) throws { reload(try folder.names(), completely: completely) }

    /// Updates the machine from the files with these names.
    func reload(_ names: [OutboxName], completely: Bool) {
        // Usually, no other process has removed an entry. Then only the new entries are checked.
        if names.count(where: { machine.entries[$0] != nil }) < machine.entries.count {
            let present = Set(names)
            for name in machine.entries.keys where !present.contains(name) && !machine.inFlight.contains(name) {
                forget(name)
            }
        }
        let changed = names.filter { name in
            guard completely || marks[name] == nil, !machine.inFlight.contains(name), unrecorded[name] == nil else {
                return false
            }
            let mark = folder.mark(of: name)
            return mark == nil || mark != marks[name]
        }
        for name in changed.sorted() {
            let before = machine.entries[name]?.stage
            read(name)
            guard let stage = machine.entries[name]?.stage, stage != before else { continue }
            publish(name)
            if stage == .held { publishFollowers(of: name) }
        }
    }

    /// Reads an entry, and passes it to the machine.
    func read(_ name: OutboxName) {
        let mark = folder.mark(of: name)
        let record: OutboxRecord?
        do { record = try folder.record(name) } catch {
            let isFault = error is OutboxRecord.Fault
            marks[name] = isFault ? mark : nil
            faults[name] = (error as? OutboxRecord.Fault)?.description
            return machine.set(.init(name, owner: nil, expires: nil, asks: false, stage: isFault ? .held : .unread))
        }
        guard let record else { return forget(name) }
        marks[name] = mark
        faults[name] = nil
        var stage: OutboxMachine.Stage =
            switch record.state {
            case .sending: .marked
            case .inDoubt, .refused: .held
            case .sent, .expired, .dropped: .ended
            case .waiting: .waiting
            }
        if stage == .waiting, let fault = kinds.fault(of: record.call) { (stage, faults[name]) = (.held, fault) }
        machine.set(.init(name, owner: record.owner, expires: record.expires, asks: record.asks, stage: stage))
    }

    /// Forgets an entry that does not exist any more.
    func forget(_ name: OutboxName) {
        machine.remove(name)
        (marks[name], faults[name], unrecorded[name], failures[name]) = (nil, nil, nil, nil)
    }

    /// Records what has happened to an entry, and publishes it.
    func record(_ note: OutboxNote, of name: OutboxName) throws {
        do {
            try folder.change(name) { note.apply(to: &$0) }
            unrecorded[name] = nil
            read(name)
        } catch let fault as OutboxRecord.Fault {
            unrecorded[name] = nil
            faults[name] = fault.description
            read(name)
        } catch {
            unrecorded[name] = note
            publish(name)
            throw error
        }
        publish(name)
    }

    /// Records what could not be recorded before.
    private func recordAgain() throws {
        var fault: (any Error)?
        for (name, note) in unrecorded {
            do { try record(note, of: name) } catch { fault = error }
        }
        if let fault { throw fault }
    }
}
