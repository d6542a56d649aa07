package import Foundation

/// The rules of the token as a pure value: an event in, effects out. No time, no task, no lock, no store.
///
/// Generations order what happens to the token: each token that is set, brought or not brought by a refresh begins a
/// new one. A request carries the generation and the session of its token, so that its response tells which token it is
/// about.
package struct AccessTokenMachine: Sendable {
    package typealias Waiter = UInt64

    /// What a store adds to the rules.
    package enum Storage: Sendable {
        /// There is no store.
        case none
        /// The store has not been read yet.
        case unread
        /// Whether the store has the token, as far as is known.
        case read(isKept: Bool)
    }

    /// Whether an authorized request may be sent.
    package enum Passage: Sendable {
        case open
        /// Rules 4 and 5: not before the token has been read or refreshed.
        case wait
        /// Rules 7 and 11: it never may.
        case closed(any Error)
    }

    /// What is known about the token that a request carried when the server refused it.
    package enum Judgement: Equatable, Sendable {
        /// Rule 2: there is another token of the same session; send again with that.
        case repeatWithCurrent
        /// Rule 3: it was the current one; wait for the refresh, then send again.
        case waitForRefresh
        /// Nothing can be done: the session has ended, or a refresh has failed since it was sent.
        case giveUp
    }

    /// Where a token came from.
    package enum Origin: Sendable {
        case refresh
        /// The app, or the store.
        case elsewhere
    }

    /// Work that is done outside of the machine, and whose result comes back as an event.
    package struct Job: Sendable {
        package enum Kind: Sendable {
            /// Read the store for the first time.
            case load
            /// Get a token in place of the current one.
            case refresh
            /// Look whether the store has another token, now that the server has refused to refresh this one.
            case look
        }

        package let id: Int
        package let kind: Kind
        /// The token to be replaced.
        package let token: AccessToken?
        /// Its generation.
        package let generation: Int
        /// Its session.
        package let session: UUID
    }

    package enum Effect: Sendable {
        case start(Job)
        case cancel(id: Int)
        case release(Waiter, Origin)
        case fail(Waiter, any Error)
        case announce(AccessTokenSupervisor.Event)
        /// The store has to be brought up to date.
        case keep
    }

    package struct Refresh: Sendable {
        package let id: Int
        package let kind: Job.Kind
        /// The token has been replaced meanwhile: the result does not count.
        package internal(set) var isSuperseded = false
        /// The token set meanwhile was refused, too: another refresh is to follow.
        package internal(set) var isWantedAgain = false
        /// Its time limit has passed, and those who waited have been told.
        package internal(set) var isOverdue = false
        /// Each with the session of its call; nil for a call that began when there was none.
        package internal(set) var waiters: [(id: Waiter, session: UUID?)] = []
    }

    package internal(set) var token: AccessToken?
    /// Rule 11: calls that began in another session get no token of this one.
    package internal(set) var session: UUID
    package internal(set) var generation = 0
    package internal(set) var tokenGeneration = 0
    package internal(set) var tokenOrigin = Origin.elsewhere
    package internal(set) var receivedAt: Date
    /// False after a log-out, until a token is set.
    package internal(set) var mayRefresh = true
    /// The token came from a refresh, and no response to it is known.
    package internal(set) var isUntried = false
    /// The token had expired when the server issued it: the local clock is wrong.
    package internal(set) var hasWrongExpiry = false
    /// Rule 7: why the session is over.
    package internal(set) var over: (any Error)?
    package internal(set) var refresh: Refresh?
    package internal(set) var refreshCount = 0
    /// The last refresh that failed, and the generation whose refusal it was for.
    package internal(set) var failure: (generation: Int, error: any Error)?
    package internal(set) var storage: Storage
    /// The sessions that have ended, but of which the store may still have the token.
    package internal(set) var endedSessions: Set<UUID> = []
    /// The tokens that have been replaced, but which the store may still have; nil if there was none, and the store may
    /// still be empty.
    package internal(set) var displaced: Set<String?> = []
    /// A token was set or removed before the store was read: what it has is not known.
    package internal(set) var mayHoldAny = false

    /// - Parameter session: The id of the session, if the token has none.
    package init(token: AccessToken?, session: UUID, storage: Storage = .none, at now: Date) {
        self.token = token
        self.session = token?.session ?? session
        self.storage = storage
        receivedAt = now
    }

    /// Whether the result of a job is still awaited.
    package func isWanted(_ job: Job) -> Bool { refresh?.id == job.id && refresh?.isSuperseded == false }

    package var isRefreshing: Bool { refresh.map { !$0.isSuperseded || $0.isWantedAgain } ?? false }

    /// Whether the store has yet to be read.
    package var isUnread: Bool { if case .unread = storage { true } else { false } }

    /// The session that a call which begins now belongs to; nil if there is none: then it joins the one in which it is
    /// first admitted.
    package var sessionOfNewCall: UUID? { token == nil ? nil : session }

    // MARK: Before sending

    /// Rules 4, 5, 7 and 11: whether a request may be sent now.
    ///
    /// - Parameter member: The session that its call belongs to.
    package func passage(of member: UUID?, at now: Date) -> Passage {
        if case .unread = storage { return .wait }
        if let member, member != session { return .closed(SessionEnded()) }
        if let over, !hasStore { return .closed(over) }
        return over != nil || isRefreshing || needsRefresh(at: now) ? .wait : .open
    }

    /// A request waits until it may be sent; what ends the wait is an effect.
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

    /// Rule 5: a fresh token has been tried.
    package mutating func noteResponse(toGeneration carried: Int) {
        if carried >= tokenGeneration { isUntried = false }
    }

    /// Begins to read the store.
    package mutating func load() -> [Effect] { requireRefresh() }

    // MARK: After a refusal

    /// Rules 2, 3 and 11: what the refusal of a request means that carried the token of a generation and a session.
    ///
    /// - Parameter hasRefreshed: Whether its call's own refresh has brought a token.
    package mutating func judge(
        refusalOfGeneration carried: Int, of member: UUID, hasRefreshed: Bool
    ) -> (Judgement, [Effect]) {
        if member == session, carried >= tokenGeneration { hasWrongExpiry = false }
        guard member == session, !hasRefreshed || carried < generation else { return (.giveUp, []) }
        if carried < tokenGeneration { return (token == nil ? .giveUp : .repeatWithCurrent, []) }
        guard carried == generation, mayRefresh, over == nil || hasStore else { return (.giveUp, []) }
        return (.waitForRefresh, requireRefresh())
    }

    /// A refused request waits for the refresh that its refusal called for.
    package mutating func wait(
        _ waiter: Waiter, forRefreshOfGeneration carried: Int, of member: UUID
    ) -> [Effect] {
        guard member == session else { return [.fail(waiter, SessionEnded())] }
        if carried < tokenGeneration, token != nil { return [.release(waiter, tokenOrigin)] }
        guard carried == generation, refresh != nil else {
            return [.fail(waiter, refreshError(ofGeneration: carried) ?? TokenUnavailable())]
        }
        refresh?.waiters.append((waiter, member))
        return []
    }

    /// Why the refresh failed that the refusal of that generation called for; nil if it did not.
    package func refreshError(ofGeneration carried: Int) -> (any Error)? {
        guard let failure, carried >= tokenGeneration, carried <= failure.generation else { return nil }
        return failure.error
    }

    /// A waiter has left; it is not notified.
    package mutating func leave(_ waiter: Waiter) {
        refresh?.waiters.removeAll { $0.id == waiter }
    }

    // MARK: Within

    var hasStore: Bool { if case .none = storage { false } else { true } }

    /// Rule 1: one refresh at a time; one that follows a superseded one waits for its end.
    mutating func requireRefresh() -> [Effect] {
        guard refresh == nil else {
            if refresh?.isSuperseded == true { refresh?.isWantedAgain = true }
            return []
        }
        refreshCount += 1
        var kind = over == nil ? Job.Kind.refresh : .look
        if case .unread = storage { kind = .load }
        refresh = Refresh(id: refreshCount, kind: kind)
        return [
            .start(Job(id: refreshCount, kind: kind, token: token, generation: tokenGeneration, session: session))
        ]
    }

    /// Rule 5: expired, or about to: within 30 seconds, but never more than a tenth of the token's life, of its end.
    func needsRefresh(at now: Date) -> Bool {
        guard mayRefresh, !isUntried, !hasWrongExpiry, let expiresAt = token?.expiresAt else { return false }
        let life = max(expiresAt.timeIntervalSince(receivedAt), 0)
        return now >= expiresAt.addingTimeInterval(-min(30, life / 10))
    }
}

/// There is no token to send again with: a refresh failed in between, or none was ever set.
struct TokenUnavailable: Error {}

/// The session in which the call began has ended: the user has logged out, or another one has logged in.
struct SessionEnded: Error {}
