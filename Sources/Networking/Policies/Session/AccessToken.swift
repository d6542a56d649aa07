public import Foundation

/// An access token with what is known about its end, and the refresh token that came with it.
///
/// It is `Codable`, so that the app can keep it in its secure store. No description of it shows the secrets.
public struct AccessToken: Hashable, Codable, Sendable {
    /// What goes into the `Authorization` field, without the scheme.
    public var value: String
    /// When it expires; nil if that is not known.
    public var expiresAt: Date?
    /// What a refresh sends to get a new one; nil if there is none.
    public var refreshToken: String?
    /// The id of the session, which the supervisor gives it. Keep it with the token: processes that share the token
    /// tell by it whether another one belongs to the same log-in. It does not count for equality.
    public var session: UUID?

    /// Makes a token.
    public init(_ value: String, expiresAt: Date? = nil, refreshToken: String? = nil, session: UUID? = nil) {
        self.value = value
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
        self.session = session
    }

    /// Makes a token that expires some time from now, as `expires_in` of RFC 6749 section 5.1 says it.
    public init(_ value: String, expiresIn life: Duration, refreshToken: String? = nil, now: Date = Date()) {
        self.init(value, expiresAt: now.addingTimeInterval(life / .seconds(1)), refreshToken: refreshToken)
    }
}

extension AccessToken {
    /// Whether value, expiry and refresh token are equal.
    public static func == (one: AccessToken, other: AccessToken) -> Bool {
        one.value == other.value && one.expiresAt == other.expiresAt && one.refreshToken == other.refreshToken
    }

    /// Hashes what `==` compares.
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
    /// The error of a refresh by which the session is over. Throw it if the error of the refresh is not a refusal with
    /// 400, 401 or 403, which ends the session, too.
    public struct Rejected: Error {
        /// The cause; nil if there is none.
        public let underlying: (any Error)?

        /// Makes the error.
        public init(_ underlying: (any Error)? = nil) {
            self.underlying = underlying
        }
    }
}
