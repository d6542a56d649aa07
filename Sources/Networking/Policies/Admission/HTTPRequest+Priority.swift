extension HTTPRequest {
    /// How urgent a request is if it has to wait for a permit: ``RequestSettings/priority``.
    ///
    /// Of the requests that wait for a ``ConcurrencyLimit``, the most urgent one is admitted first, and of equally urgent
    /// ones the one that came first.
    public struct Priority: Hashable, Comparable, Sendable {
        /// The higher, the more urgent.
        public let rawValue: Int

        /// Makes a priority.
        public init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        /// After everything else: prefetching, for instance. -10.
        public static let low = HTTPRequest.Priority(-10)
        /// What a request has that says nothing: 0.
        public static let normal = HTTPRequest.Priority(0)
        /// Before everything else: what somebody looks at. 10.
        public static let high = HTTPRequest.Priority(10)

        /// Whether one is less urgent than another.
        public static func < (lhs: HTTPRequest.Priority, rhs: HTTPRequest.Priority) -> Bool {
            lhs.rawValue < rhs.rawValue
        }
    }
}

enum PriorityOption: HTTPRequest.Option {
    /// Normal.
    static var defaultValue: HTTPRequest.Priority? { nil }
}

extension RequestSettings {
    /// How urgent the call is if it has to wait for a permit. Default: ``HTTPRequest/Priority/normal``.
    public var priority: HTTPRequest.Priority? {
        get { options[PriorityOption.self] }
        set { options.set(PriorityOption.self, newValue) }
    }
}

extension HTTPRequest {
    /// How urgent it is, for admission policies.
    public var priority: HTTPRequest.Priority { self[option: PriorityOption.self] ?? .normal }
}
