public import Foundation

/// An access token, its expiry if known, and the refresh token that was issued with the access token.
///
/// It is `Codable`, so that the app can save it in its secure store. Its descriptions do not show the secrets.
public struct AccessToken: Hashable, Codable, Sendable {
    private struct Parts: Sendable {
        var value: String
        var expiresAt: Date?
        var refreshToken: String?
        var session: UUID?
        var scheme: AuthorizationType?
        var userInfo: [String: String]
    }

    // Each request copies the token several times. A copy only retains one reference.
    private var parts: CopyOnWrite<Parts>

    /// The value of the `Authorization` field, without the scheme.
    public var value: String {
        get { parts.value.value }
        set { parts.value.value = newValue }
    }
    /// The time at which the token expires. Nil if it is not known.
    public var expiresAt: Date? {
        get { parts.value.expiresAt }
        set { parts.value.expiresAt = newValue }
    }
    /// The refresh token, which a refresh sends to get a new access token. Nil if there is none.
    public var refreshToken: String? {
        get { parts.value.refreshToken }
        set { parts.value.refreshToken = newValue }
    }
    /// The id of the session, which the supervisor assigns. Save the id with the token: processes that share the token
    /// use the id to determine whether another token belongs to the same log-in. `==` ignores the id.
    public var session: UUID? {
        get { parts.value.session }
        set { parts.value.session = newValue }
    }
    /// The scheme with which the token is sent. If nil, the authorization type of the endpoint determines it.
    public var scheme: AuthorizationType? {
        get { parts.value.scheme }
        set { parts.value.scheme = newValue }
    }
    /// The app's own values, such as the id of the user. They are saved with the token. A refresh does not keep these
    /// values: its closure has to copy them from the old token if they still apply.
    public var userInfo: [String: String] {
        get { parts.value.userInfo }
        _modify { yield &parts.value.userInfo }
    }

    /// Creates a token.
    public init(
        _ value: String, expiresAt: Date? = nil, refreshToken: String? = nil, session: UUID? = nil,
        scheme: AuthorizationType? = nil, userInfo: [String: String] = [:]
    ) {
        parts = CopyOnWrite(
            Parts(
                value: value, expiresAt: expiresAt, refreshToken: refreshToken, session: session, scheme: scheme,
                userInfo: userInfo))
    }

    /// Creates a token that expires a given time after `now`, like `expires_in` in RFC 6749 section 5.1.
    public init(
        _ value: String, expiresIn life: Duration, refreshToken: String? = nil, scheme: AuthorizationType? = nil,
        userInfo: [String: String] = [:], now: Date = Date()
    ) {
        self.init(
            value, expiresAt: now.addingTimeInterval(life / .seconds(1)), refreshToken: refreshToken, scheme: scheme,
            userInfo: userInfo)
    }
}

extension AccessToken {
    private enum CodingKeys: CodingKey {
        case value, expiresAt, refreshToken, session, scheme, userInfo
    }

    /// Decodes a token. Only the value is required.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try members.decode(String.self, forKey: .value),
            expiresAt: try members.decodeIfPresent(Date.self, forKey: .expiresAt),
            refreshToken: try members.decodeIfPresent(String.self, forKey: .refreshToken),
            session: try members.decodeIfPresent(UUID.self, forKey: .session),
            scheme: try members.decodeIfPresent(String.self, forKey: .scheme).map { AuthorizationType(scheme: $0) },
            userInfo: try members.decodeIfPresent([String: String].self, forKey: .userInfo) ?? [:])
    }

    /// Encodes the token, with its secrets.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(value, forKey: .value)
        try members.encodeIfPresent(expiresAt, forKey: .expiresAt)
        try members.encodeIfPresent(refreshToken, forKey: .refreshToken)
        try members.encodeIfPresent(session, forKey: .session)
        try members.encodeIfPresent(scheme?.scheme, forKey: .scheme)
        if !userInfo.isEmpty { try members.encode(userInfo, forKey: .userInfo) }
    }

    /// Whether all properties except ``session`` are equal.
    public static func == (one: AccessToken, other: AccessToken) -> Bool {
        one.value == other.value && one.expiresAt == other.expiresAt && one.refreshToken == other.refreshToken
            && one.scheme?.scheme == other.scheme?.scheme && one.userInfo == other.userInfo
    }

    /// Hashes properties that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(value)
        hasher.combine(expiresAt)
        hasher.combine(refreshToken)
    }
}

