import Foundation

/// The interfaces that lead out of the local network, according to the routing tables of the system.
struct RoutingTable {
    /// The interfaces with a default route. The preferred interface is first.
    let defaultInterfaces: [String]

    #if os(Linux)
        /// The routing tables of the calling thread's network namespace. In a container, this namespace can differ from
        /// the namespace in which the process began.
        static var current: RoutingTable {
            func table(_ name: String) -> String {
                (try? String(contentsOfFile: "/proc/thread-self/net/\(name)", encoding: .utf8)) ?? ""
            }
            return RoutingTable(ipv4: table("route"), ipv6: table("ipv6_route"))
        }
    #endif

    /// Parses the tables of Linux.
    ///
    /// - Parameters:
    ///   - ipv4: The text of `/proc/net/route`: a header line, then lines with interface, destination, gateway, flags,
    ///     …, metric, mask.
    ///   - ipv6: The text of `/proc/net/ipv6_route`: lines with destination, its prefix, …, metric, …, flags,
    ///     interface.
    init(ipv4: String, ipv6: String) {
        var routes: [(metric: UInt64, interface: String)] = []
        for line in ipv4.split(separator: "\n").dropFirst() {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count >= 8, fields[1] == "00000000", fields[7] == "00000000", RoutingTable.isUsable(fields[3])
            else { continue }
            routes.append((UInt64(fields[6]) ?? 0, String(fields[0])))
        }
        for line in ipv6.split(separator: "\n") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count >= 10, fields[0].allSatisfy({ $0 == "0" }), fields[1] == "00", fields[9] != "lo",
                RoutingTable.isUsable(fields[8])
            else { continue }
            // IPv6 routes come after IPv4 routes, because their metrics are not comparable.
            routes.append(((UInt64(fields[5], radix: 16) ?? 0) + 1 << 32, String(fields[9])))
        }
        var names: [String] = []
        for route in routes.sorted(by: { $0.metric < $1.metric }) where !names.contains(route.interface) {
            names.append(route.interface)
        }
        defaultInterfaces = names
    }

    /// Whether a route is up (RTF_UP) and does not reject packets (RTF_REJECT).
    private static func isUsable(_ flags: Substring) -> Bool {
        guard let flags = UInt32(flags, radix: 16) else { return false }
        return flags & 0x1 != 0 && flags & 0x200 == 0
    }
}
