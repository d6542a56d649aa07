#if canImport(Network)
    import Foundation
    import Network

    /// Asks Apple's path monitor, which knows at once when the system's connection changes.
    public final class PathProbe: ReachabilityProbe, @unchecked Sendable {  // because monitors are thread-safe
        private let monitor = NWPathMonitor()
        private let wakes = Locked<[@Sendable () -> Void]>([])
        /// Whether the monitor has said anything yet.
        private let isInformed = Locked(false)

        /// Makes a probe.
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

        /// The same as ``glance()``.
        public func status() async -> ReachabilityStatus { glance() }

        /// What the monitor knows; unknown until it has said something.
        public func glance() -> ReachabilityStatus {
            guard isInformed.withLock({ $0 }) else { return .unknown }
            let path = monitor.currentPath
            guard path.status == .satisfied else { return .notReachable }
            if path.usesInterfaceType(.wifi) { return .reachable(.wireless) }
            if path.usesInterfaceType(.wiredEthernet) { return .reachable(.wired) }
            return .reachable(path.usesInterfaceType(.cellular) ? .cellular : .ethernetOrWiFi)
        }

        /// Takes what to call when the path has changed.
        public func onChange(_ wake: @escaping @Sendable () -> Void) {
            wakes.withLock { $0.append(wake) }
        }
    }
#endif
