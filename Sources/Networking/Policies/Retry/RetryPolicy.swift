/// When to send a failed request again, and after how long: a pure value.
///
/// ```swift
/// let policy = RetryPolicy(retries: 3, backoff: .exponential(first: .milliseconds(200)), jitter: .full)
/// let stubborn = RetryPolicy(retries: 5, backoff: .constant(.seconds(1)), on: .any)
/// ```
///
/// Whatever fails, only idempotent methods and requests with an `Idempotency-Key` are repeated, unless
/// ``repeatsUnsafeRequests`` says otherwise; a call that was cancelled never is, nor one whose body cannot be sent
/// twice, nor one whose wait could not end before its total deadline. Where the server asks for time by
/// `Retry-After`, the wait is at least that long, up to ``longestRetryAfter``.
///
/// A call or an endpoint may have a policy of its own: ``RequestSettings/retry``.
public struct RetryPolicy: Sendable {
    /// How often to send again at most.
    public var retries: Int
    /// How long to wait before each.
    public var backoff: Backoff
    /// What chance does to the wait.
    public var jitter: Jitter
    /// Which failures are meant.
    public var condition: RetryPolicy.Condition
    /// How long a wait that the server asks for may be; it is cut to that.
    public var longestRetryAfter: Duration
    /// Whether requests are repeated that may do twice what was to be done once.
    public var repeatsUnsafeRequests: Bool
    /// What all retries by this policy are paid from. Default: nil; nothing bounds their sum.
    public var budget: RetryPolicy.Budget?

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - retries: How often to send again at most; 3 makes four attempts.
    ///   - backoff: How long to wait before each. Default: not at all.
    ///   - jitter: How the wait is randomized. Default: not at all.
    ///   - condition: Which failures are retried. Default: ``RetryPolicy/Condition/transient``.
    ///   - longestRetryAfter: The longest wait that the server may ask for. Default: 60 seconds.
    ///   - repeatsUnsafeRequests: Whether requests are repeated that may do twice what was to be done once.
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

    /// What most services want: two retries of what may pass, 200 ms and 400 ms at most, spread by chance.
    public static let standard = RetryPolicy(
        retries: 2, backoff: .exponential(first: .milliseconds(200)), jitter: .full)

    /// No retries. For a call whose endpoint or service has a policy: `$0.retry = .never`.
    public static let never = RetryPolicy(retries: 0)

    /// What a policy has had done to a call so far.
    struct History: Hashable, Sendable {
        var retries = 0
        var lastDelay: Duration?
    }

    /// What it wants done about a failure.
    enum Judgement: Sendable {
        case retry(after: Duration, with: HTTPRequest?)
        case no(because: String)
    }

    func judge(_ failure: RequestFailure, after history: History, using random: RandomSource) async -> Judgement {
        guard case .retry(let delay, let replacement) = await condition.verdict(on: failure) else {
            return .no(because: "the policy is not about this failure")
        }
        guard retries > 0 else { return .no(because: "the policy allows no retries") }
        guard history.retries < retries else {
            return .no(because: "the policy's \(retries) \(retries == 1 ? "retry is" : "retries are") used")
        }
        guard repeatsUnsafeRequests || failure.isSafeToRepeat else { return .no(because: failure.unsafeReason) }
        return .retry(after: delay ?? self.delay(after: failure, history, using: random), with: replacement)
    }

    private func delay(after failure: RequestFailure, _ history: History, using random: RandomSource) -> Duration {
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
        guard let asked = failure.response?.headers.retryAfter?.delay(from: failure.date) else { return own }
        return max(own, min(asked, longestRetryAfter))
    }
}

/// The policy of one request.
enum RetryOption: HTTPRequest.Option {
    /// The service's.
    static var defaultValue: RetryPolicy? { nil }
}

extension RequestSettings {
    /// When a failed request is sent again. Default: nil, which leaves it to the endpoint, and then to the service;
    /// without a policy, never. ``RetryPolicy/never`` is a policy, too.
    public var retry: RetryPolicy? {
        get { options[RetryOption.self] }
        set { options.set(RetryOption.self, newValue) }
    }
}
