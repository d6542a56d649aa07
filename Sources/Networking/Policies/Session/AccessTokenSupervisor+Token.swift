import Foundation

// The methods with which an app asks for the token.
extension AccessTokenSupervisor {
    /// Waits until the store has been read. Returns at once if there is no store, or if it has already been read.
    ///
    /// - Returns: The token.
    /// - Throws: The reason why the store cannot be read. The next call tries again.
    @discardableResult
    public func load() async throws -> AccessToken? {
        if isUnread { _ = try await wait { machine, waiter, _ in machine.load(for: waiter) } }
        return accessToken
    }

    /// Whether the session is over: the server has refused to renew its token. Authorized calls then fail until another
    /// token is set, or found in the store. False if only the network is unavailable, if nobody has logged in, and
    /// after a log-out, including a log-out by another process.
    public var isOver: Bool { state.withLock { $0.machine.over != nil } }

    /// Returns a token for a use outside of a service: for a web view, a socket or another SDK. If the token has
    /// expired or is about to expire, or if the first token has to be fetched, the method waits for the refresh.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/noToken`` if nobody is logged in, if the refresh fails,
    ///   or if the session ends meanwhile. Also if the method is called inside the refresh, because the refresh would
    ///   then wait for itself.
    public func validToken() async throws -> AccessToken {
        try await token { $0.wait($1, of: SessionTicket.Member(of: $2), toPassAt: $3) }
    }

    /// Refreshes the token, even if it has not expired, for example because another SDK reports that the token was
    /// refused. If a refresh is in progress, the method waits for it.
    ///
    /// - Returns: The new token.
    /// - Throws: As ``validToken()``; also if the token is fixed.
    @discardableResult
    public func refresh() async throws -> AccessToken {
        try await token { machine, waiter, session, _ in machine.wait(waiter, forRefreshOf: session) }
    }

    private func token(
        _ wait: (inout AccessTokenMachine, AccessTokenMachine.Waiter, Int, Date) -> [AccessTokenMachine.Effect]
    ) async throws -> AccessToken {
        do {
            // A refresh that waited for a token would wait for itself, or for another session that itself waits for
            // this session.
            if CallScope.Position.current?.refresh?.isOpen == true { throw TokenUnavailable.insideRefresh }
            let number = state.withLock { $0.machine.sessionNumber }
            try await load()
            _ = try await self.wait { wait(&$0, $1, number, $2) }
            return try state.withLock { state in
                guard state.machine.sessionNumber == number else { throw SessionEnded() }
                guard let token = state.machine.token else { throw TokenUnavailable.none }
                return token
            }
        } catch  where !(error is Interruption) {
            throw NetworkError.noToken(because: error, nil, isStoreUnreadable: isStoreUnreadable)
        }
    }
}

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
    ///   - continuing: Whether the same user has logged in again, so that the calls of the session continue: see
    ///     ``AccessTokenSupervisor/replace(_:)``. Default: false, which begins a new session.
    ///   - token: The closure that creates the token from the value.
    public func storingToken(
        in supervisor: AccessTokenSupervisor, continuing: Bool = false,
        _ token: @escaping @Sendable (Value) -> AccessToken
    ) -> ResponseConverter {
        map { value in
            if continuing { supervisor.replace(token(value)) } else { supervisor.accessToken = token(value) }
            return value
        }
    }
}

extension AccessTokenSupervisor: RedactedReflectable {
    var reflectedMembers: KeyValuePairs<String, Any> { ["token": accessToken == nil ? "none" : "<redacted>"] }
}
