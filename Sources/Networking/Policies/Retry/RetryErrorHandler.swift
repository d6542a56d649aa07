/// An error handler that sends a failed request again according to a ``RetryPolicy``.
///
/// The handler counts only its own retries. The retries of other handlers, such as a repetition with a new token, do
/// not count.
public struct RetryErrorHandler: ErrorHandler, RetryCounter {
    private let policy: RetryPolicy?
    private let random: RandomSource
    let retrier = RetryDecision.Retrier()

    /// Creates a handler with a policy.
    ///
    /// - Parameters:
    ///   - policy: The policy for requests that have no policy of their own. Nil means no retries.
    ///   - random: The source of the jitter.
    public init(_ policy: RetryPolicy?, random: RandomSource = .system) {
        self.policy = policy
        self.random = random
    }

    func record(_ response: HTTPResponse, to request: HTTPRequest) {
        (request.parts.retry.policy ?? policy)?.budget?.record(response.status)
    }

    /// Requests a retry. If there is no retry, passes the failure on with the reason.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        guard let original = failure.originalRequest, !failure.isInterruption else { return .next(failure.error) }
        guard let policy = original.parts.retry.policy ?? policy else { return .next(failure.error) }
        switch await policy.judge(failure, after: history(of: failure), using: random) {
        case .no(let reason):
            return .next(failure.error, because: reason)
        case .retry(let delay, let replacement):
            // This check comes before a retry is subtracted from the budget.
            if let refusal = failure.refusal(toRetryAfter: delay, with: replacement) {
                return .next(failure.error, because: refusal)
            }
            guard policy.budget?.spend() ?? true else {
                return .next(failure.error, because: "the retry budget is used up")
            }
            return .retry(after: delay, with: replacement, because: failure.cause)
        }
    }

    /// Returns the retries of this handler so far. The history of the call contains the retries of all handlers.
    private func history(of failure: RequestFailure) -> RetryPolicy.History {
        let own = failure.history.flatMap(\.decisions).filter { $0.retrier === retrier }.compactMap(\.delay)
        return RetryPolicy.History(retries: own.count, lastDelay: own.last)
    }
}
