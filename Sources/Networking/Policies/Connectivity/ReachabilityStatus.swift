/// Whether the network can be reached, and through which interface.
public enum ReachabilityStatus: Hashable, Sendable {
    /// The status is not known: no check has ended yet, or a check was abandoned.
    case unknown
    /// The network cannot be reached.
    case notReachable
    /// A captive portal responds instead of the server. It requires an action of the user, such as a login.
    case captivePortal
    /// The network can be reached.
    case reachable(Interface)

    /// The kind of interface that leads to the network.
    public enum Interface: Hashable, Sendable {
        /// A wired network.
        case wired
        /// Wi-Fi.
        case wireless
        /// A wired network or Wi-Fi, if the system does not say which; any network that is not known to be cellular.
        case ethernetOrWiFi
        /// A cellular network.
        case cellular
    }

    /// Whether the network is known to be reachable.
    public var isReachable: Bool {
        if case .reachable = self { true } else { false }
    }
}
