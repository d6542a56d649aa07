/// The kinds of networks that a request may use, in addition to networks without extra cost or limits. Default: all.
///
/// ```swift
/// RequestSettings { $0.networkAccess = [.cellular, .expensive] }  // not in Low Data Mode
/// ```
///
/// On Apple platforms, a request ends with ``NetworkError/Kind/networkRestricted`` if only excluded networks are
/// available. Linux does not distinguish the kinds of networks, and uses any network.
public struct NetworkAccess: OptionSet, Sendable {
    /// The bits of the kinds: 1 cellular, 2 expensive, 4 constrained.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Cellular networks (`URLRequest.allowsCellularAccess`).
    public static let cellular = NetworkAccess(rawValue: 1)
    /// Networks that the system considers expensive, such as a personal hotspot and most cellular networks
    /// (`URLRequest.allowsExpensiveNetworkAccess`).
    public static let expensive = NetworkAccess(rawValue: 2)
    /// Networks in Low Data Mode (`URLRequest.allowsConstrainedNetworkAccess`).
    public static let constrained = NetworkAccess(rawValue: 4)
    /// Every network.
    public static let all: NetworkAccess = [.cellular, .expensive, .constrained]
}
