/// When to send a failed request again, and after how long: a pure value.
///
/// ```swift
/// let policy = RetryPolicy(retries: 3, backoff: .exponential(first: .milliseconds(200), factor: 2, limit: .seconds(10)))
/// ```
public struct RetryPolicy: Sendable {
    /// How long to wait before a retry.
    public enum Backoff: Hashable, Sendable {
        /// Always the same time.
        case constant(Duration)
        /// The first time, then each `factor` (1 to 1,000) times the one before, never more than `limit`.
        case exponential(first: Duration, factor: Double = 2, limit: Duration = .seconds(60))
    }

    /// How often to send again at most.
    public let retries: Int
    /// How long to wait before each.
    public let backoff: Backoff
    private let isRetryable: @Sendable (RequestFailure) -> Bool

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - retries: How often to send again at most; 3 makes four attempts.
    ///   - backoff: How long to wait before each; not at all unless said otherwise.
    ///   - isRetryable: Which failures to repeat; ``isTransient(_:)`` unless said otherwise. Whatever it says, only idempotent methods
    ///     and requests with an `Idempotency-Key` are repeated.
    public init(
        retries: Int, backoff: Backoff = .constant(.zero),
        isRetryable: @escaping @Sendable (RequestFailure) -> Bool = RetryPolicy.isTransient
    ) {
        self.retries = max(retries, 0)
        self.backoff = backoff
        self.isRetryable = isRetryable
    }

    /// Whether a later attempt may well succeed: the connection could not be made or was lost, a timeout of the attempt, or one of the
    /// statuses 408, 429, 500, 502, 503 and 504.
    public static func isTransient(_ failure: RequestFailure) -> Bool {
        guard let kind = failure.networkError?.kind else { return false }
        guard kind == .unacceptableStatus, let status = failure.status else { return transientKinds.contains(kind) }
        return transientStatuses.contains(status)
    }

    /// How long to wait before sending again; nil where that is not to be done.
    ///
    /// - Parameters:
    ///   - failure: What failed.
    ///   - earlierRetries: How often a policy has had this call sent again.
    public func delay(after failure: RequestFailure, earlierRetries: Int) -> Duration? {
        guard earlierRetries < retries, isRetryable(failure), failure.isSafeToRepeat else { return nil }
        switch backoff {
        case .constant(let delay):
            return delay
        case .exponential(let first, let factor, let limit):
            var delay = min(first, limit)
            for _ in 0..<earlierRetries where delay < limit { delay = min(delay * min(max(factor, 1), 1_000), limit) }
            return delay
        }
    }

    private static let transientStatuses: Set<HTTPStatus> = [
        .requestTimeout, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]

    private static let transientKinds: Set<NetworkError.Kind> = [
        .notConnected, .cannotResolveHost, .cannotConnect, .connectionLostBeforeHead, .connectionLostAfterHead,
        .truncatedBody, .connectTimedOut, .idleTimedOut,
    ]
}
