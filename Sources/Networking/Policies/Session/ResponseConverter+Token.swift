extension ResponseConverter {
    /// Makes the token of each response the current one of a session, before the call returns: the response of a login.
    ///
    /// ```swift
    /// let grant = try await auth.request(
    ///     AuthEndpoint.logIn(name, password), as: .json(Grant.self).storingToken(in: session, \.accessToken))
    /// ```
    ///
    /// - Parameters:
    ///   - supervisor: The session.
    ///   - token: Makes the token of the value.
    public func storingToken(
        in supervisor: AccessTokenSupervisor, _ token: @escaping @Sendable (Value) -> AccessToken
    ) -> ResponseConverter {
        map { value in
            supervisor.accessToken = token(value)
            return value
        }
    }
}
