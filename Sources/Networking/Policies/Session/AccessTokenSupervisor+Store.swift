import Foundation

// What a store adds: see `AccessTokenStore`.
extension AccessTokenSupervisor {
    /// What a job has found.
    enum Finding: Sendable {
        case token(AccessToken, from: AccessTokenMachine.Origin, isKept: Bool)
        case nothing
    }

    /// Does a job of the machine.
    func result(of job: AccessTokenMachine.Job) async throws -> Finding {
        guard let store else { return .token(try await refresh(job.token), from: .refresh, isKept: true) }
        // Reading needs no lease.
        guard case .refresh = job.kind else { return try await result(of: job, in: store) }
        return try await store.exclusively { [self] in try await result(of: job, in: store) }
    }

    private func result(of job: AccessTokenMachine.Job, in store: any AccessTokenStore) async throws -> Finding {
        let (stored, isUnsaved) = try await look(into: store, for: job)
        switch StoredTokenStep(for: job, finding: stored, isUnsaved: isUnsaved, at: clock.date()) {
        case .adopt(let token): return .token(token.inSession(token.sessionID), from: .elsewhere, isKept: true)
        case .findNothing: return .nothing
        case .remainOver: throw AccessToken.Rejected(SessionEnded())
        case .logOut: throw AccessToken.Rejected(LoggedOutElsewhere())
        case .refresh(let old): return try await refresh(old, stored, of: job, in: store)
        }
    }

    /// Reads the store, and brings it up to date if it is not. This process writes nothing between reading the store
    /// and comparing it with the token to be saved: otherwise the previous token could be taken for a newer one.
    ///
    /// - Returns: The token that the store has, and whether the current one is newer.
    private func look(
        into store: any AccessTokenStore, for job: AccessTokenMachine.Job
    ) async throws -> (stored: AccessToken?, isUnsaved: Bool) {
        try await writing.withLock {
            var stored = try await store.load()
            if unsaved != nil {
                do { stored = try await update(store) } catch { events.publish(.notStored(error)) }
            }
            return (stored, try isUnsaved(finding: stored, for: job))
        }
    }

    private func refresh(
        _ old: AccessToken?, _ stored: AccessToken?, of job: AccessTokenMachine.Job, in store: any AccessTokenStore
    ) async throws -> Finding {
        let new: AccessToken
        do { new = try await refresh(old).inSession(old?.session ?? job.session) } catch
            where RefreshRejection.isRejection(error)
        {
            // A process that does not use the lease may have been faster.
            let (later, isUnsaved) = try await look(into: store, for: job)
            guard let later, later.value != stored?.value, !isUnsaved else { throw error }
            return .token(later, from: .elsewhere, isKept: true)
        }
        do {
            return try await writing.withLock { try await save(new, over: [stored, old], of: job, in: store) }
        } catch let error as AccessToken.Rejected {
            throw error
        } catch let error as Superseded {
            throw error
        } catch {
            // The server has issued it, so it is kept, whatever has ended the wait for the store.
            if !(error is CancellationError), !(error is Interruption) { events.publish(.notStored(error)) }
            return .token(new, from: .refresh, isKept: false)
        }
    }

    /// Saves a new token in place of the one that was refreshed, which may have been saved only now.
    private func save(
        _ new: AccessToken, over known: [AccessToken?], of job: AccessTokenMachine.Job, in store: any AccessTokenStore
    ) async throws -> Finding {
        var later: AccessToken?
        while true {
            later = try await store.load()
            guard generation == job.generation else { throw Superseded() }
            guard known.contains(later) else { break }
            if try await store.save(new, replacing: later) { return .token(new, from: .refresh, isKept: true) }
        }
        if try isUnsaved(finding: later, for: job) { return .token(new, from: .refresh, isKept: false) }
        // Meanwhile another process has logged out, or logged in: that wins.
        guard let later else { throw AccessToken.Rejected(LoggedOutElsewhere()) }
        return .token(later, from: .elsewhere, isKept: true)
    }

    /// The job's token is not the current one any more.
    private struct Superseded: Error {}

    /// What the store has yet to be brought.
    private var unsaved: (generation: Int, change: StoredTokenChange)? { state.withLock { $0.machine.keeping } }

