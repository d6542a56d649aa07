public import Foundation

/// An access token with its expiry, if it is known, and the refresh token that was issued with it.
///
/// It is `Codable`, so that the app can save it in its secure store. Its descriptions do not show the secrets.
public struct AccessToken: Hashable, Codable, Sendable {
    /// The value of the `Authorization` field, without the scheme.
    public var value: String
    /// The time at which the token expires. Nil if it is not known.
    public var expiresAt: Date?
    /// The refresh token, which a refresh sends to get a new access token. Nil if there is none.
    public var refreshToken: String?
    /// The id of the session, which the supervisor assigns. Save the id with the token: processes that share the token
    /// use the id to determine whether another token belongs to the same log-in. `==` ignores the id.
    public var session: UUID?

    /// Creates a token.
    public init(_ value: String, expiresAt: Date? = nil, refreshToken: String? = nil, session: UUID? = nil) {
        self.value = value
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
        self.session = session
    }

    /// Creates a token that expires a given time after `now`, like `expires_in` in RFC 6749 section 5.1.
    public init(_ value: String, expiresIn life: Duration, refreshToken: String? = nil, now: Date = Date()) {
        self.init(value, expiresAt: now.addingTimeInterval(life / .seconds(1)), refreshToken: refreshToken)
    }
}

extension AccessToken {
    /// Whether value, expiry and refresh token are equal.
    public static func == (one: AccessToken, other: AccessToken) -> Bool {
        one.value == other.value && one.expiresAt == other.expiresAt && one.refreshToken == other.refreshToken
    }

    /// Hashes the properties that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(value)
        hasher.combine(expiresAt)
        hasher.combine(refreshToken)
    }
}

extension AccessToken: RedactedReflectable {
    /// `AccessToken(<redacted>)`.
    var redactedDescription: String { "AccessToken(<redacted>)" }

    var reflectedMembers: KeyValuePairs<String, Any> { ["expiresAt": expiresAt as Any] }
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
