extension RetryPolicy {
    /// How long to wait before a retry, before chance has its say.
    public enum Backoff: Hashable, Sendable {
        /// Always the same time.
        case constant(Duration)
        /// The first time, then each `step` longer than the one before, never more than `limit`.
        case linear(first: Duration, step: Duration, limit: Duration = .seconds(60))
        /// The first time, then each `factor` (1 to 1,000) times the one before, never more than `limit`.
        case exponential(first: Duration, factor: Double = 2, limit: Duration = .seconds(60))

        /// The time before a retry, counted from 0. A factor that is not a number counts as 1.
        public func delay(before retry: Int) -> Duration {
            switch self {
            case .constant(let delay):
                return max(delay, .zero)
            case .linear(let first, let step, let limit):
                let steps = min(max(retry, 0), 1_000_000)
                // As Double first, which cannot overflow.
                let seconds = first / .seconds(1) + step / .seconds(1) * Double(steps)
                guard seconds > 0 else { return .zero }
                guard seconds < limit / .seconds(1) else { return max(limit, .zero) }
                return max(min(first + step * steps, limit), .zero)
            case .exponential(let first, let factor, let limit):
                return Backoff.exponential(max(min(first, limit), .zero), factor, limit, retry)
            }
        }

        private static func exponential(
            _ first: Duration, _ factor: Double, _ limit: Duration, _ retry: Int
        ) -> Duration {
            let factor = factor >= 1 ? min(factor, 1_000) : 1
            guard factor > 1, first > .zero else { return first }
            var delay = first
            for _ in 0..<max(retry, 0) {
                guard delay / .seconds(1) * factor < limit / .seconds(1) else { return limit }
                delay = min(delay * factor, limit)
            }
            return delay
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
