import Foundation

extension ReachabilityService {
    /// A probe that examines the network interfaces of the machine. The network is reachable if an interface other than
    /// the loopback is up and has an address; IPv6 link-local addresses do not count.
    ///
    /// If there are several such interfaces, the interface with the default route determines the kind of network. A
    /// default route is not required, because a container may have no default route. The probe makes a few system calls
    /// and sends nothing, so it cannot detect whether a server responds.
    public struct InterfaceProbe: ReachabilityProbe {
        /// Creates a probe.
        public init() {}

        /// Returns the same status as ``quickStatus()``.
        public func status() async -> ReachabilityStatus { quickStatus() }

        /// The status after a host was reached: the status of the interfaces, or
        /// ``ReachabilityStatus/Interface/ethernetOrWiFi`` if no usable interface is found.
        static var reachableStatus: ReachabilityStatus {
            let interfaces = InterfaceProbe().quickStatus()
            return interfaces.isReachable ? interfaces : .reachable(.ethernetOrWiFi)
        }

        /// Returns the status of the interfaces.
        public func quickStatus() -> ReachabilityStatus {
            var list: UnsafeMutablePointer<ifaddrs>?
            guard getifaddrs(&list) == 0 else { return .unknown }
            defer { freeifaddrs(list) }
            let entries = list.map { first in Array(sequence(first: first) { $0.pointee.ifa_next }) } ?? []
            let names = entries.filter { isUsable($0.pointee) }.map { String(cString: $0.pointee.ifa_name) }
            return Self.status(ofInterfacesNamed: names, leadingFirst: RoutingTable.current.defaultInterfaces)
        }

        /// Returns the status for interfaces that are up and have an address. The first interface with a default route
        /// determines the status. Without a default route, an interface of any other kind is preferred to a cellular
        /// interface.
        static func status(
            ofInterfacesNamed names: [String], leadingFirst leading: [String] = [],
            kind: (String) -> ReachabilityStatus.Interface = { NetworkInterface.kind(of: $0) }
        ) -> ReachabilityStatus {
            guard !names.isEmpty else { return .notReachable }
            if let name = leading.first(where: names.contains) { return .reachable(kind(name)) }
            let kinds = names.map(kind)
            return .reachable(kinds.first { $0 != .cellular } ?? .cellular)
        }

        private func isUsable(_ entry: ifaddrs) -> Bool {
            let flags = UInt64(entry.ifa_flags)
            guard flags & UInt64(IFF_UP) != 0, flags & UInt64(IFF_RUNNING) != 0, flags & UInt64(IFF_LOOPBACK) == 0,
                let address = entry.ifa_addr
            else { return false }
            switch Int32(address.pointee.sa_family) {
            case AF_INET: return true
            case AF_INET6: return !isLinkLocal(address)
            default: return false
            }
        }

        private func isLinkLocal(_ address: UnsafeMutablePointer<sockaddr>) -> Bool {
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { $0[0] == 0xFE && $0[1] & 0xC0 == 0x80 }
            }
        }
    }
}

#if !canImport(Darwin)
    extension ReachabilityService {
        /// Returns the default probe of the platform.
        static func systemProbe() -> any ReachabilityProbe { ReachabilityService.InterfaceProbe() }
    }
#endif

/// The interfaces with a route out of the local network, according to the routing tables of the system.
struct RoutingTable {
    /// The interfaces with a default route. The preferred interface is first.
    let defaultInterfaces: [String]

    /// The routing tables of the calling thread's network namespace. In a container, this namespace can differ from the
    /// namespace in which the process began. Empty on other systems than Linux.
    static var current: RoutingTable {
        func table(_ name: String) -> String {
            #if os(Linux)
                (try? String(contentsOfFile: "/proc/thread-self/net/\(name)", encoding: .utf8)) ?? ""
            #else
                ""
            #endif
        }
        return RoutingTable(ipv4: table("route"), ipv6: table("ipv6_route"))
    }

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
