import Foundation
import Networking

// The reports to the app.
extension OutboxCore {
    /// Publishes an entry.
    func publish(_ name: OutboxName) {
        if let entry = entry(name) { changes.publish(entry) }
    }

    /// Publishes the entries behind an entry about which the app has to decide.
    func publishFollowers(of name: OutboxName) {
        for follower in machine.followers(of: name) { publish(follower) }
    }

    /// Publishes the entries that now wait for their user, and the entries that no longer wait for their user, because
    /// another user is logged in.
    func publishOwner(after old: OutboxMachine.Owner) {
        let changed = machine.entries.values.filter { entry in
            guard entry.stage == .waiting, let owner = entry.owner else { return false }
            return [old, lastOwner].contains(.user(owner)) && !machine.inFlight.contains(entry.name)
                && machine.obstacle(of: entry.name) == nil
        }
        for name in changed.map(\.name).sorted() { publish(name) }
    }

    /// Delivers the entries that have ended and the entries that wait for a decision.
    func replay(_ deliver: @escaping @Sendable ([Outbox.Entry]) -> Void) {
        Task.detached {
            await self.on {
                let names = self.machine.entries.values.filter { $0.stage == .ended || $0.stage == .held }.map(\.name)
                deliver(names.sorted().compactMap { self.entry($0) })
            }
        }
    }

    /// Returns an entry as the app sees it; nil if it does not exist any more.
    ///
    /// - Parameter state: The state of the returned entry. Default: its current state.
    func entry(_ name: OutboxName, as state: Outbox.Entry.State? = nil) -> Outbox.Entry? {
        let record: OutboxRecord
        do {
            guard let read = try folder.record(name) else { return nil }
            record = read
        } catch {
            let reason = (error as? OutboxRecord.Fault)?.description ?? "the file cannot be read now"
            return Outbox.Entry(
                id: name.id, endpoint: nil, order: nil, owner: nil, enqueued: nil, expires: nil, idempotencyKey: "",
                state: state ?? .unreadable(reason: reason), failure: nil)
        }
        return Outbox.Entry(
            record, try? kinds.decode(record.call), state ?? self.state(of: name, record), failure: failures[name])
    }

    private func state(of name: OutboxName, _ record: OutboxRecord) -> Outbox.Entry.State {
        if machine.inFlight.contains(name) { return .sending }
        if let fault = faults[name] { return .unreadable(reason: fault) }
        if let state = Outbox.Entry.State(unrecorded[name]?.state ?? record.state) { return state }
        if case .sending = record.state { return .sending }
        if let obstacle = machine.obstacle(of: name) { return .behind(obstacle.id) }
        if let owner = record.owner, lastOwner != .user(owner) { return .waitingForOwner }
        return .waiting
    }
}

extension Outbox.Entry {
    init(_ record: OutboxRecord, _ endpoint: (any Endpoint)?, _ state: State, failure: String? = nil) {
        self.init(
            id: record.id, endpoint: endpoint, order: record.order, owner: record.owner, enqueued: record.enqueued,
            expires: record.expires, idempotencyKey: record.key, state: state,
            failure: state == .waiting ? failure : nil)
    }
}
