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
        /// Whether the store contains the current token, as far as the machine knows.
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
        /// As ``renewable``, and the first token is fetched before the first request is sent.
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
        /// The waiter continues. `refreshed` is the generation of the token for which it waited through a refresh; nil
        /// if the token comes from the app or the store, or was there before.
        case release(Waiter, refreshed: Int?)
        case fail(Waiter, any Error)
        case announce(AccessTokenSupervisor.Event)
        /// Update the store.
        case keep
    }

    /// A call, or somebody else, who waits for a job.
    package struct Waiting: Sendable {
        package let id: Waiter
        /// The number of the session of its call; nil if it waits only until the store has been read.
        let session: Int?
        /// Rule 10: whether it continues if there is no token.
        var isOptional = false
    }

    /// What a request is sent with.
    package enum Credential: Sendable {
        /// The current token, or nothing if the session has no token.
        case token(AccessToken?, SessionTicket.Mark)
        /// Rule 10: nothing, and the request is no request of the session.
        case anonymous
        /// Rule 11: the request must not be sent.
        case closed(any Error)
    }

    package struct Refresh: Sendable {
        package let id: Int
        package let kind: Job.Kind
        /// Whether the token was set or removed after the refresh began, so that the result of the refresh does not
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
    /// The time before the expiry of a token in which it is refreshed before sending, in seconds.
    package let leeway: TimeInterval
    /// The token before the current one, for requests to which the app adds the token itself.
    package internal(set) var previous: (value: String, mark: SessionTicket.Mark)?
    /// Rule 3: the endpoints that have refused the token of a refresh at once, at most 64. Their refusals of this token
    /// start no refresh.
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
    /// Whether a token was set or removed before the store was read, so that the content of the store is not known.
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

    /// Whether the machine still waits for the result of a job.
    package func isWanted(_ job: Job) -> Bool { refresh?.id == job.id && refresh?.isSuperseded == false }

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

    // MARK: Before sending

    /// Returns whether a request of a call may be sent now, by rules 4, 5, 7, 10 and 11.
    package func passage(of member: SessionTicket.Member, at now: Date) -> Passage {
        if member.session != sessionNumber { return member.isOptional ? .open : .closed(SessionEnded()) }
        if case .unread = storage { return .wait }
        if let over, !hasStore { return member.isOptional ? .open : .closed(over) }
        return over != nil || isRefreshing || needsRefresh(at: now) ? .wait : .open
    }

    /// Adds a request that waits until it may be sent. An effect ends the wait.
    package mutating func wait(
        _ waiter: Waiter, of member: SessionTicket.Member, toPassAt now: Date
    ) -> [Effect] {
        switch passage(of: member, at: now) {
        case .open:
            return [.release(waiter, refreshed: nil)]
        case .closed(let error):
            return [.fail(waiter, error)]
        case .wait:
            return requireRefresh(
                for: Waiting(id: waiter, session: member.session, isOptional: member.isOptional))
        }
    }

    /// Rules 10 and 11: returns what a request that is about to be sent carries.
    package func credential(of member: SessionTicket.Member) -> Credential {
        guard member.session == sessionNumber else { return member.isOptional ? .anonymous : .closed(SessionEnded()) }
        if member.isOptional, token == nil || over != nil { return .anonymous }
        return .token(token, SessionTicket.Mark(generation: generation, session: sessionNumber))
    }

    /// Rules 3 and 11: returns the mark of a request to which the app has added a token itself.
    ///
    /// - Returns: Nil if the session does not know the token: it is neither the current token nor the one before it. An
    ///   error if the request must not be sent, because its call belongs to another session.
    package func mark(
        ofToken value: String, in member: SessionTicket.Member
    ) -> Result<SessionTicket.Mark, any Error>? {
        var known = previous?.value == value ? previous?.mark : nil
        if token?.value == value { known = SessionTicket.Mark(generation: generation, session: sessionNumber) }
        return known.map { member.session == sessionNumber ? .success($0) : .failure(SessionEnded()) }
    }

    /// Starts to read the store.
    package mutating func load() -> [Effect] { requireRefresh() }

    /// Adds a waiter that waits only until the store has been read.
    package mutating func load(for waiter: Waiter) -> [Effect] {
        isUnread ? requireRefresh(for: Waiting(id: waiter, session: nil)) : [.release(waiter, refreshed: nil)]
    }

    /// Rule 14: adds a waiter that demands a refresh, although no token was refused.
    ///
    /// - Parameter session: The number of the session whose token it demands.
    package mutating func wait(_ waiter: Waiter, forRefreshOf session: Int) -> [Effect] {
        guard session == sessionNumber else { return [.fail(waiter, SessionEnded())] }
        if let over, !hasStore { return [.fail(waiter, over)] }
        guard mayRefresh else { return [.fail(waiter, token == nil ? TokenUnavailable.none : .fixed)] }
        return requireRefresh(for: Waiting(id: waiter, session: session))
    }

    /// Removes a waiter without notifying it.
    package mutating func leave(_ waiter: Waiter) {
        refresh?.waiters.removeAll { $0.id == waiter }
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

    /// Rules 5 and 15: returns whether the token has expired or is about to expire, or whether the first token has to
    /// be fetched. A token is about to expire in the last 30 seconds of its lifetime, by default, or in the last tenth
    /// of its lifetime if a tenth is less.
    func needsRefresh(at now: Date) -> Bool {
        guard mayRefresh, !isUntried, !hasWrongExpiry else { return false }
        guard let token else { return true }
        guard let expiresAt = token.expiresAt else { return false }
        let life = max(expiresAt.timeIntervalSince(receivedAt), 0)
        return now >= expiresAt.addingTimeInterval(-min(leeway, life / 10))
    }
}
