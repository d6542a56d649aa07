/// Has a failed request sent again as a ``RetryPolicy`` says.
///
/// It counts its own retries; those of other handlers, such as a repeat with a new token, do not count.
public struct RetryErrorHandler: ErrorHandler, ResponseRecorder {
    private final class Identity: Sendable {}

    private let policy: RetryPolicy?
    private let random: RandomSource
    private let identity = Identity()

    /// What each handler has had done to the call so far; it travels with the call's original request.
    private enum Histories: HTTPRequest.Option {
        static let defaultValue: [ObjectIdentifier: RetryPolicy.History] = [:]
    }

    /// Makes a handler of a policy.
    ///
    /// - Parameters:
    ///   - policy: When to retry, where the request has no policy of its own; nil for never.
    ///   - random: Where the jitter comes from.
    public init(_ policy: RetryPolicy?, random: RandomSource = .system) {
        self.policy = policy
        self.random = random
    }

    func record(_ response: HTTPResponse, to request: HTTPRequest) {
        (request[option: RetryOption.self] ?? policy)?.budget?.record(response)
    }

    /// Asks for a retry, or passes the failure on with the reason.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        guard let original = failure.originalRequest, !failure.isInterruption else { return .next(failure.error) }
        guard let policy = original[option: RetryOption.self] ?? policy else { return .next(failure.error) }
        let key = ObjectIdentifier(identity)
        var history = original[option: Histories.self][key, default: RetryPolicy.History()]
        switch await policy.judge(failure, after: history, using: random) {
        case .no(let reason):
            return .next(failure.error, because: reason)
        case .retry(let delay, let replacement):
            // Before it is paid for.
            if let refusal = failure.refusal(toRetryAfter: delay, with: replacement) {
                return .next(failure.error, because: refusal)
            }
            guard policy.budget?.spend() ?? true else {
                return .next(failure.error, because: "the retry budget is used up")
            }
            history.retries += 1
            history.lastDelay = delay
            var request = replacement ?? original
            request[option: Histories.self] = original[option: Histories.self].merging([key: history]) { $1 }
            return .retry(after: delay, with: request, because: failure.cause)
        }
    }
}
