extension HTTPRequest {
    /// The urgency of a request that waits for a permit: ``RequestSettings/priority``.
    ///
    /// Of the requests that wait for a ``ConcurrencyLimit``, the request with the highest priority is admitted first.
    /// Requests with the same priority are admitted in the order of their arrival.
    public struct Priority: Hashable, Comparable, Sendable {
        /// The value. A higher value is more urgent.
        public let rawValue: Int

        /// Creates a priority.
        public init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The priority of requests that are admitted after all others, for example prefetching. Its value is -10.
        public static let low = HTTPRequest.Priority(-10)
        /// The default priority. Its value is 0.
        public static let normal = HTTPRequest.Priority(0)
        /// The priority of requests that are admitted before all others, for example requests for visible content. Its
        /// value is 10.
        public static let high = HTTPRequest.Priority(10)

        /// Whether the left priority is less urgent than the right priority.
        public static func < (lhs: HTTPRequest.Priority, rhs: HTTPRequest.Priority) -> Bool {
            lhs.rawValue < rhs.rawValue
        }
    }
}
