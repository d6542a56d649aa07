import Foundation

// What a store adds: see `AccessTokenStore`.
extension AccessTokenSupervisor {
    /// Gets a new token; where there is a store, from there if another process has been faster.
    func renew(_ id: Int, replacing old: AccessToken?) async throws -> AccessToken {
        guard let store else { return try await refresh(old) }
        return try await store.exclusively { [self] in
            let stored = try store.load()
            // What was never kept cannot have been removed.
            guard stored != nil || old == nil || !lastStored.withLock({ $0.hasCurrent }) else {
                throw AccessTokenRejected(LoggedOutElsewhere())
            }
            let isForeign = stored?.value != lastStored.withLock { $0.token }
            if let stored, isForeign, stored.value != old?.value, !stored.hasExpired(at: clock.date()) {
                noteStored(stored)
                return stored
            }
            do {
                // What could not be kept is newer than what is.
                let new = try await refresh(isForeign ? stored : old)
                try checkStillThere(stored)
                keep { $0.isWanted(refresh: id) ? new : nil }
                return new
            } catch  where RefreshRejection.isOne(error) {
                // Somebody who does not use the lease may have been faster.
                guard let later = try store.load(), later.value != stored?.value else { throw error }
                noteStored(later)
                return later
            }
        }
    }

    /// While the token was refreshed, another process may have logged out: that wins.
    private func checkStillThere(_ before: AccessToken?) throws {
        guard before != nil, try store?.load() == nil else { return }
        throw AccessTokenRejected(LoggedOutElsewhere())
    }

    private func noteStored(_ token: AccessToken?) {
        lastStored.withLock { $0 = StoreState(token: token?.value, hasCurrent: token != nil) }
    }

    /// Has the store keep the token as it was set.
    func keepCurrent() {
        guard let store else { return }
        write {
            let token = state.withLock { $0.machine.token }
            lastStored.withLock { $0.hasCurrent = false }
            try store.save(token)
            noteStored(token)
        }
    }

    /// Has the store keep a token, where the machine says at that moment that it is one to keep.
    private func keep(_ choose: (AccessTokenMachine) -> AccessToken?) {
        guard let store else { return }
        write {
            guard let token = choose(state.withLock { $0.machine }) else { return }
            try store.save(token)
            noteStored(token)
        }
    }

    /// One write after another: what is kept last is what was true last.
    private func write(_ body: () throws -> Void) {
        do {
            try saving.withLock { _ in try body() }
        } catch {
            events.publish(.notStored(error))
        }
    }
}

extension AccessToken {
    fileprivate func hasExpired(at now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

/// Another process removed the token from the store.
struct LoggedOutElsewhere: Error {}
