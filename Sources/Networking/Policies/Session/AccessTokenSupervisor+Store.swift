import Foundation

// The methods that read and write an `AccessTokenStore`.
extension AccessTokenSupervisor {
    /// The result of a job.
    enum Finding: Sendable {
        case token(AccessToken, from: AccessTokenMachine.Origin, isKept: Bool)
        case nothing

        /// A token that another process has stored. A token without a session id belongs to a session of its own.
        static func found(_ token: AccessToken) -> Finding {
            .token(token.inSession(token.sessionID), from: .elsewhere, isKept: true)
        }
    }

    /// Runs a job of the machine.
    func result(of job: AccessTokenMachine.Job) async throws -> Finding {
        guard let store else { return .token(try await renew(job.token), from: .refresh, isKept: true) }
        // Reading does not need the lease.
        guard case .refresh = job.kind else { return try await result(of: job, in: store) }
        return try await store.exclusively(ExclusiveOperation { [self] in try await result(of: job, in: store) })
    }

    /// Calls the app's closure. Rule 8: if the new token has no refresh token, the old refresh token stays valid (RFC
    /// 6749, section 6).
    private func renew(_ old: AccessToken?) async throws -> AccessToken {
        var new = try await refresh(old)
        if let fault = new.fault {
            throw NetworkError(.malformedResponse, reason: "the refresh returned a token that cannot be sent: \(fault)")
        }
        new.refreshToken = new.refreshToken ?? old?.refreshToken
        return new
    }

    private func result(of job: AccessTokenMachine.Job, in store: any AccessTokenStore) async throws -> Finding {
        let (stored, isUnsaved) = try await look(into: store, for: job)
        switch job.step(finding: stored, isUnsaved: isUnsaved, at: clock.date()) {
        case .adopt(let token): return .found(token)
        case .findNothing: return .nothing
        case .remainOver: throw AccessToken.Rejected(SessionEnded())
        case .logOut: throw AccessToken.Rejected(LoggedOutElsewhere())
        case .refresh(let old): return try await refresh(old, stored, of: job, in: store)
        }
    }

