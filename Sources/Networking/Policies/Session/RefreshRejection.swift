/// Functions that distinguish a refresh that the server refused from a refresh that failed for another reason.
enum RefreshRejection {
    static func isRejection(_ error: any Error) -> Bool {
        if error is AccessToken.Rejected { return true }
        if let general = error as? GeneralRequestError { return [.noAuth, .forbidden].contains(general.code) }
        return error.originalNetworkError?.isRefusalOfRefresh ?? false
    }

    /// Returns whether the session of a call is over. `error` is the reason why the call has no token. If there is no
    /// reason, the session counts as over.
    static func isEnd(_ error: (any Error)?) -> Bool {
        error.map { $0 is SessionEnded || isRejection($0) } ?? true
    }

    /// Returns the cause of a refresh's error. If the refresh threw the error of a call that it made, the cause is the
    /// error that this call had before its service mapped it to an error of the app.
    static func cause(of error: any Error, in refresh: RefreshMark) -> any Error {
        guard !(error is NetworkError), let failure = refresh.failure, type(of: failure.error) == type(of: error) else {
            return error
        }
        return failure.cause
    }
}

extension AccessToken.Rejected: SessionEnding {
    var endsSession: Bool { true }
}

extension SessionEnded: SessionEnding {
    var endsSession: Bool { true }
}

extension TokenUnavailable: SessionEnding {
    var endsSession: Bool { if case .none = self { true } else { false } }
}

extension GeneralRequestError: SessionEnding {
    var endsSession: Bool { RefreshRejection.isRejection(self) }
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
