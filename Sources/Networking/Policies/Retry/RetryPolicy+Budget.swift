extension RetryPolicy {
    /// Limits the retries of a service: each success adds a share of a retry, and each retry takes one away.
    ///
    /// While a server works, one request in ten may be a retry. Once it fails, nothing is added, and retries end soon,
    /// instead of multiplying the load under which the server fails. A budget belongs to a policy
    /// (``RetryPolicy/budget``); make one for each service.
    public final class Budget: Sendable {
        let share: Double
        let capacity: Double
        private let saved: Locked<Double>

        /// Makes a budget.
        ///
        /// - Parameters:
        ///   - share: What a success adds, in retries, from 0 to 1. Default: 0.1.
        ///   - reserve: How many retries it begins with. Default: 3.
        ///   - capacity: The most retries that it can have. Default: 10.
        public init(share: Double = 0.1, reserve: Int = 3, capacity: Int = 10) {
            self.share = min(max(share, 0), 1)
            self.capacity = Double(max(capacity, reserve, 0))
            saved = Locked(Double(max(reserve, 0)))
        }

        /// How many retries could be made now.
        var balance: Double { saved.withLock { $0 } }

        /// A response arrived: it earns, unless it is an error of the server's or a request to slow down.
        func record(_ response: HTTPResponse) {
            if !response.status.isServerError, response.status != .tooManyRequests { earn() }
        }

        /// Adds the share of a success.
        package func earn() {
            saved.withLock { $0 = min($0 + share, capacity) }
        }

        /// Pays for one retry.
        ///
        /// - Returns: Whether there was enough.
        package func spend() -> Bool {
            saved.withLock { saved in
                // A sum of tenths is never quite whole.
                guard saved > 1 - 1e-9 else { return false }
                saved = max(saved - 1, 0)
                return true
            }
        }
    }
}
