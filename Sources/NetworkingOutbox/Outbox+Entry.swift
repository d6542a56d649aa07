public import Foundation
public import Networking

extension Outbox {
    /// A write in an outbox. Its descriptions show neither the endpoint nor the responses.
    public struct Entry: Identifiable, Sendable {
        /// The id, which stays the same until the entry is removed.
        public let id: UUID
        /// The endpoint; nil if the entry cannot be read.
        public let endpoint: (any Endpoint)?
        /// The `order` with which the entry was stored; nil if the entry is independent of all others or cannot be
        /// read.
        public let order: String?
        /// The user who has written the entry; nil if nobody was logged in.
        public let owner: String?
        /// The time at which the entry was stored, by the wall clock; nil if the entry cannot be read.
        public let enqueued: Date?
        /// The time after which the entry is no longer sent, by the wall clock; nil for no limit.
        public let expires: Date?
        /// The `Idempotency-Key` with which the entry is sent; empty if the entry cannot be read.
        public let idempotencyKey: String
        /// What has happened to the entry.
        public let state: State
        /// If the entry waits for its next attempt, the reason why the last attempt of this process failed. Otherwise
        /// nil.
        public let failure: String?

        /// What has happened to an entry.
        public enum State: Hashable, Sendable {
            /// The entry waits to be sent. It is sent after the earlier entries with the same `order`, when the
            /// network, the service's policies and the session permit this.
            case waiting
            /// The entry is being sent.
            case sending
            /// The entry waits for an earlier entry with the same `order`. The app has to decide about the earlier
            /// entry.
            case behind(Entry.ID)
            /// The entry waits until its user logs in.
            case waitingForOwner
            /// The server has refused the entry, or the request of the entry cannot be sent. The app has to decide.
            /// `body` is the body of the response, at most 64 KiB.
            case refused(HTTPStatus?, reason: String, body: Data)
            /// The response to the entry was lost, and the outbox has the setting ``Outbox/InDoubt/ask``. The app has
            /// to decide.
            case inDoubt(reason: String)
            /// The entry cannot be read: it is damaged, or comes from another version of the app or the library. The
            /// outbox keeps the entry.
            case unreadable(reason: String)
            /// The server has executed the entry. `body` is the body of the response, at most 64 KiB.
            case sent(HTTPStatus, body: Data)
            /// The expiry time of the entry passed before the entry was sent.
            case expired
            /// The app removed the entry, or the outbox removed it because its user has logged out.
            case dropped
        }
    }
}

extension Outbox.Entry.State {
    /// Whether the entry has ended: it was sent, has expired, or was removed.
    public var isEnd: Bool {
        switch self {
        case .sent, .expired, .dropped: true
        case .waiting, .sending, .behind, .waitingForOwner, .refused, .inDoubt, .unreadable: false
        }
    }

    /// Whether the entry, and the entries behind it, wait for a decision of the app.
    public var needsDecision: Bool {
        switch self {
        case .refused, .inDoubt, .unreadable: true
        case .waiting, .sending, .behind, .waitingForOwner, .sent, .expired, .dropped: false
        }
    }
}

extension Outbox.Entry: CustomStringConvertible, CustomReflectable {
    /// The id and the state, without the endpoint.
    public var description: String { "entry \(id): \(state)" }
    /// The description, so that `dump` shows no more.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Outbox.Entry.State: CustomStringConvertible, CustomReflectable {
    /// The description, so that `dump` shows no more.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
    /// The name of the state, and its status or reason.
    public var description: String {
        switch self {
        case .waiting: "waiting"
        case .sending: "sending"
        case .behind(let id): "behind \(id)"
        case .waitingForOwner: "waiting for its owner"
        case .refused(_, let reason, _): "refused: \(reason.onOneLine)"
        case .inDoubt(let reason): "in doubt: \(reason.onOneLine)"
        case .unreadable(let reason): "unreadable: \(reason.onOneLine)"
        case .sent(let status, _): "sent: \(status)"
        case .expired: "expired"
        case .dropped: "dropped"
        }
    }
}

extension Outbox.Entry.State {
    /// The state of a record that does not wait to be sent; nil for other records.
    init?(_ state: OutboxRecord.State) {
        switch state {
        case .waiting, .sending: return nil
        case .inDoubt(let reason): self = .inDoubt(reason: reason)
        case .refused(let status, let reason, let body):
            self = .refused(status.map { HTTPStatus($0) }, reason: reason, body: body)
        case .sent(let status, let body): self = .sent(HTTPStatus(status), body: body)
        case .expired: self = .expired
        case .dropped: self = .dropped
        }
    }
}
