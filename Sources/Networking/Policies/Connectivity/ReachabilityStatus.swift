/// Whether the network can be reached, and by what.
public enum ReachabilityStatus: Hashable, Sendable {
    /// Nobody has looked yet.
    case unknown
    /// It cannot be reached.
    case notReachable
    /// Somebody else answers in the network's place, and wants something first: a captive portal.
    case captivePortal
    /// It can be reached.
    case reachable(Interface)

    /// What leads to the network.
    public enum Interface: Hashable, Sendable {
        /// A wire.
        case wired
        /// Wi-Fi.
        case wireless
        /// A wire or Wi-Fi, where the system does not tell which; anything that is not known to be cellular.
        case ethernetOrWiFi
        /// A cellular network.
        case cellular
    }

    /// Whether it is known that the network can be reached.
    public var isReachable: Bool {
        if case .reachable = self { true } else { false }
    }
}
