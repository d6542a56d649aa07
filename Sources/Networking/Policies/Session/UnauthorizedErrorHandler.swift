/// Repairs an unauthorized answer: has the token refreshed, or waits for the refresh under way, and asks for a retry.
///
/// A request that carried another token than the current one is sent again without a refresh. A call is sent again at
/// most once for each of the two reasons. If nothing can be done, or the refresh fails, the failure is passed on with
/// its own error, which has the refresh's error underlying. It handles only requests that carry a token of the
/// supervisor's ``TokenRequestAdapter``, and that no redirect has led to another origin.
public struct UnauthorizedErrorHandler: ErrorHandler {
    let supervisor: AccessTokenSupervisor

    /// Makes a handler; `supervisor.handler` is the same.
    public init(accessTokenSupervisor: AccessTokenSupervisor) {
        supervisor = accessTokenSupervisor
    }

    /// Asks for a retry where a token can be had for it, or passes the failure on.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        // An interruption is none of its business, though a refused response came before it.
        if let kind = failure.networkError?.kind, kind != .unacceptableStatus { return .next(failure.error) }
        guard let response = failure.response,
            let sent = response.request[option: CarriedTokenOption.self] as? SentToken,
            let judgement = supervisor.judge(response)
        else { return .next(failure.error) }
        // A POST that a redirect turned into a GET was done: it is not done again for a token that expired on the way.
        let hasChanged = failure.adaptedRequest.map { $0.method != response.request.method } ?? false
        guard !hasChanged || failure.isSafeToRepeat else { return .next(failure.error) }
        switch judgement {
        case .giveUp:
            return next(failure, because: supervisor.refreshError(of: sent))
        case .repeatWithCurrent:
            guard sent.call.change({ $0.mayRepeatWithCurrent() }) else { return next(failure, because: nil) }
            return .retry(because: "there is a newer token")
        case .waitForRefresh:
            return await retryAfterRefresh(failure, of: sent)
        }
    }

    private func retryAfterRefresh(_ failure: RequestFailure, of sent: SentToken) async -> ErrorHandlingResult {
        do {
            let origin = try await supervisor.waitForRefresh(of: sent)
            guard sent.call.change({ $0.mayRepeat(with: origin) }) else { return next(failure, because: nil) }
            return .retry(because: origin == .refresh ? "the token was refreshed" : "there is a newer token")
        } catch let interruption as Interruption {
            return .next(failure.networkError?.because(of: interruption) ?? failure.error)
        } catch {
            return next(failure, because: error)
        }
    }

    /// Passes the failure on, with why there is no new token: beneath the error, and in its report, whatever is made of
    /// the error.
    private func next(_ failure: RequestFailure, because cause: (any Error)?) -> ErrorHandlingResult {
        guard let cause else { return .next(failure.error) }
        return .next(
            failure.networkError?.because(of: cause) ?? failure.error,
            because: "the token could not be refreshed: \(NetworkError.wrapping(cause))")
    }
}

extension NetworkError {
    /// The error with the refresh's beneath it.
    fileprivate func because(of refreshError: any Error) -> NetworkError {
        var error = self
        error.underlying = error.underlying ?? refreshError
        return error
    }
}
