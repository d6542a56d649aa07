#if canImport(Network)
    import Foundation
    import Network

    /// Asks Apple's path monitor, which knows at once when the system's connection changes.
    public final class PathProbe: ReachabilityProbe, @unchecked Sendable {  // because a monitor is safe to use from any thread
        private let monitor = NWPathMonitor()
        private let wake = Locked<(@Sendable () -> Void)?>(nil)

        /// Makes a probe.
        public init() {
            monitor.pathUpdateHandler = { [wake] _ in wake.withLock { $0 }?() }
            monitor.start(queue: DispatchQueue(label: "networking.path"))
        }

        deinit {
            monitor.cancel()
        }

        /// The same as ``glance()``.
        public func status() async -> ReachabilityStatus { glance() }

        /// What the monitor knows.
        public func glance() -> ReachabilityStatus {
            let path = monitor.currentPath
            guard path.status == .satisfied else { return .notReachable }
            if path.usesInterfaceType(.wifi) { return .reachable(.wireless) }
            if path.usesInterfaceType(.wiredEthernet) { return .reachable(.wired) }
            return .reachable(path.usesInterfaceType(.cellular) ? .cellular : .ethernetOrWiFi)
        }

        /// Takes what to call when the path has changed.
        public func onChange(_ wake: @escaping @Sendable () -> Void) {
            self.wake.withLock { $0 = wake }
        }
    }
#endif
