/// A response that brings an access token, such as that of a login.
public protocol AccessTokenContainer: Sendable {
    /// The token to use from now on.
    var accessToken: AccessToken { get }
}

extension ResponseConverter where Value: AccessTokenContainer {
    /// Hands the token of each response that is read to a supervisor, before the call returns.
    ///
    /// ```swift
    /// let grant = try await auth.request(
    ///     AuthEndpoint.logIn(name, password), as: .json(Grant.self).storingToken(in: session))
    /// ```
    public func storingToken(in supervisor: AccessTokenSupervisor) -> ResponseConverter {
        map { value in
            supervisor.accessToken = value.accessToken
            return value
        }
    }
}
