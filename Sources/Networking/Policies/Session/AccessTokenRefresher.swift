/// Gets a new access token: what an app plugs into ``AccessTokenSupervisor`` where a closure will not do.
///
/// The supervisor holds it weakly. It answers with the new token and does not store it. The calls it makes need no
/// permit, get no token, wait for no refresh and start none, by whatever service they are made; all other adapters
/// and handlers apply. Its time limit is `refreshTimeout`. Default: 30 seconds.
///
/// ```swift
/// final class SignIn: AccessTokenRefresher {
///     let auth: NetworkService
///
///     init(auth: NetworkService) { self.auth = auth }
///
///     func refreshAccessToken(_ old: AccessToken?) async throws -> AccessToken {
///         guard let refreshToken = old?.refreshToken else { throw AccessTokenRejected() }
///         let grant: Grant = try await auth.request(.post("token").body(.json(["refreshToken": refreshToken])))
///         return AccessToken(grant.token, expiresIn: .seconds(grant.expiresIn), refreshToken: grant.refreshToken)
///     }
/// }
/// ```
public protocol AccessTokenRefresher: AnyObject, Sendable {
    /// Gets a new token.
    ///
    /// - Parameter old: The token to replace; nil if there was none yet.
    /// - Throws: Why there is none. ``AccessTokenRejected``, ``GeneralRequestError/noAuth`` and
    ///   ``GeneralRequestError/forbidden``, and a ``NetworkError`` or ``ServerFailure`` with status 400, 401 or 403
    ///   end the session, also if the service that makes the call maps them to errors of the app's own; any other
    ///   error keeps it.
    func refreshAccessToken(_ old: AccessToken?) async throws -> AccessToken
}

/// The object that was to refresh the token has been released.
struct RefresherReleased: Error {}

/// Tells a refresh that the server refused from one that did not reach it.
enum RefreshRejection {
    static func isOne(_ error: any Error) -> Bool {
        if error is AccessTokenRejected { return true }
        if let general = error as? GeneralRequestError { return [.noAuth, .forbidden].contains(general.code) }
        return ((error as? any CausedByNetworkError)?.networkCause ?? error as? NetworkError)?.isRefusal ?? false
    }

    /// The error of a refresh; of its own call, if that is what it threw, the error before the service mapped it to
    /// one of the app's.
    static func cause(of error: any Error, in refresh: RefreshMark) -> any Error {
        guard !(error is NetworkError), let failure = refresh.failure, type(of: failure.error) == type(of: error) else {
            return error
        }
        return failure.cause
    }
}

extension NetworkError {
    fileprivate var isRefusal: Bool {
        guard kind == .unacceptableStatus, let status else { return false }
        return status == .badRequest || status == .unauthorized || status == .forbidden
    }
}
