import Foundation

/// What kind of network a system's interface leads to.
enum NetworkInterface {
    /// Where Linux tells about its interfaces.
    static let systemFolder = URL(fileURLWithPath: "/sys/class/net")

    /// What an interface leads to: as the system's files tell, and where they do not, by its name.
    static func kind(of name: String, in folder: URL = systemFolder) -> ReachabilityStatus.Interface {
        #if os(Linux)
            if let told = told(of: name, in: folder) { return told }
        #endif
        return isCellular(name) ? .cellular : .ethernetOrWiFi
    }

    private static func isCellular(_ name: String) -> Bool {
        ["pdp_ip", "rmnet", "wwan"].contains { name.hasPrefix($0) }
    }

    /// What Linux's files tell: a radio's folders, the kind of device, and whether there is a device at all.
    private static func told(of name: String, in folder: URL) -> ReachabilityStatus.Interface? {
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
