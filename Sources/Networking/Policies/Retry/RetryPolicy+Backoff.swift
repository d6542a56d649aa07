extension RetryPolicy {
    /// The time to wait before a retry, before jitter is applied.
    public enum Backoff: Hashable, Sendable {
        /// The same time before each retry.
        case constant(Duration)
        /// `first`, then a time that grows by `step` with each retry, up to `limit`.
        case linear(first: Duration, step: Duration, limit: Duration = .seconds(60))
        /// `first`, then a time that is multiplied by `factor` (1 to 1,000) with each retry, up to `limit`.
        case exponential(first: Duration, factor: Double = 2, limit: Duration = .seconds(60))

        /// Returns the time before a retry. The first retry has number 0. A factor that is not a number counts as 1.
        public func delay(before retry: Int) -> Duration {
            switch self {
            case .constant(let delay):
                return max(delay, .zero)
            case .linear(let first, let step, let limit):
                let steps = min(max(retry, 0), 1_000_000)
                // The wait is calculated as a `Double` first, because a `Double` cannot overflow.
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

        /// The maximum time.
        var limit: Duration {
            switch self {
            case .constant(let delay): delay
            case .linear(_, _, let limit), .exponential(_, _, let limit): limit
            }
        }
    }

    /// The random change of a wait, so that clients whose requests failed at the same time do not retry at the same
    /// time.
    public enum Jitter: Hashable, Sendable {
        /// The wait is not changed.
        case none
        /// A random time between zero and the whole wait.
        case full
        /// A random time between the first wait and three times the previous wait, up to the limit.
        case decorrelated
    }
}

extension Duration {
    /// Returns a random duration in a range, with a precision of one nanosecond.
    static func random(in range: ClosedRange<Duration>, using random: inout RandomSource) -> Duration {
        let span = (range.upperBound - range.lowerBound).nanoseconds
        return range.lowerBound + .nanoseconds(Int64.random(in: 0...max(span, 0), using: &random))
    }
}