extension AccessToken: RedactedReflectable {
    /// `AccessToken(<redacted>)`.
    var redactedDescription: String { "AccessToken(<redacted>)" }

    var reflectedMembers: KeyValuePairs<String, Any> {
        // The description of a date that is not a number traps (swift-foundation).
        ["expiresAt": expiresAt.map { $0.timeIntervalSinceReferenceDate.isNaN ? "not a number" : $0 as Any } as Any]
    }
}

extension AccessToken {
    /// The error that a refresh throws to end the session. If the server refuses the refresh with status 400, 401 or
    /// 403, the session ends even without this error. Throw this error in all other cases in which the session is over.
    public struct Rejected: Error {
        /// The underlying error. Nil if there is none.
        public let underlying: (any Error)?

        /// Creates the error.
        public init(_ underlying: (any Error)? = nil) {
            self.underlying = underlying
        }
    }
}

extension AccessToken {
    /// The error of an ``AccessTokenStore`` whose content is not a token: it is damaged, or has another format. This
    /// error means that nobody is logged in. Throw another error if the store cannot be read now.
    public struct Undecodable: Error {
        /// The underlying error. Nil if there is none.
        public let underlying: (any Error)?

        /// Creates the error.
        public init(_ underlying: (any Error)? = nil) {
            self.underlying = underlying
        }
    }
}

/// A change that must be made in a store. What is written depends on the content of the store. This type does not
/// access a store, so it can be tested without one.
package enum StoredTokenChange: Sendable, Equatable {
    /// Save a token. If the store contains another token of the same session, the token is saved only if `over`
    /// contains the value of the stored token. A stored token that `over` does not contain is newer than the token to
    /// save. If the store is empty, the token is saved only if `over` contains nil; otherwise, another process has
    /// logged out. After a log-in, the token is also saved if the store is empty or contains a token of another
    /// session.
    case save(AccessToken, over: Set<String?>, isLogIn: Bool)
    /// Remove the token if it belongs to one of these sessions. Nil means any session.
    case remove(sessions: Set<UUID>?)

    /// The write that the change requires.
    package enum Step: Equatable, Sendable {
        case write(AccessToken?)
        case nothing
    }

    /// Returns what to write in place of the token that the store contains.
    ///
    /// - Parameter isUndecodable: Whether the store contains something that is not a token. Such content counts as no
    ///   token, and a log-out removes it.
    package func step(finding stored: AccessToken?, isUndecodable: Bool = false) -> Step {
        switch self {
        case .save(let token, let displaced, let isLogIn):
            guard let stored else { return isLogIn || displaced.contains(nil) ? .write(token) : .nothing }
            guard stored.sessionID == token.sessionID else { return isLogIn ? .write(token) : .nothing }
            return displaced.contains(stored.value) ? .write(token) : .nothing
        case .remove where isUndecodable: return .write(nil)
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
    /// The session remains over, because the store contains no other token that can be used.
    case remainOver
}

extension AccessTokenMachine.Job {
    /// Returns the next step of the job.
    ///
    /// - Parameters:
    ///   - stored: The token in the store.
    ///   - isUnsaved: Whether the token of the job could not be saved, and is therefore newer than the stored token.
    package func step(finding stored: AccessToken?, isUnsaved: Bool, at now: Date) -> StoredTokenStep {
        let isAnother = stored?.value != token?.value
        switch kind {
        case .load:
            return stored.map { .adopt($0) } ?? .findNothing
        case .look:
            guard let stored, !isUnsaved, isAnother else { return .remainOver }
            return .adopt(stored)
        case .refresh:
            guard !isUnsaved else { return .refresh(token) }
            guard let stored else { return token == nil ? .refresh(nil) : .logOut }
            let isOfUse = stored.sessionID != session || !stored.hasExpired(at: now)
            return isAnother && isOfUse ? .adopt(stored) : .refresh(stored)
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
