/// The kinds of networks that a request may use, in addition to those without cost or limits. Default: all.
///
/// ```swift
/// RequestSettings { $0.networkAccess = [.cellular, .expensive] }  // not in Low Data Mode
/// ```
///
/// On Apple platforms, a request that finds no other network ends with ``NetworkError/Kind/networkRestricted``. Linux
/// does not know the kinds of networks, and uses any.
public struct NetworkAccess: OptionSet, Sendable {
    /// The kinds as bits.
    public let rawValue: Int

    /// Makes a set of bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Cellular networks (`URLRequest.allowsCellularAccess`).
    public static let cellular = NetworkAccess(rawValue: 1)
    /// Networks that the system considers expensive, such as a personal hotspot, and most cellular ones
    /// (`URLRequest.allowsExpensiveNetworkAccess`).
    public static let expensive = NetworkAccess(rawValue: 2)
    /// Networks in Low Data Mode (`URLRequest.allowsConstrainedNetworkAccess`).
    public static let constrained = NetworkAccess(rawValue: 4)
    /// Every network.
    public static let all: NetworkAccess = [.cellular, .expensive, .constrained]
}

enum NetworkAccessOption: HTTPRequest.Option {
    /// All.
    static var defaultValue: NetworkAccess? { nil }
}
