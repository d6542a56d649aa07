import Foundation

/// Whether the network can be reached, and through which interface.
public enum ReachabilityStatus: Hashable, Sendable {
    /// The status is not known: no check has ended yet, a check was abandoned, or the system does not report the
    /// status, as on a watch. No caller waits because of this status.
    case unknown
    /// The network cannot be reached.
    case notReachable
    /// A captive portal responds instead of the server. It requires an action of the user, such as a login.
    case captivePortal
    /// The network can be reached.
    case reachable(Interface)

    /// The kind of interface through which the network is reached.
    public enum Interface: Hashable, Sendable {
        /// A wired network.
        case wired
        /// Wi-Fi.
        case wireless
        /// A wired network or Wi-Fi, if the system does not report which; any network that is not known to be cellular.
        case ethernetOrWiFi
        /// A cellular network.
        case cellular
    }

    /// Whether the network is known to be reachable.
    public var isReachable: Bool {
        if case .reachable = self { true } else { false }
    }

    /// Whether the network is known to be unreachable.
    var isUnreachable: Bool { self == .notReachable || self == .captivePortal }
}

extension ReachabilityStatus: CustomStringConvertible {
    /// A readable text: `unknown`, `not reachable`, `captive portal`, `reachable (wired)`.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "not reachable"
        case .captivePortal: "captive portal"
        case .reachable(.wired): "reachable (wired)"
        case .reachable(.wireless): "reachable (Wi-Fi)"
        case .reachable(.ethernetOrWiFi): "reachable (Ethernet or Wi-Fi)"
        case .reachable(.cellular): "reachable (cellular)"
        }
    }
}

/// The kind of network to which an interface of the system connects.
enum NetworkInterface {
    /// The folder in which Linux describes its interfaces.
    static let systemFolder = URL(fileURLWithPath: "/sys/class/net")

    /// Returns the kind of network of an interface. The system's files determine the kind. If they do not show the
    /// kind, the interface's name determines it.
    static func kind(of name: String, in folder: URL = systemFolder) -> ReachabilityStatus.Interface {
        #if os(Linux)
            if let kindFromSystemFiles = kindFromSystemFiles(of: name, in: folder) { return kindFromSystemFiles }
        #endif
        return isCellular(name) ? .cellular : .ethernetOrWiFi
    }

    private static func isCellular(_ name: String) -> Bool {
        ["pdp_ip", "rmnet", "wwan"].contains { name.hasPrefix($0) }
    }

    /// Returns the kind of network from the files of Linux: the wireless folders, the device type, and whether there is
    /// a device. Returns nil if the files do not show the kind.
    private static func kindFromSystemFiles(of name: String, in folder: URL) -> ReachabilityStatus.Interface? {
        let device = folder.appendingPathComponent(name)
        func has(_ entry: String) -> Bool {
            FileManager.default.fileExists(atPath: device.appendingPathComponent(entry).path)
        }
        let event = (try? String(contentsOf: device.appendingPathComponent("uevent"), encoding: .utf8)) ?? ""
        let type = event.split(separator: "\n").first { $0.hasPrefix("DEVTYPE=") }?.dropFirst("DEVTYPE=".count)
        if has("wireless") || has("phy80211") || type == "wlan" { return .wireless }
        if type == "wwan" { return .cellular }
        return has("device") && !isCellular(name) ? .wired : nil
    }
}
