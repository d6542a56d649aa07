import Foundation

/// Which interfaces lead out of the local network, as the system's own tables tell.
struct RoutingTable {
    /// The interfaces with a default route, the preferred one first.
    let defaultInterfaces: [String]

    #if os(Linux)
        /// The tables of the calling thread's network, which in a container may be another one than the process began
        /// with.
        static var current: RoutingTable {
            func table(_ name: String) -> String {
                (try? String(contentsOfFile: "/proc/thread-self/net/\(name)", encoding: .utf8)) ?? ""
            }
            return RoutingTable(ipv4: table("route"), ipv6: table("ipv6_route"))
        }
    #endif

    /// Reads Linux's tables.
    ///
    /// - Parameters:
    ///   - ipv4: The text of `/proc/net/route`: a line of names, then interface, destination, gateway, flags, …,
    ///     metric, mask.
    ///   - ipv6: The text of `/proc/net/ipv6_route`: destination, its prefix, …, metric, …, flags, interface.
    init(ipv4: String, ipv6: String) {
        var routes: [(metric: UInt64, interface: String)] = []
        for line in ipv4.split(separator: "\n").dropFirst() {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count >= 8, fields[1] == "00000000", fields[7] == "00000000", RoutingTable.leads(fields[3])
            else { continue }
            routes.append((UInt64(fields[6]) ?? 0, String(fields[0])))
        }
        for line in ipv6.split(separator: "\n") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count >= 10, fields[0].allSatisfy({ $0 == "0" }), fields[1] == "00", fields[9] != "lo",
                RoutingTable.leads(fields[8])
            else { continue }
            // After those of IPv4, whose metrics count differently.
            routes.append(((UInt64(fields[5], radix: 16) ?? 0) + 1 << 32, String(fields[9])))
        }
        var names: [String] = []
        for route in routes.sorted(by: { $0.metric < $1.metric }) where !names.contains(route.interface) {
            names.append(route.interface)
        }
        defaultInterfaces = names
    }

    /// Whether a route is up (RTF_UP) and none that rejects (RTF_REJECT).
    private static func leads(_ flags: Substring) -> Bool {
        guard let flags = UInt32(flags, radix: 16) else { return false }
        return flags & 0x1 != 0 && flags & 0x200 == 0
    }
}
