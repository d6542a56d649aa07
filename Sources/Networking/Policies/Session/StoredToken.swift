package import Foundation

/// A change that a store has to be brought, and what it means in the light of what the store has. A value, tested
/// without a store.
package enum StoredTokenChange: Sendable, Equatable {
    /// Save a token. Another token of its session, or none (nil), is replaced only if the saved one has displaced it:
    /// otherwise it is newer, or another process has logged out. A log-in replaces also none and the token of another
    /// session.
    case save(AccessToken, over: Set<String?>, isLogIn: Bool)
    /// Remove the token of one of these sessions; of any session if nil.
    case remove(sessions: Set<UUID>?)

    /// What to write.
    package enum Step: Equatable, Sendable {
        case write(AccessToken?)
        case nothing
    }

    /// What to write in place of the token that the store has.
    package func step(finding stored: AccessToken?) -> Step {
        switch self {
        case .save(let token, let displaced, let isLogIn):
            guard let stored else { return isLogIn || displaced.contains(nil) ? .write(token) : .nothing }
            guard stored.sessionID == token.sessionID else { return isLogIn ? .write(token) : .nothing }
            return displaced.contains(stored.value) ? .write(token) : .nothing
        case .remove(let sessions):
            guard let stored, sessions?.contains(stored.sessionID) ?? true else { return .nothing }
            return .write(nil)
        }
    }
}

/// What the job of a supervisor does in the light of what the store has.
package enum StoredTokenStep: Equatable, Sendable {
    /// Another process has brought another token: take it.
    case adopt(AccessToken)
    /// There is no token to begin with.
    case findNothing
    /// Refresh this one.
    case refresh(AccessToken?)
    /// The session is over: another process has removed the token.
    case logOut
    /// The session is over, as before.
    case remainOver

    /// - Parameters:
    ///   - stored: The token that the store has.
    ///   - isUnsaved: Whether the job's token could not be saved: then it is newer than the stored one.
    package init(for job: AccessTokenMachine.Job, finding stored: AccessToken?, isUnsaved: Bool, at now: Date) {
        switch job.kind {
        case .load:
            self = stored.map { .adopt($0) } ?? .findNothing
        case .look:
            guard let stored, !isUnsaved, stored.value != job.token?.value else {
                self = .remainOver
                return
            }
            self = .adopt(stored)
        case .refresh:
            guard !isUnsaved else {
                self = .refresh(job.token)
                return
            }
            guard let stored else {
                self = job.token == nil ? .refresh(nil) : .logOut
                return
            }
            let isAnother = stored.value != job.token?.value
            let isOfUse = stored.sessionID != job.session || !stored.hasExpired(at: now)
            self = isAnother && isOfUse ? .adopt(stored) : .refresh(stored)
        }
    }
}

extension AccessToken {
    /// The session's id; the same for all tokens that have none.
    var sessionID: UUID { session ?? AccessToken.unnamedSession }

    static let unnamedSession = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    fileprivate func hasExpired(at now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

/// Another process removed the token from the store.
struct LoggedOutElsewhere: Error {}
