/// An error handler that sends a failed request again according to a ``RetryPolicy``.
///
/// The handler counts only its own retries. The retries of other handlers, such as a repetition with a new token, do
/// not count.
public struct RetryErrorHandler: ErrorHandler, ResponseRecorder {
    private final class Identity: Sendable {}

    private let policy: RetryPolicy?
    private let random: RandomSource
    private let identity = Identity()

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
        guard var original = failure.originalRequest, !failure.isInterruption else { return .next(failure.error) }
        if failure.adaptedRequest?.parts.upload?.hasMoved == true { original.forgetRetries() }
        guard let policy = original.parts.retry.policy ?? policy else { return .next(failure.error) }
        let retrier = ObjectIdentifier(identity)
        let history = original.parts.retry.history(of: retrier)
        let result = await policy.result(of: failure, after: history, using: random)
        guard case .retry(let delay, let replacement, _) = result else { return result }
        // This check comes before a retry is subtracted from the budget.
        if let refusal = failure.refusal(toRetryAfter: delay, with: replacement) {
            return .next(failure.error, because: refusal)
        }
        guard policy.budget?.spend() ?? true else {
            return .next(failure.error, because: "the retry budget is used up")
        }
        original.parts.upload?.beginRetry()
        // The retry is noted in the request, so the retry counts only if the request is sent.
        let request = (replacement ?? original).notingRetry(after: delay, by: retrier, of: original)
        return .retry(after: delay, with: request, because: failure.cause)
    }
}

/// How the request of a call is repeated, and how often it has been repeated. Only the code in the folder `Retry`
/// changes this part of a request.
struct RetryOrder: HTTPRequest.Order {
    /// The policy of the call; nil means the policy of the service.
    fileprivate(set) var policy: RetryPolicy?
    /// The retries of each handler so far.
    fileprivate var histories: [ObjectIdentifier: RetryPolicy.History] = [:]

    func history(of handler: ObjectIdentifier) -> RetryPolicy.History { histories[handler] ?? RetryPolicy.History() }

    var outsideOrigin: RetryOrder? { self }
    /// The policy of the call does not apply to a request that does not belong to the call.
    var outsideCall: RetryOrder? { nil }
    /// Empty, because retries of a request do not change its response.
    var identity: [String] { [] }

    func over(_ base: RetryOrder) -> RetryOrder {
        RetryOrder(policy: policy ?? base.policy, histories: histories.merging(base.histories) { own, _ in own })
    }
}

extension HTTPRequest.Parts {
    var retry: RetryOrder { self[order: RetryOrder.self] }
}

extension HTTPRequest {
    /// Forgets the retries so far, because the server has received more bytes of the upload since then.
    fileprivate mutating func forgetRetries() { parts[RetryOrder.self]?.histories = [:] }

    /// Returns the request with one more retry of a handler, in addition to the retries of the original request.
    func notingRetry(after delay: Duration, by handler: ObjectIdentifier, of original: HTTPRequest) -> HTTPRequest {
        var order = original.parts.retry
        order.histories[handler, default: RetryPolicy.History()].retries += 1
        order.histories[handler]?.lastDelay = delay
        var request = self
        request.parts[RetryOrder.self] = order
        return request
    }
}

extension RequestSettings {
    /// The policy for retries of the call. Default: nil, which means that the policy of the endpoint applies, or else
    /// the policy of the service. If there is no policy, there are no retries. ``RetryPolicy/never`` prevents retries
    /// even if the endpoint or the service has a policy.
    public var retry: RetryPolicy? {
        get { orders.retry.policy }
        set { orders[order: RetryOrder.self].policy = newValue }
    }
}
