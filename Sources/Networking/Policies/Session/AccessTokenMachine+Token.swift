package import Foundation

// The events that set or replace the token, and the results of jobs.
extension AccessTokenMachine {
    /// Rules 8 and 11: the app sets or removes the token. This begins a new session. The result of a refresh in
    /// progress does not count.
    package mutating func set(_ token: AccessToken?, session: UUID, at now: Date) -> [Effect] {
        if case .unread = storage { mayHoldAny = true }
        endedSessions.insert(self.session)
        self.session = session
        sessionNumber += 1
        store(token, at: now)
        return keep() + supersede(at: now)
    }

    /// Rules 8 and 11: the token was rotated outside of the supervisor. The session stays the same. If the new token
    /// has no refresh token, it gets the refresh token of the old token. A new token is ignored after a log-out, or if
    /// it belongs to another session. If the new token is already the current token, nothing happens, and the result of
    /// a refresh in progress counts.
    package mutating func replace(_ token: AccessToken, at now: Date) -> [Effect] {
        guard let current = self.token, token.session == nil || token.session == session else { return [] }
        var token = token
        token.refreshToken = token.refreshToken ?? current.refreshToken
        guard token != current else { return [] }
        store(token, at: now)
        return keep() + supersede(at: now)
    }

    /// Rules 7 and 8: a job ended with a token.
    ///
    /// - Parameter isKept: Whether the store contains the token.
    package mutating func succeed(
        _ job: Job, with token: AccessToken, from origin: Origin, isKept: Bool, at now: Date
    ) -> [Effect] {
        let ended = take(job)
        guard job.generation == tokenGeneration else { return ended.map { follow($0) } ?? [] }
        if let session = token.session, session != self.session {
            self.session = session
            // A late reading may find a session although the first reading has found none.
            if !isUnread { sessionNumber += 1 }
        }
        store(token, at: now)
        tokenOrigin = origin
        if origin == .refresh {
            isUntried = true
            hasWrongExpiry = token.expiresAt.map { $0 <= now } ?? false
        }
        let announced: [Effect] = job.kind == .load ? [] : [.announce(.refreshed(token))]
        // A newer refresh may be in progress when a late result arrives. The late result supersedes the newer refresh,
        // because that refresh began with the token that the late result has now replaced.
        if isKept { noteKept(generation: tokenGeneration) }
        return announced + (isKept ? [] : keep()) + supersede(at: now) + release(ended?.waiters ?? [], at: now)
    }

    /// The store was read and contains no token.
    package mutating func findNothing(_ job: Job, at now: Date) -> [Effect] {
        let ended = take(job)
        let isNews = job.generation == tokenGeneration && isUnread
        if isNews { noteKept(generation: tokenGeneration) }
        // A second reading may be in progress when a late result arrives.
        guard let ended else { return isNews ? supersede(at: now) : [] }
        return ended.isSuperseded ? follow(ended) : release(ended.waiters, at: now)
    }

    /// Rule 7: a job ended without a token.
    ///
    /// - Parameter isLogOut: Whether the error means that nobody is logged in.
    package mutating func fail(_ job: Job, with error: any Error, isLogOut: Bool) -> [Effect] {
        guard let ended = take(job) else { return [] }
        guard !ended.isSuperseded else { return follow(ended) }
        // If the first token could not be fetched, no session has ended, and the next call tries again.
        let isRejection = isLogOut && token != nil
        let error = isRejection ? over ?? error : error
        let isNews = over == nil && !ended.isOverdue
        fail(error)
        if isRejection { over = over ?? error }
        let ends = ended.waiters.map { $0.end(with: error, isLogOut: isLogOut) }
        guard isNews || isRejection && ended.kind == .refresh else { return ends }
        let event: AccessTokenSupervisor.Event = isRejection ? .sessionOver(error) : .unreachable(error)
        return [.announce(event)] + ends
    }

    /// Rule 1: the time limit of a job has passed. Its waiters fail. The job counts as running until it ends, or until
    /// the limit has passed a second time.
    package mutating func passTimeLimit(of job: Job, with error: any Error) -> [Effect] {
        guard var running = refresh, running.id == job.id else { return [] }
        guard !running.isOverdue else {
            refresh = nil
            return [.cancel(id: job.id)] + again(after: running)
        }
        running.isOverdue = true
        defer { refresh = running }
        guard !running.isSuperseded else { return [] }
        let waiters = running.waiters
        running.waiters = []
        fail(error)
        return [.announce(.unreachable(error))] + waiters.map { .fail($0.id, error) }
    }

    // MARK: The store

    /// The change that the store needs, with the generation of the token. Nil if the store is up to date or has not
    /// been read.
    package var keeping: (generation: Int, change: StoredTokenChange)? {
        guard case .read(isKept: false) = storage else { return nil }
        return (tokenGeneration, change)
    }

    /// Whether the state of the machine is newer than the content found in the store: the store does not contain the
    /// current token, or still contains a token that must be removed.
    package func isUnsaved(finding stored: AccessToken?) -> Bool {
        keeping.map { $0.change.step(finding: stored) != .nothing } ?? false
    }

