package import Foundation

// Which credential a request carries, and whether the request may be sent now: rules 4, 5, 7, 10, 11 and 15.
extension AccessTokenMachine {
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

    /// Rules 10 and 11: returns the credential of a request that is about to be sent.
    package func credential(of member: SessionTicket.Member) -> Credential {
        guard member.session == sessionNumber else { return member.isOptional ? .anonymous : .closed(SessionEnded()) }
        if member.isOptional, token == nil || over != nil { return .anonymous }
        return .token(token, SessionTicket.Mark(generation: generation, session: sessionNumber))
    }

    /// Rules 3 and 11: returns the mark of a request to which the app has added a token itself.
    ///
    /// - Returns: Nil if the session does not know the token: it is neither the current nor the previous token. An
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
    /// - Parameter session: The number of the session whose token the waiter demands.
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

    /// Rules 5 and 15: returns whether the token has expired or is about to expire, or whether the first token has to
    /// be fetched. By default, a token is about to expire in the last 30 seconds of its lifetime. If a tenth of the
    /// lifetime is shorter, this tenth is used instead.
    func needsRefresh(at now: Date) -> Bool {
        guard mayRefresh, !isUntried, !hasWrongExpiry else { return false }
        guard let token else { return true }
        guard let expiresAt = token.expiresAt else { return false }
        let life = max(expiresAt.timeIntervalSince(receivedAt), 0)
        return now >= expiresAt.addingTimeInterval(-min(leeway, life / 10))
    }
}
