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
