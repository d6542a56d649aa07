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
        package func delay(before retry: Int) -> Duration {
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

    /// The random change of a wait. It prevents clients whose requests failed at the same time from retrying at the
    /// same time.
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

extension RetryPolicy {
    /// A limit for the retries of a service: each success adds a fraction of a retry, and each retry subtracts one.
    ///
    /// By default, ten successes allow one more retry. When the server fails, nothing is added and the budget is soon
    /// empty, so that retries do not multiply the load of a failing server. A budget belongs to a policy
    /// (``RetryPolicy/budget``). Create one budget for each service.
    public final class Budget: Sendable {
        let share: Double
        let capacity: Double
        private let saved: Locked<Double>

        /// Creates a budget.
        ///
        /// - Parameters:
        ///   - share: The fraction of a retry that each success adds, from 0 to 1. Default: 0.1.
        ///   - reserve: The number of retries at the beginning. Default: 3.
        ///   - capacity: The maximum number of retries in the budget. Default: 10.
        public init(share: Double = 0.1, reserve: Int = 3, capacity: Int = 10) {
            self.share = min(max(share, 0), 1)
            self.capacity = Double(max(capacity, reserve, 0))
            saved = Locked(Double(max(reserve, 0)))
        }

        /// The number of retries that are available now.
        var balance: Double { saved.withLock { $0 } }

        /// Records the status of a response. The response counts as a success unless the status is a server error or
        /// 429.
        package func record(_ status: HTTPStatus) {
            if !status.isServerError, status != .tooManyRequests { earn() }
        }

        /// Adds the share of one success.
        package func earn() {
            saved.withLock { $0 = min($0 + share, capacity) }
        }

        /// Subtracts one retry.
        ///
        /// - Returns: Whether a retry was available.
        package func spend() -> Bool {
            saved.withLock { saved in
                // In floating-point arithmetic, ten tenths do not add up to exactly 1.
                guard saved > 1 - 1e-9 else { return false }
                saved = max(saved - 1, 0)
                return true
            }
        }
    }
}

extension RetryPolicy.Budget: InspectablePart {
    /// The retries that are available.
    public func facts() async -> [(name: String, value: String)] {
        [
            ("retries available", "\((balance * 10).rounded() / 10)"),
            ("maximum", capacity < 1e9 ? "\(Int(capacity))" : "no limit"),
        ]
    }
}
