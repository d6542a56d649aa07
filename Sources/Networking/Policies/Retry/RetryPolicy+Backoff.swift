extension RetryPolicy {
    /// How long to wait before a retry, before chance has its say.
    public enum Backoff: Hashable, Sendable {
        /// Always the same time.
        case constant(Duration)
        /// The first time, then each `step` longer than the one before, never more than `limit`.
        case linear(first: Duration, step: Duration, limit: Duration = .seconds(60))
        /// The first time, then each `factor` (1 to 1,000) times the one before, never more than `limit`.
        case exponential(first: Duration, factor: Double = 2, limit: Duration = .seconds(60))

        /// The time before a retry, counted from 0.
        public func delay(before retry: Int) -> Duration {
            switch self {
            case .constant(let delay):
                return max(delay, .zero)
            case .linear(let first, let step, let limit):
                let steps = min(retry, 1_000_000)
                return max(min(first + step * steps, limit), .zero)
            case .exponential(let first, let factor, let limit):
                var delay = min(first, limit)
                for _ in 0..<retry where delay < limit { delay = min(delay * min(max(factor, 1), 1_000), limit) }
                return max(delay, .zero)
            }
        }

        /// The longest it ever gets.
        var limit: Duration {
            switch self {
            case .constant(let delay): delay
            case .linear(_, _, let limit), .exponential(_, _, let limit): limit
            }
        }
    }

    /// What chance does to a wait, so that clients that failed together do not come back together.
    public enum Jitter: Hashable, Sendable {
        /// Nothing.
        case none
        /// Anything from nothing to the whole wait.
        case full
        /// Anything from the first wait to three times the one before, never more than the limit.
        case decorrelated
    }
}

extension Duration {
    /// A time between two, to the nanosecond.
    static func random(in range: ClosedRange<Duration>, using random: inout RandomSource) -> Duration {
        let span = (range.upperBound - range.lowerBound).nanoseconds
        return range.lowerBound + .nanoseconds(Int64.random(in: 0...max(span, 0), using: &random))
    }
}
