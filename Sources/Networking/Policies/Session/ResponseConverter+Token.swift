extension ResponseConverter {
    /// Sets the token of each response as the current token of a session before the call returns. Use this method for
    /// the response of a log-in.
    ///
    /// ```swift
    /// let grant = try await auth.request(
    ///     AuthEndpoint.logIn(name, password), as: .json(Grant.self).storingToken(in: session, \.accessToken))
    /// ```
    ///
    /// - Parameters:
    ///   - supervisor: The supervisor of the session.
    ///   - token: The closure that creates the token from the value.
    public func storingToken(
        in supervisor: AccessTokenSupervisor, _ token: @escaping @Sendable (Value) -> AccessToken
    ) -> ResponseConverter {
        map { value in
            supervisor.accessToken = token(value)
            return value
        }
    }
}
