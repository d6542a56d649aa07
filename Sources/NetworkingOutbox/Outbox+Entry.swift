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
        /// The user who has written it; nil if nobody was logged in.
        public let owner: String?
        /// The time at which it was stored, by the wall clock; nil if it cannot be read.
        public let enqueued: Date?
        /// The time after which it is no longer sent, by the wall clock; nil for never.
        public let expires: Date?
        /// The `Idempotency-Key` with which it is sent; empty if the entry cannot be read.
        public let idempotencyKey: String
        /// What has happened to it.
        public let state: State
        /// Why the last attempt of this process has failed, if the entry waits for the next attempt; nil otherwise.
        public let failure: String?

        /// What has happened to an entry.
        public enum State: Hashable, Sendable {
            /// It is sent after the entries before it, when the network, the service's policies and the session allow
            /// it.
            case waiting
            /// It is being sent.
            case sending
            /// It waits for another entry with the same `order`, about which the app has to decide.
            case behind(Entry.ID)
            /// It waits until its user logs in.
            case waitingForOwner
            /// The server has refused it, or its request cannot be sent. The app has to decide. The body is that of the
            /// response, at most 64 KiB.
            case refused(HTTPStatus?, reason: String, body: Data)
            /// Its response was lost, and the outbox has the setting ``Outbox/InDoubt/ask``. The app has to decide.
            case inDoubt(reason: String)
            /// It cannot be read: it is damaged, or comes from another version of the app or the library. It is kept.
            case unreadable(reason: String)
            /// The server has executed it. The body is that of the response, at most 64 KiB.
            case sent(HTTPStatus, body: Data)
            /// Its time has passed before it was sent.
            case expired
            /// It was removed: by the app, or because its user has logged out.
            case dropped
        }
    }
}

extension Outbox.Entry.State {
    /// Whether the entry is over: it was sent, has expired, or was removed.
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
