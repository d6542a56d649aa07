package import Foundation

/// A change that a store needs. The content of the store determines what is written. The change can be tested
/// without a store.
package enum StoredTokenChange: Sendable, Equatable {
    /// Save a token. If the store contains another token of the same session, the token is saved only if `over`
    /// contains the value of the stored token; otherwise, the stored token is newer. If the store is empty, the token
    /// is saved only if `over` contains nil; otherwise, another process has logged out. After a log-in, the token is
    /// also saved if the store is empty or contains a token of another session.
    case save(AccessToken, over: Set<String?>, isLogIn: Bool)
    /// Remove the token if it belongs to one of these sessions. Nil means any session.
    case remove(sessions: Set<UUID>?)

    /// The write that the change requires.
    package enum Step: Equatable, Sendable {
        case write(AccessToken?)
        case nothing
    }

    /// Returns what to write in place of the token that the store contains.
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

/// The next step of a supervisor's job, determined by the content of the store.
package enum StoredTokenStep: Equatable, Sendable {
    /// The stored token differs from the supervisor's token. Use the stored token.
    case adopt(AccessToken)
    /// The store was read for the first time and contains no token.
    case findNothing
    /// Refresh this token.
    case refresh(AccessToken?)
    /// The session is over: another process has removed the token.
    case logOut
    /// The session is over, as before.
    case remainOver

    /// - Parameters:
    ///   - stored: The token in the store.
    ///   - isUnsaved: Whether the token of the job could not be saved, so that it is newer than the stored token.
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
    /// The id of the session. All tokens without a session have the same id.
    var sessionID: UUID { session ?? AccessToken.unnamedSession }

    static let unnamedSession = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    fileprivate func hasExpired(at now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

/// Another process removed the token from the store.
struct LoggedOutElsewhere: Error {}
