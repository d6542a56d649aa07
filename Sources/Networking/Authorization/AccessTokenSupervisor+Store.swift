import Foundation

// What a store adds: see `AccessTokenStore`.
extension AccessTokenSupervisor {
    /// Gets a new token; where there is a store, from there if another process has been faster.
    func renew(_ id: Int, replacing old: AccessToken?) async throws -> AccessToken {
        guard let store else { return try await refresh(old) }
        return try await store.exclusively { [self] in
            let stored = try store.load()
            guard stored != nil || old == nil else { throw AccessTokenRejected(LoggedOutElsewhere()) }
            if let stored, stored != old, !stored.hasExpired(at: clock.date()) { return stored }
            do {
                let new = try await refresh(stored)
                keep { $0.isWanted(refresh: id) ? new : nil }
                return new
            } catch  where RefreshRejection.isOne(error) {
                // Somebody who does not use the lease may have been faster.
                guard let later = try store.load(), later != stored else { throw error }
                return later
            }
        }
    }

    /// Has the store keep the token as it was set.
    func keepCurrent() {
        guard let store else { return }
        write { try store.save(state.withLock { $0.machine.token }) }
    }

    /// Has the store keep a token, where the machine says at that moment that it is one to keep.
    private func keep(_ choose: (AccessTokenMachine) -> AccessToken?) {
        guard let store else { return }
        write {
            guard let token = choose(state.withLock { $0.machine }) else { return }
            try store.save(token)
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
