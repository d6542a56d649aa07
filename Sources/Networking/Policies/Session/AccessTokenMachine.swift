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

    /// What happens to a request whose token the server refused.
    package enum Judgement: Equatable, Sendable {
        /// Rule 2: there is a newer token of the same session. Send the request again with that token.
        case repeatWithCurrent
        /// Rule 3: the request carried the current token. Wait for the refresh, then send the request again.
        case waitForRefresh
        /// The request is not repeated, because its session has ended, a refresh has failed, or the request has been
        /// repeated already.
        case giveUp
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
        case release(Waiter, Origin)
        case fail(Waiter, any Error)
        case announce(AccessTokenSupervisor.Event)
        /// Update the store.
        case keep
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
        /// The waiters, each with the session of its call. The session is nil for a call that began before there was a
        /// session.
        package internal(set) var waiters: [(id: Waiter, session: UUID?)] = []
    }

    package internal(set) var token: AccessToken?
    /// Rule 11: the current session. Calls that began in another session get no token of this session.
    package internal(set) var session: UUID
    package internal(set) var generation = 0
    package internal(set) var tokenGeneration = 0
    package internal(set) var tokenOrigin = Origin.elsewhere
    package internal(set) var receivedAt: Date
    /// Whether a refresh is allowed. False after a log-out, until a token is set.
    package internal(set) var mayRefresh = true
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
    package init(token: AccessToken?, session: UUID, storage: Storage = .none, at now: Date) {
        self.token = token
        self.session = token?.session ?? session
        self.storage = storage
        receivedAt = now
    }

    /// Whether the machine still waits for the result of a job.
    package func isWanted(_ job: Job) -> Bool { refresh?.id == job.id && refresh?.isSuperseded == false }

    package var isRefreshing: Bool { refresh.map { !$0.isSuperseded || $0.isWantedAgain } ?? false }

    /// Whether the store has not been read yet.
    package var isUnread: Bool { if case .unread = storage { true } else { false } }

    /// The session of a call that begins now. Nil if there is no token: the call then joins the session in which it is
    /// first sent.
    package var sessionOfNewCall: UUID? { token == nil ? nil : session }

    // MARK: Before sending

    /// Returns whether a request may be sent now, by rules 4, 5, 7 and 11.
    ///
    /// - Parameter member: The session of its call.
    package func passage(of member: UUID?, at now: Date) -> Passage {
        if case .unread = storage { return .wait }
        if let member, member != session { return .closed(SessionEnded()) }
        if let over, !hasStore { return .closed(over) }
        return over != nil || isRefreshing || needsRefresh(at: now) ? .wait : .open
    }

    /// Adds a request that waits until it may be sent. An effect ends the wait.
    package mutating func wait(_ waiter: Waiter, of member: UUID?, toPassAt now: Date) -> [Effect] {
        switch passage(of: member, at: now) {
        case .open:
            return [.release(waiter, tokenOrigin)]
        case .closed(let error):
            return [.fail(waiter, error)]
        case .wait:
            let effects = requireRefresh()
            refresh?.waiters.append((waiter, member))
            return effects
        }
    }

    /// Rule 5: the server responded to a request that carried a new token.
    package mutating func noteResponse(toGeneration carried: Int) {
        if carried >= tokenGeneration { isUntried = false }
    }

    /// Starts to read the store.
    package mutating func load() -> [Effect] { requireRefresh() }

    // MARK: After a refusal

    /// Returns the judgement about a request whose token the server refused, by rules 2, 3 and 11. It depends
    /// on the generation and the session of the refused token.
    ///
    /// - Parameter hasRefreshed: Whether a refresh for this call has already brought a token.
    package mutating func judge(
        refusalOfGeneration carried: Int, of member: UUID, hasRefreshed: Bool
    ) -> (Judgement, [Effect]) {
        if member == session, carried >= tokenGeneration { hasWrongExpiry = false }
        guard member == session, !hasRefreshed || carried < generation else { return (.giveUp, []) }
        if carried < tokenGeneration { return (token == nil ? .giveUp : .repeatWithCurrent, []) }
        guard carried == generation, mayRefresh, over == nil || hasStore else { return (.giveUp, []) }
        return (.waitForRefresh, requireRefresh())
    }

    /// Adds a request whose token the server refused. The request waits for the refresh that the refusal started.
    package mutating func wait(_ waiter: Waiter, forRefreshOfGeneration carried: Int, of member: UUID) -> [Effect] {
        guard member == session else { return [.fail(waiter, SessionEnded())] }
        if carried < tokenGeneration, token != nil { return [.release(waiter, tokenOrigin)] }
        guard carried == generation, refresh != nil else {
            return [.fail(waiter, refreshError(ofGeneration: carried) ?? TokenUnavailable())]
        }
        refresh?.waiters.append((waiter, member))
        return []
    }

    /// Returns the error of the refresh that started because the token of this generation was refused. Nil if that
    /// refresh did not fail.
    package func refreshError(ofGeneration carried: Int) -> (any Error)? {
        guard let failure, carried >= tokenGeneration, carried <= failure.generation else { return nil }
        return failure.error
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

    /// Rule 5: returns whether the token has expired or is about to expire. A token is about to expire in the last 30
    /// seconds of its lifetime, or in the last tenth of its lifetime if a tenth is less than 30 seconds.
    func needsRefresh(at now: Date) -> Bool {
        guard mayRefresh, !isUntried, !hasWrongExpiry, let expiresAt = token?.expiresAt else { return false }
        let life = max(expiresAt.timeIntervalSince(receivedAt), 0)
        return now >= expiresAt.addingTimeInterval(-min(30, life / 10))
    }
}
