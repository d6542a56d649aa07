package import Foundation

/// What has to be recorded about an entry.
package struct OutboxNote: Sendable {
    package let state: OutboxRecord.State
    /// Whether the response was lost.
    package let isLost: Bool
    /// The id of the call that has ended; nil if the note follows from no call.
    package let call: UUID?

    package init(state: OutboxRecord.State, isLost: Bool = false, call: UUID? = nil) {
        (self.state, self.isLost, self.call) = (state, isLost, call)
    }

    /// Changes a record that has not ended. If the call no longer owns the entry, because another process has taken the
    /// lease, only a state that ends the entry changes the record.
    package func apply(to record: inout OutboxRecord) {
        let isOwn = call.map { record.state == (record.asks ? .sending(call: $0) : .waiting) } ?? true
        guard isOwn || state.isEnd else { return }
        record.state = state
        record.isDoubtful = record.isDoubtful || isLost
        if state == .expired, record.isDoubtful {
            record.state = .inDoubt(
                reason: "the response to the entry was lost, and the expiry time of the entry has passed")
        }
        if state.isEnd { record.body = nil }
        // The content of an entry is removed if its user has logged out.
        if state == .dropped { record.call.content = Data() }
    }
}
