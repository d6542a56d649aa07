extension HTTPRequest {
    /// The urgency of a request that waits for a permit: ``RequestSettings/priority``.
    ///
    /// Of the requests that wait for a ``ConcurrencyLimit``, the most urgent one is admitted first. Equally urgent ones
    /// are admitted in the order of their arrival.
    public struct Priority: Hashable, Comparable, Sendable {
        /// The value. A higher value is more urgent.
        public let rawValue: Int

        /// Creates a priority.
        public init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The priority of requests that come after all others, for example prefetching. -10.
        public static let low = HTTPRequest.Priority(-10)
        /// The default priority. 0.
        public static let normal = HTTPRequest.Priority(0)
        /// The priority of requests that come before all others, for example those for visible content. 10.
        public static let high = HTTPRequest.Priority(10)

        /// Whether one is less urgent than another.
        public static func < (lhs: HTTPRequest.Priority, rhs: HTTPRequest.Priority) -> Bool {
            lhs.rawValue < rhs.rawValue
        }
    }
}

enum PriorityOption: HTTPRequest.Option {
    /// Nil: the priority is normal.
    static var defaultValue: HTTPRequest.Priority? { nil }
}

extension RequestSettings {
    /// The urgency of the call if it waits for a permit. Default: ``HTTPRequest/Priority/normal``.
    public var priority: HTTPRequest.Priority? {
        get { options[PriorityOption.self] }
        set { options.set(PriorityOption.self, newValue) }
    }
}

extension HTTPRequest {
    /// The urgency of the request, for admission policies. Default: ``HTTPRequest/Priority/normal``.
    public var priority: HTTPRequest.Priority { self[option: PriorityOption.self] ?? .normal }
}
