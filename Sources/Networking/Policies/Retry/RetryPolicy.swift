/// The rule that determines when a failed request is sent again, and after which delay.
///
/// ```swift
/// let policy = RetryPolicy(retries: 3, backoff: .exponential(first: .milliseconds(200)), jitter: .full)
/// let stubborn = RetryPolicy(retries: 5, backoff: .constant(.seconds(1)), on: .any)
/// ```
///
/// Unless ``repeatsUnsafeRequests`` is true, a request is repeated only if its method is idempotent, if it has an
/// `Idempotency-Key`, or if no server has processed it (``RequestFailure/isSafeToRepeat``). A call is never repeated if
/// it was cancelled, if its body cannot be sent twice, or if the wait would not end before its total deadline. If the
/// server sends `Retry-After`, the wait is at least the requested time, but a longer time than ``longestRetryAfter``
/// counts as ``longestRetryAfter``.
///
/// A call or an endpoint may have a policy of its own: ``RequestSettings/retry``.
public struct RetryPolicy: Sendable {
    /// The maximum number of retries.
    public var retries: Int
    /// The time to wait before each retry.
    public var backoff: Backoff
    /// The random change of the wait.
    public var jitter: Jitter
    /// The failures that are retried.
    public var condition: RetryPolicy.Condition
    /// The maximum wait for `Retry-After`. If the server requests a longer time, this maximum is used.
    public var longestRetryAfter: Duration
    /// Whether requests that are not idempotent are repeated. If true, the server may execute such a request twice.
    public var repeatsUnsafeRequests: Bool
    /// The budget that all retries of this policy share. Default: nil, which means that their total number is not
    /// limited.
    public var budget: RetryPolicy.Budget?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - retries: The maximum number of retries. With 3, a call has up to four attempts.
    ///   - backoff: The time to wait before each retry. Default: zero.
    ///   - jitter: The random change of the wait. Default: none.
    ///   - condition: The failures that are retried. Default: ``RetryPolicy/Condition/transient``.
    ///   - longestRetryAfter: The longest wait that the server may request. Default: 60 seconds.
    ///   - repeatsUnsafeRequests: Whether requests that are not idempotent are repeated, so that the server may execute
    ///     them twice. Default: false.
    public init(
        retries: Int, backoff: Backoff = .constant(.zero), jitter: Jitter = .none,
        on condition: RetryPolicy.Condition = .transient, longestRetryAfter: Duration = .seconds(60),
        repeatsUnsafeRequests: Bool = false
    ) {
        self.retries = max(retries, 0)
        self.backoff = backoff
        self.jitter = jitter
        self.condition = condition
        self.longestRetryAfter = longestRetryAfter
        self.repeatsUnsafeRequests = repeatsUnsafeRequests
    }

    /// A policy for most services: two retries of temporary failures, after at most 200 ms and 400 ms, with full
    /// jitter.
    public static let standard = RetryPolicy(
        retries: 2, backoff: .exponential(first: .milliseconds(200)), jitter: .full)

    /// No retries. Use this policy for a call whose endpoint or service has another policy: `$0.retry = .never`.
    public static let never = RetryPolicy(retries: 0)

    /// The retries that a policy has made for a call so far.
    package struct History: Hashable, Sendable {
        package var retries = 0
        package var lastDelay: Duration?

        package init(retries: Int = 0, lastDelay: Duration? = nil) {
            self.retries = retries
            self.lastDelay = lastDelay
        }
    }

    /// Returns a retry, or the unchanged error with the reason why this policy does not retry.
    package func result(
        of failure: RequestFailure, after history: History, using random: RandomSource
    ) async -> ErrorHandlingResult {
        func no(_ reason: String) -> ErrorHandlingResult { .next(failure.error, because: reason) }
        guard case .retry(let delay, let replacement) = await condition.judge(failure) else {
            // This general reason does not replace the reason of an earlier handler.
            return failure.decisions.isEmpty ? no("the policy does not cover this failure") : .next(failure.error)
        }
        guard retries > 0 else { return no("the policy allows no retries") }
        guard history.retries < retries else {
            return no("the policy's \(retries) \(retries == 1 ? "retry is" : "retries are") used up")
        }
        guard repeatsUnsafeRequests || failure.isSafeToRepeat else { return no(failure.unsafeReason) }
        let asked = failure.response?.headers.retryDelay(from: failure.date)
        return .retry(after: delay ?? self.delay(after: history, asked: asked, using: random), with: replacement)
    }

    /// Returns the time before the next retry.
    ///
    /// - Parameter asked: The time in the response's `Retry-After`.
    package func delay(after history: History, asked: Duration?, using random: RandomSource) -> Duration {
        var random = random
        let full = backoff.delay(before: history.retries)
        let own: Duration
        switch jitter {
        case .none: own = full
        case .full: own = .random(in: .zero...full, using: &random)
        case .decorrelated:
            let first = backoff.delay(before: 0)
            let longest = min(max((history.lastDelay ?? first) * 3, first), max(backoff.limit, first))
            own = .random(in: first...longest, using: &random)
        }
        return asked.map { max(own, min($0, longestRetryAfter)) } ?? own
    }
}
