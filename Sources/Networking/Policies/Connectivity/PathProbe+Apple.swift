#if canImport(Darwin)
    import Foundation
    import Network

    extension ReachabilityService {
        /// A probe that uses the path monitor of Apple's systems, which reports a change of the connection at once. If
        /// no host is given, ``ReachabilityService`` uses this probe by default.
        ///
        /// On watchOS, most apps may not use the path monitor (Apple's technical note TN3135), so the status is always
        /// ``ReachabilityStatus/unknown``. An ``HTTPProbe`` can determine the status on watchOS, too.
        public final class PathProbe: ReachabilityProbe, @unchecked Sendable {  // because monitors are thread-safe
            private let monitor = NWPathMonitor()
            private let wakes = Locked<[@Sendable () -> Void]>([])
            /// Whether the monitor has reported a path yet.
            private let isInformed = Locked(false)

            /// Creates a probe.
            public init() {
                monitor.pathUpdateHandler = { [wakes, isInformed] _ in
                    isInformed.withLock { $0 = true }
                    for wake in wakes.withLock({ $0 }) { wake() }
                }
                monitor.start(queue: DispatchQueue(label: "networking.path"))
            }

            deinit {
                monitor.cancel()
            }

            /// Returns the same status as ``quickStatus()``.
            public func status() async -> ReachabilityStatus { quickStatus() }

            /// Returns the status that the monitor reported last. Before its first report, returns the status of the
            /// interfaces.
            public func quickStatus() -> ReachabilityStatus {
                #if os(watchOS)
                    return .unknown
                #else
                    guard isInformed.withLock({ $0 }) else { return ReachabilityService.InterfaceProbe().quickStatus() }
                    let path = monitor.currentPath
                    // If the path requires a connection, such as a VPN on demand, a request makes the system establish
                    // the connection.
                    if path.status == .requiresConnection { return .unknown }
                    guard path.status == .satisfied else { return .notReachable }
                    if path.usesInterfaceType(.wifi) { return .reachable(.wireless) }
                    if path.usesInterfaceType(.wiredEthernet) { return .reachable(.wired) }
                    return .reachable(path.usesInterfaceType(.cellular) ? .cellular : .ethernetOrWiFi)
                #endif
            }

            /// Whether the path is expensive, as most cellular networks and personal hotspots are.
            public var isExpensive: Bool { monitor.currentPath.isExpensive }

            /// Whether the path is in Low Data Mode.
            public var isConstrained: Bool { monitor.currentPath.isConstrained }

            /// Registers a closure to call when the path has changed.
            public func onChange(_ wake: @escaping @Sendable () -> Void) {
                wakes.withLock { $0.append(wake) }
            }
        }
    }

    extension ReachabilityService {
        /// Returns the default probe of the platform.
        static func systemProbe() -> any ReachabilityProbe { ReachabilityService.PathProbe() }
    }
#endif
