package import Foundation

/// A value that contains the rules of a session (see Tokens in the article Design). Its methods take events and return
/// effects. It has no clock, task, lock or store.
///
/// Generations order the events of the token. A new generation begins whenever a token is set, and whenever a refresh
/// ends, with or without a token. A request carries the generation and the session of its token, so that the machine
/// knows which token the server accepted or refused.
package struct AccessTokenMachine: Sendable {
    package typealias Waiter = UInt64

    /// The state of the token store.
    package enum Storage: Sendable {
        /// There is no store.
        case none
        /// The store has not been read yet.
        case unread
        /// The store has been read. `isKept` is true if the store contains the current token, as far as the machine
        /// knows.
        case read(isKept: Bool)
    }

    /// Whether an authorized request may be sent.
    package enum Passage: Sendable {
        case open
        /// Rules 4 and 5: the request waits until the token has been read or refreshed.
        case wait
        /// Rules 7 and 11: the request may never be sent.
        case closed(any Error)
    }

    /// How the session gets its tokens.
    package enum Form: Sendable {
        /// A refresh replaces the token. Without a token, the user is logged out.
        case renewable
        /// As ``renewable``; in addition, the first token is fetched before the first request is sent.
        case fetchesFirst
        /// Rule 15: the token is never replaced, and a refusal does not end the session.
        case fixed
    }

    /// The origin of a token.
    package enum Origin: Sendable {
        case refresh
        /// The app or the store.
        case elsewhere
    }

    /// Work that runs outside of the machine. The machine receives the result as a later event.
    package struct Job: Sendable {
        package enum Kind: Sendable {
            /// Reads the store for the first time.
            case load
            /// Gets a token that replaces the current token.
            case refresh
            /// Checks whether the store contains another token, because the server has refused to refresh the current
            /// token.
            case look
        }

        package let id: Int
        package let kind: Kind
        /// The token to replace.
        package let token: AccessToken?
        /// The generation of the token.
        package let generation: Int
        /// The session of the token.
        package let session: UUID
    }

    package enum Effect: Sendable {
        case start(Job)
        case cancel(id: Int)
        /// The waiter continues. `refreshed` is the generation of the token if a refresh brought it during the wait;
        /// nil if the token comes from the app or the store, or was the current token before the wait.
        case release(Waiter, refreshed: Int?)
        case fail(Waiter, any Error)
        case announce(AccessTokenSupervisor.Event)
        /// Update the store.
        case keep
    }

    /// A call or other code that waits for a job.
    package struct Waiting: Sendable {
        package let id: Waiter
        /// The number of the session of the waiting call; nil if the waiter waits only until the store has been read.
        let session: Int?
        /// Rule 10: whether the waiter continues if there is no token.
        var isOptional = false

        /// Ends the wait without a token. Rule 10: if nobody is logged in, a call whose token is optional continues.
        func end(with error: any Error, isLogOut: Bool) -> Effect {
            isOptional && isLogOut ? .release(id, refreshed: nil) : .fail(id, error)
        }
    }

    /// The credential with which a request is sent.
    package enum Credential: Sendable {
        /// The current token, or nothing if the session has no token.
        case token(AccessToken?, SessionTicket.Mark)
        /// Rule 10: no token. The request does not belong to the session.
        case anonymous
        /// Rule 11: the request must not be sent.
        case closed(any Error)
    }

    package struct Refresh: Sendable {
        package let id: Int
        package let kind: Job.Kind
        /// Whether the token was set or removed after the refresh began. If so, the result of the refresh does not
        /// count.
        package internal(set) var isSuperseded = false
        /// Whether another refresh must follow, because the token that was set after this refresh began also needs a
        /// refresh.
        package internal(set) var isWantedAgain = false
        /// Whether the time limit has passed and the waiters were notified.
        package internal(set) var isOverdue = false
        package internal(set) var waiters: [Waiting] = []
    }

    package internal(set) var token: AccessToken?
    /// The id of the current session, which is stored with its tokens.
    package internal(set) var session: UUID
    /// Rule 11: the number of the current session in this process. Calls that began in another session get no token of
    /// this session. The first reading of the store begins no other session, although it may change the id.
    package internal(set) var sessionNumber = 0
    package internal(set) var generation = 0
    package internal(set) var tokenGeneration = 0
    package internal(set) var tokenOrigin = Origin.elsewhere
    package internal(set) var receivedAt: Date
    package internal(set) var form: Form
    /// A number of seconds. A token that expires within this time counts as about to expire, and is refreshed before a
    /// request is sent with it.
    package let leeway: TimeInterval
    /// The token before the current token. It is needed for requests to which the app adds the token itself.
    package internal(set) var previous: (value: String, mark: SessionTicket.Mark)?
    /// Rule 3: the endpoints that have refused a token that a refresh had just brought, at most 64. Their further
    /// refusals of this token start no refresh.
    package internal(set) var refusing: [RefusingEndpoint] = []
    /// Whether the token came from a refresh, and the server has not yet responded to a request that carried it.
    package internal(set) var isUntried = false
    /// Whether the token appeared to have expired already when the server issued it, because the local clock is wrong.
    package internal(set) var hasWrongExpiry = false
    /// Rule 7: the reason why the session is over.
    package internal(set) var over: (any Error)?
    package internal(set) var refresh: Refresh?
    package internal(set) var refreshCount = 0
    /// The error of the last refresh that failed, and the generation that ended with this failure.
    package internal(set) var failure: (generation: Int, error: any Error)?
    package internal(set) var storage: Storage
    /// The ended sessions whose tokens the store may still contain.
    package internal(set) var endedSessions: Set<UUID> = []
    /// The replaced tokens that the store may still contain. A nil element means that there was no token, and that the
    /// store may still be empty.
    package internal(set) var displaced: Set<String?> = []
    /// Whether a token was set or removed before the store was read. If so, the content of the store is not known.
    package internal(set) var mayHoldAny = false

    /// - Parameter session: The id of the session if the token has no session id.
    package init(
        token: AccessToken?, session: UUID, storage: Storage = .none, form: Form = .renewable,
        leeway: TimeInterval = 30, at now: Date
    ) {
        self.token = token
        self.session = token?.session ?? session
        self.storage = storage
        self.form = form
        self.leeway = leeway
        receivedAt = now
    }

    package var isRefreshing: Bool { refresh.map { !$0.isSuperseded || $0.isWantedAgain } ?? false }

    /// Whether the store has not been read yet.
    package var isUnread: Bool { if case .unread = storage { true } else { false } }

    /// Whether a refresh is allowed: there is a token to replace, or the first token has to be fetched.
    package var mayRefresh: Bool {
        switch form {
        case .renewable: token != nil
        case .fetchesFirst: true
        case .fixed: false
        }
    }

    // MARK: Within

    var hasStore: Bool { if case .none = storage { false } else { true } }

    /// Rule 1: starts a refresh, unless a refresh is running. If the running refresh is superseded, the new refresh
    /// starts when the running refresh has ended.
    mutating func requireRefresh() -> [Effect] {
        guard refresh == nil else {
            if refresh?.isSuperseded == true { refresh?.isWantedAgain = true }
            return []
        }
        refreshCount += 1
        var kind = over == nil ? Job.Kind.refresh : .look
        if case .unread = storage { kind = .load }
        refresh = Refresh(id: refreshCount, kind: kind)
        return [.start(Job(id: refreshCount, kind: kind, token: token, generation: tokenGeneration, session: session))]
    }

    /// Starts a refresh, unless a refresh is running, and adds a waiter to it.
    mutating func requireRefresh(for waiting: Waiting) -> [Effect] {
        let effects = requireRefresh()
        refresh?.waiters.append(waiting)
        return effects
    }
}