    /// Reads the store, and updates it if necessary. While the method reads the store and compares its content with the
    /// current token, the lock `writing` prevents this process from writing. Without the lock, an older token could
    /// look like a newer token of another process.
    ///
    /// - Returns: The token in the store, and whether the current token is newer than the token in the store.
    private func look(
        into store: any AccessTokenStore, for job: AccessTokenMachine.Job
    ) async throws -> (stored: AccessToken?, isUnsaved: Bool) {
        try await writing.withLock {
            var stored = try await read(store).token
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
        do { new = try await renew(old).inSession(old?.session ?? job.session) } catch  where error.isEndOfSession {
            // A process that does not use the lease may have refreshed first.
            let (later, isUnsaved) = try await look(into: store, for: job)
            guard let later, later.value != stored?.value, !isUnsaved else { throw error }
            return .found(later)
        }
        do {
            return try await writing.withLock { try await save(new, over: [stored, old], of: job, in: store) }
        } catch  where error is AccessToken.Rejected || error is Superseded {
            throw error
        } catch {
            // The server has issued the token, so the token is used even if it could not be saved.
            if !(error is CancellationError), !(error is Interruption) { events.publish(.notStored(error)) }
            return .token(new, from: .refresh, isKept: false)
        }
    }

    /// Saves a new token if the store contains one of the known tokens: the token that was read before the refresh, or
    /// the token of the job, which may have been saved since.
    private func save(
        _ new: AccessToken, over known: [AccessToken?], of job: AccessTokenMachine.Job, in store: any AccessTokenStore
    ) async throws -> Finding {
        var later: AccessToken?
        for number in 1... {
            later = try await read(store).token
            guard state.withLock({ $0.machine.tokenGeneration }) == job.generation else { throw Superseded() }
            guard known.contains(later) else { break }
            if try await store.save(new, replacing: later) { return .token(new, from: .refresh, isKept: true) }
            try await pause(afterRefusal: number)
        }
        if try isUnsaved(finding: later, for: job) { return .token(new, from: .refresh, isKept: false) }
        // Another process has logged out or logged in meanwhile: its change takes precedence.
        guard let later else { throw AccessToken.Rejected(LoggedOutElsewhere()) }
        return .found(later)
    }

    /// The token of the job is no longer the current token.
    private struct Superseded: Error {}

    /// The change that the store still needs.
    private var unsaved: (generation: Int, change: StoredTokenChange)? { state.withLock { $0.machine.keeping } }

    private func isUnsaved(finding stored: AccessToken?, for job: AccessTokenMachine.Job) throws -> Bool {
        let (isCurrent, isUnsaved) = state.withLock {
            ($0.machine.tokenGeneration == job.generation, $0.machine.isUnsaved(finding: stored))
        }
        guard isCurrent else { throw Superseded() }
        return isUnsaved
    }

    /// Updates the store. Only one task at a time calls this method. The method always reads the store first, and then
    /// determines what to write. A write that was determined earlier could overwrite a change that was made in the
    /// meantime.
    ///
    /// - Returns: The token in the store after the update.
    private func update(_ store: any AccessTokenStore) async throws -> AccessToken? {
        var number = 0
        while true {
            var (stored, isUndecodable) = try await read(store)
            guard let (generation, change) = unsaved else { return stored }
            if case .write(let token) = change.step(finding: stored, isUndecodable: isUndecodable) {
                guard try await store.save(token, replacing: stored) else {
                    number += 1
                    try await pause(afterRefusal: number)
                    continue
                }
                stored = token
            }
            state.withLock { $0.machine.noteKept(generation: generation) }
            return stored
        }
    }

    /// Waits before a refused write is tried again. The store refuses a write if the stored token is no longer the
    /// token that was read. The first refusals come from processes that write at the same time, and need no pause.
    private func pause(afterRefusal number: Int) async throws {
        guard number < 8 else { throw RefusingTokenStore(writes: number) }
        if number > 3 { try await clock.sleep(clock.now() + .milliseconds(10 << number)) }
    }

    /// Updates the store. If the update fails, tries again: first after one second, then after twice the previous
    /// delay, up to 60 seconds.
    func keep() {
        let wake = state.withLock { state in
            defer { state.keeper = state.keeper ?? Settlement() }
            return state.keeper
        }
        if let wake {
            wake.settle(.success(()))  // ends the pause of the update task: the new change needs a write
            return
        }
        Task.detached { [self] in
            var delay = Duration.seconds(1)
            while needsWrite(), let store {
                do {
                    try await writing.withLock { try await keep(in: store) }
                    readStoreIfPostponed()
                    delay = .seconds(1)
                } catch {
                    events.publish(.notStored(error))
                    await pause(for: delay)
                    delay = min(delay * 2, .seconds(60))
                }
            }
        }
    }

    /// Updates the store once. An update that does not return is cancelled after `refreshTimeout`, because no other
    /// task can write to the store while the update runs.
    private func keep(in store: any AccessTokenStore) async throws {
        let task = Task.detached { [self] in try await update(store) }
        let timer = clock.schedule(at: clock.now() + refreshTimeout) { task.cancel() }
        defer { timer.cancel() }
        do { _ = try await task.value } catch  where task.isCancelled {
            throw NetworkError(
                .deadlineTimedOut, reason: "the token store took longer than \(refreshTimeout.shortText)")
        }
    }

    /// Whether an update of the store is in progress.
    var isKeeping: Bool { state.withLock { $0.keeper != nil } }

    /// Whether the store needs a write. If not, the update task ends.
    private func needsWrite() -> Bool {
        state.withLock { state in
            state.keeper = state.machine.keeping == nil ? nil : Settlement()
            return state.keeper != nil
        }
    }

    private func pause(for delay: Duration) async {
        guard let wake = state.withLock({ $0.keeper }) else { return }
        try? await wake.value(within: delay, on: clock) { _ in .success(()) }
    }

    /// Reads the store after the store has reported that another process may have changed the token. If the machine
    /// cannot use the content now, the store is read later.
    func lookForChanges() async {
        while let generation = beginLook(), let store {
            do {
                let found = try await read(store).token
                let isStale = state.withLock { $0.machine.tokenGeneration != generation }
                run { $0.find(found, generation: generation, session: UUID(), at: $1) }
                guard isStale else { return }
            } catch { return }  // the next refresh reads the store again, and reports the error
        }
    }

    /// Returns the generation of the current token if the store can be read now.
    private func beginLook() -> Int? {
        state.withLock { state in
            state.isReadPostponed = !state.machine.isToLook
            return state.isReadPostponed ? nil : state.machine.tokenGeneration
        }
    }

    /// Reads the store if a read was postponed.
    func readStoreIfPostponed() {
        guard state.withLock({ $0.isReadPostponed && $0.machine.isToLook }) else { return }
        Task.detached { [self] in await lookForChanges() }
    }
}

extension AccessToken {
    /// Returns the token with the id of a session.
    func inSession(_ session: UUID) -> AccessToken {
        var token = self
        token.session = session
        return token
    }
}

/// A token store has refused every write. Either other processes changed the token each time, or the store does not
/// compare tokens by `==`.
struct RefusingTokenStore: Error, CustomStringConvertible {
    let writes: Int

    var description: String {
        "the token store has refused \(writes) writes: each time, it contained another token than `load` had returned before"
    }
}
