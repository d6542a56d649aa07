/// How urgent a request is where it has to wait for its place: `request[option: RequestPriority.self] = .high`.
///
/// Of those that wait for a ``ConcurrencyLimit`` the most urgent goes first, and of equally urgent ones the one that came first.
public struct RequestPriority: RequestOption, Hashable, Comparable, Sendable {
    /// The higher, the more urgent.
    public let rawValue: Int

    /// Makes a priority.
    public init(_ rawValue: Int) {
        self.rawValue = rawValue
    }

    /// After everything else: prefetching, for instance. -10.
    public static let low = RequestPriority(-10)
    /// What a request has that says nothing: 0.
    public static let normal = RequestPriority(0)
    /// Before everything else: what somebody looks at. 10.
    public static let high = RequestPriority(10)

    /// ``normal``.
    public static let defaultOption = normal

    /// Whether one is less urgent than another.
    public static func < (lhs: RequestPriority, rhs: RequestPriority) -> Bool { lhs.rawValue < rhs.rawValue }
}