    private func isUnsaved(finding stored: AccessToken?, for job: AccessTokenMachine.Job) throws -> Bool {
        let (isCurrent, isUnsaved) = state.withLock {
            ($0.machine.tokenGeneration == job.generation, $0.machine.isUnsaved(finding: stored))
        }
        guard isCurrent else { throw Superseded() }
        return isUnsaved
    }

    /// That of the current token.
    private var generation: Int { state.withLock { $0.machine.tokenGeneration } }

    /// Brings the store up to date. One task at a time does that, and asks what is to be written after it has read what
    /// there is: what is written late would undo what came after it.
    ///
    /// - Returns: What the store has then.
    private func update(_ store: any AccessTokenStore) async throws -> AccessToken? {
        while true {
            let stored = try await store.load()
            guard let (generation, change) = unsaved else { return stored }
            if case .write(let token) = change.step(finding: stored) {
                guard try await store.save(token, replacing: stored) else { continue }
                state.withLock { $0.machine.noteKept(generation: generation) }
                return token
            }
            state.withLock { $0.machine.noteKept(generation: generation) }
            return stored
        }
    }

    /// Brings the store up to date, and tries again until it is: after a second, and then after twice as long each
    /// time, up to a minute.
    func keep() {
        let wake = state.withLock { state in
            defer { state.keeper = state.keeper ?? Settlement() }
            return state.keeper
        }
        if let wake {
            wake.settle(.success(()))  // it waits to try again: now there is something else to write
            return
        }
        Task.detached { [self] in
            var delay = Duration.seconds(1)
            while needsWrite(), let store {
                do {
                    try await writing.withLock { try await keep(in: store) }
                    lookIfDue()
                    delay = .seconds(1)
                } catch {
                    events.publish(.notStored(error))
                    await pause(for: delay)
                    delay = min(delay * 2, .seconds(60))
                }
            }
        }
    }

    /// A store that hangs is cancelled after as long as a refresh may take: meanwhile nobody else writes.
    private func keep(in store: any AccessTokenStore) async throws {
        let task = Task.detached { [self] in try await update(store) }
        let timer = clock.schedule(at: clock.now() + refreshTimeout) { task.cancel() }
        defer { timer.cancel() }
        do { _ = try await task.value } catch  where task.isCancelled {
            throw NetworkError(
                .deadlineTimedOut, reason: "the token store took longer than \(refreshTimeout.shortText)")
        }
    }

    /// Whether the store is being brought up to date.
    var isKeeping: Bool { state.withLock { $0.keeper != nil } }

    /// Whether there is something to be written; if not, that is the end of the keeper.
    private func needsWrite() -> Bool {
        state.withLock { state in
            state.keeper = state.machine.keeping == nil ? nil : Settlement()
            return state.keeper != nil
        }
    }

    private func pause(for delay: Duration) async {
        guard let wake = state.withLock({ $0.keeper }) else { return }
        let timer = clock.schedule(at: clock.now() + delay) { wake.settle(.success(())) }
        try? await wake.value()
        timer.cancel()
    }

    /// Reads the store, because it says that another process may have changed it. If the machine cannot use what it
    /// has just now, the store is read when it can.
    func lookForChanges() async {
        while let generation = beginLook(), let store {
            do {
                let found = try await store.load()
                let isStale = state.withLock { $0.machine.tokenGeneration != generation }
                run { $0.find(found, generation: generation, session: UUID(), at: $1) }
                guard isStale else { return }
            } catch { return }  // the next refresh reads it again, and reports the error
        }
    }

    /// The generation of the current token, if the store can be read now.
    private func beginLook() -> Int? {
        state.withLock { state in
            state.isLookDue = !state.machine.isToLook
            return state.isLookDue ? nil : state.machine.tokenGeneration
        }
    }

    /// Reads the store if that was put off.
    func lookIfDue() {
        guard state.withLock({ $0.isLookDue && $0.machine.isToLook }) else { return }
        Task.detached { [self] in await lookForChanges() }
    }
}

extension AccessToken {
    /// The token as part of a session.
    func inSession(_ session: UUID) -> AccessToken {
        var token = self
        token.session = session
        return token
    }
}
