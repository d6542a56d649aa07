/// A decision about sending a failed request again, and its reason. It is part of the record of the attempt and of the
/// text of a ``NetworkError``.
public struct RetryDecision: Hashable, Sendable {
    /// The delay before the next attempt; nil if the decision is not to send the request again.
    public let delay: Duration?
    /// The reason, such as `POST without an idempotency key`.
    public let reason: String

    static func retry(after delay: Duration, because reason: String) -> RetryDecision {
        RetryDecision(delay: delay, reason: reason)
    }

    static func noRetry(because reason: String) -> RetryDecision { RetryDecision(delay: nil, reason: reason) }
}

extension RetryDecision: CustomStringConvertible {
    /// A readable text: `not retried: POST without an idempotency key`, `retried after 0.2 s: 503 Service Unavailable`.
    public var description: String {
        guard let delay else { return "not retried: \(reason)" }
        return delay > .zero ? "retried after \(delay.shortText): \(reason)" : "retried: \(reason)"
    }
}
