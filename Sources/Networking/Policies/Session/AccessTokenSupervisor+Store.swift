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
        var stored = try await store.load()
        if unsaved != nil {
            do { stored = try await writing.withLock { try await update(store) } } catch {
                events.publish(.notStored(error))
            }
        }
        guard generation == job.generation else { throw CancellationError() }
        switch StoredTokenStep(for: job, finding: stored, isUnsaved: isUnsaved(finding: stored), at: clock.date()) {
        case .adopt(let token): return .token(token.inSession(token.sessionID), from: .elsewhere, isKept: true)
        case .findNothing: return .nothing
        case .remainOver: throw AccessTokenRejected(SessionEnded())
        case .logOut: throw AccessTokenRejected(LoggedOutElsewhere())
        case .refresh(let old): return try await refresh(old, stored, of: job, in: store)
        }
    }

    private func refresh(
        _ old: AccessToken?, _ stored: AccessToken?, of job: AccessTokenMachine.Job, in store: any AccessTokenStore
    ) async throws -> Finding {
        let new: AccessToken
        do { new = try await refresh(old).inSession(old?.session ?? job.session) } catch
            where RefreshRejection.isOne(error)
        {
            // A process that does not use the lease may have been faster.
            guard let later = try await store.load(), later.value != stored?.value, !isUnsaved(finding: later) else {
                throw error
            }
            return .token(later, from: .elsewhere, isKept: true)
        }
        do {
            let isSaved = try await writing.withLock {
                guard generation == job.generation else { throw CancellationError() }
                if try await store.save(new, replacing: stored) { return true }
                // What was refreshed may have been saved only now.
                guard let old, old != stored else { return false }
                return try await store.save(new, replacing: old)
            }
            if isSaved { return .token(new, from: .refresh, isKept: true) }
        } catch let error as CancellationError {
            throw error
        } catch {
            events.publish(.notStored(error))
            return .token(new, from: .refresh, isKept: false)
        }
        let later = try await store.load()
        if isUnsaved(finding: later) { return .token(new, from: .refresh, isKept: false) }
        // Meanwhile another process has logged out, or logged in: that wins.
        guard let later else { throw AccessTokenRejected(LoggedOutElsewhere()) }
        return .token(later, from: .elsewhere, isKept: true)
    }

    /// What the store has yet to be brought.
    private var unsaved: (generation: Int, change: StoredTokenChange)? { state.withLock { $0.machine.keeping } }

    private func isUnsaved(finding stored: AccessToken?) -> Bool {
        state.withLock { $0.machine.isUnsaved(finding: stored) }
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
            while isToGoOn(), let store {
                do {
                    _ = try await writing.withLock { try await update(store) }
                    delay = .seconds(1)
                } catch {
                    events.publish(.notStored(error))
                    await pause(for: delay)
                    delay = min(delay * 2, .seconds(60))
                }
            }
        }
    }

    /// Whether the store is being brought up to date.
    var isKeeping: Bool { state.withLock { $0.keeper != nil } }

    /// Whether there is something to be written; if not, that is the end of the keeper.
    private func isToGoOn() -> Bool {
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

    /// Reads the store when it says that another process may have changed it.
    func lookForChanges() async {
        let (generation, isToLook) = state.withLock { ($0.machine.tokenGeneration, $0.machine.isToLook) }
        guard isToLook, let store else { return }
        do {
            let found = try await store.load()
            run { $0.find(found, generation: generation, session: UUID(), at: $1) }
        } catch { return }  // the next refresh reads it again, and reports the error
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
