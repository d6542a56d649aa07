/// What was decided about a failed attempt, and why. It is kept in the failure's history and shown in the text of a
/// ``NetworkError``.
public struct RetryDecision: Hashable, Sendable {
    /// What was decided.
    public enum Verdict: Hashable, Sendable {
        /// The request is sent again after a wait.
        case retry(after: Duration)
        /// It is not.
        case noRetry
    }

    /// What was decided.
    public let verdict: Verdict
    /// Why, in words: `POST without an idempotency key`.
    public let reason: String

    /// Makes a decision.
    public init(_ verdict: Verdict, because reason: String) {
        self.verdict = verdict
        self.reason = reason
    }
}

extension RetryDecision: CustomStringConvertible {
    /// `not retried: POST without an idempotency key`, `retried after 0.2 s: 503 Service Unavailable`.
    public var description: String {
        switch verdict {
        case .noRetry: "not retried: \(reason)"
        case .retry(let delay): delay > .zero ? "retried after \(delay.words): \(reason)" : "retried: \(reason)"
        }
    }
}
