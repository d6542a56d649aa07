public import Foundation

/// An access token with what is known about its end, and the refresh token that came with it.
///
/// It is `Codable`, so that the app can keep it in its secure store. No description of it shows the secrets.
public struct AccessToken: Hashable, Codable, Sendable {
    /// What goes into the `Authorization` field, without the scheme.
    public var value: String
    /// When it expires; nil where that is not known.
    public var expiresAt: Date?
    /// What a refresh sends to get a new one; nil where there is none.
    public var refreshToken: String?

    /// Makes a token.
    public init(_ value: String, expiresAt: Date? = nil, refreshToken: String? = nil) {
        self.value = value
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
    }

    /// Makes a token that expires some time from now, as `expires_in` of RFC 6749 section 5.1 says it.
    public init(_ value: String, expiresIn life: Duration, refreshToken: String? = nil, now: Date = Date()) {
        self.init(value, expiresAt: now.addingTimeInterval(life / .seconds(1)), refreshToken: refreshToken)
    }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// `AccessToken(<redacted>)`.
    public var description: String { "AccessToken(<redacted>)" }

    /// A mirror without the secrets.
    public var customMirror: Mirror { Mirror(self, children: ["expiresAt": expiresAt as Any]) }
}

/// What a supervisor tells about its session, once an occurrence.
public enum AccessTokenEvent: Sendable {
    /// A refresh brought a new token: store it.
    case refreshed(AccessToken)
    /// A refresh did not reach the server, or the server failed: the session is kept, and the next unauthorized answer tries again.
    case unreachable(any Error)
    /// The server will have no more of this session: let the user log in again. Told once until the token changes.
    case sessionOver(any Error)
    /// The supervisor's ``AccessTokenStore`` could not keep the token; other processes do not know of it. Told only where there is a store.
    case notStored(any Error)
}

/// Throw it from a refresh to say that the session is over, where the error you have does not say so by itself.
public struct AccessTokenRejected: Error {
    /// The error beneath.
    public let underlying: (any Error)?

    /// Makes the error.
    public init(_ underlying: (any Error)? = nil) {
        self.underlying = underlying
    }
}

/// An answer that brings an access token, such as that of a login.
public protocol AccessTokenContainer: Sendable {
    /// The token to use from now on.
    var accessToken: AccessToken { get }
}

extension ResponseConverter where Value: AccessTokenContainer {
    /// Hands the token of each answer that is read to a supervisor, before the call is answered.
    ///
    /// ```swift
    /// let grant = try await auth.request(AuthEndpoint.logIn(name, password), as: .json(Grant.self).storingToken(in: session))
    /// ```
    public func storingToken(in supervisor: AccessTokenSupervisor) -> ResponseConverter {
        map { value in
            supervisor.accessToken = value.accessToken
            return value
        }
    }
}