    private var change: StoredTokenChange {
        token.map { .save($0, over: displaced, isLogIn: mayHoldAny || !endedSessions.isEmpty) }
            ?? .remove(sessions: mayHoldAny ? nil : endedSessions)
    }

    /// Notes that the store contains the current token, or that the ended sessions' tokens have been removed from the
    /// store.
    package mutating func noteKept(generation: Int) {
        guard generation == tokenGeneration, hasStore else { return }
        storage = .read(isKept: true)
        (endedSessions, displaced, mayHoldAny) = ([], [], false)
    }

    /// Whether a different token in the store can come only from another process.
    package var isToLook: Bool {
        guard case .read(isKept: true) = storage else { return false }
        return refresh == nil
    }

    /// Adopts the content of the store, which is another token or no token. The caller began to read the store when
    /// ``isToLook`` was true.
    ///
    /// - Parameter session: The id of the session that begins if there is no token.
    package mutating func find(_ found: AccessToken?, generation: Int, session: UUID, at now: Date) -> [Effect] {
        guard generation == tokenGeneration, isToLook, found != token else { return [] }
        let session = found?.sessionID ?? session
        if session != self.session { sessionNumber += 1 }
        self.session = session
        store(found, at: now)
        noteKept(generation: tokenGeneration)
        guard let found else { return [.announce(.sessionOver(AccessToken.Rejected(LoggedOutElsewhere())))] }
        return [.announce(.refreshed(found))]
    }

    // MARK: Within

    /// Makes a token the current token.
    private mutating func store(_ token: AccessToken?, at now: Date) {
        if hasStore { displaced.insert(self.token?.value) }
        previous = self.token.map { old in
            let number = old.sessionID == session ? sessionNumber : Self.endedNumber
            return (old.value, SessionTicket.Mark(generation: tokenGeneration, session: number))
        }
        self.token = token
        self.token?.session = session
        generation += 1
        tokenGeneration = generation
        tokenOrigin = .elsewhere
        receivedAt = now
        // After a log-out, no call may fetch a first token again.
        if form == .fetchesFirst { form = .renewable }
        refusing = []
        (isUntried, hasWrongExpiry) = (false, false)
        (over, failure) = (nil, nil)
    }

    private mutating func keep() -> [Effect] {
        guard hasStore else { return [] }
        storage = .read(isKept: false)
        return [.keep]
    }

    /// Marks the refresh in progress as superseded. Waiters whose calls belong to the current session continue.
    private mutating func supersede(at now: Date) -> [Effect] {
        guard var running = refresh else { return [] }
        let waiters = running.waiters
        running.waiters = []
        running.isWantedAgain = false
        let isNew = !running.isSuperseded
        running.isSuperseded = true
        refresh = running
        return (isNew ? [.cancel(id: running.id)] : []) + release(waiters, at: now)
    }

    /// Releases the waiters of the current session. If the token needs a refresh, these waiters wait for the next
    /// refresh. The waiters of other sessions fail.
    private mutating func release(_ waiters: [Waiting], at now: Date) -> [Effect] {
        let staying = waiters.filter { $0.session == sessionNumber }
        let ends: [Effect] = waiters.compactMap { waiter in
            guard let session = waiter.session else { return .release(waiter.id, refreshed: nil) }
            return session == sessionNumber ? nil : waiter.end(with: SessionEnded(), isLogOut: true)
        }
        guard !staying.isEmpty, needsRefresh(at: now) else {
            return ends + staying.map { .release($0.id, refreshed: refreshedGeneration) }
        }
        let effects = requireRefresh()
        refresh?.waiters += staying
        return ends + effects
    }

    private mutating func take(_ job: Job) -> Refresh? {
        guard let running = refresh, running.id == job.id else { return nil }
        refresh = nil
        return running
    }

    private mutating func fail(_ error: any Error) {
        failure = (generation, error)
        generation += 1
    }

    private mutating func follow(_ ended: Refresh) -> [Effect] {
        ended.isWantedAgain ? again(after: ended) : []
    }

    /// Begins another refresh for the waiters, or for a refused call that does not wait yet.
    private mutating func again(after ended: Refresh) -> [Effect] {
        guard ended.isWantedAgain || !ended.waiters.isEmpty else { return [] }
        let effects = requireRefresh()
        refresh?.waiters = ended.waiters
        return effects
    }
}

extension AccessTokenSupervisor {
    /// An event of a session, which its supervisor reports once for each occurrence.
    public enum Event: Sendable {
        /// A refresh brought a new token. Save it.
        case refreshed(AccessToken)
        /// A refresh did not reach the server, the server failed, the first token could not be fetched, or the store
        /// could not be read. The session continues, and the next call that needs a token tries again.
        case unreachable(any Error)
        /// The server no longer accepts this session, or another process has logged out. Ask the user to log in again.
        /// Until the token changes, this event is not reported again, and authorized calls fail without a refresh.
        case sessionOver(any Error)
        /// The ``AccessTokenStore`` of the supervisor could not save the token, or could not remove the token after a
        /// log-out. Other processes do not know about the change. The supervisor tries again, and reports each failure.
        /// The error ``AccessToken/Undecodable``, which is reported once, means that the store contains something that
        /// is not a token, and that nobody is logged in. The next log-in replaces this content; the next log-out
        /// removes it.
        case notStored(any Error)
    }
}
