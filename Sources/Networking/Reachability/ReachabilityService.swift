/// Something that has a reachability service.
public protocol HasReachabilityService {
    /// The service.
    var reachabilityService: ReachabilityService { get }
}

/// Asks a probe at an interval whether the network can be reached, and publishes each change.
///
/// Reachability is a hint: no request waits for it. Monitoring runs from ``startMonitoring()`` to ``stopMonitoring()``, or until the
/// service is released.
///
/// ```swift
/// let reachability = ReachabilityService(host: "api.example.com")
/// let token = reachability.statuses.observe(replayingCurrent: true, on: .main) { banner.isHidden = $0.isReachable }
/// reachability.startMonitoring()
/// ```
public final class ReachabilityService: Sendable {
    /// Tells the status when it has changed. ``ReachabilityStatus/unknown`` is never told.
    public let statuses = Broadcaster<ReachabilityStatus>()

    private let probe: any ReachabilityProbe
    private let interval: Duration
    private let clock: NetworkClock
    private let poller = Locked<Task<Void, Never>?>(nil)

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - probe: What finds out.
    ///   - interval: How long to wait between two looks.
    ///   - clock: What tells the time.
    public init(probe: any ReachabilityProbe, interval: Duration = .seconds(5), clock: NetworkClock = .continuous) {
        self.probe = probe
        self.interval = interval
        self.clock = clock
    }

    /// Makes a service that connects to a host, or looks at the machine's interfaces where none is named.
    public convenience init(host: String? = nil, port: UInt16 = 443, interval: Duration = .seconds(5)) {
        self.init(probe: host.map { TCPConnectionProbe(host: $0, port: port) } ?? InterfaceProbe(), interval: interval)
    }

    deinit {
        stopMonitoring()
    }

    /// What was found last; unknown before the first look.
    public var status: ReachabilityStatus { statuses.current ?? .unknown }

    /// Whether the network can be reached: by what was found last, and before the first look by what can be told at once.
    public var isReachable: Bool {
        let status = status
        return status == .unknown ? probe.glance().isReachable : status.isReachable
    }

    /// Begins to look: at once, then at the interval. Starting twice is starting once.
    public func startMonitoring() {
        poller.withLock { poller in
            guard poller == nil else { return }
            poller = Task.detached { [probe, interval, clock, statuses] in
                while !Task.isCancelled {
                    let found = await probe.status()
                    guard !Task.isCancelled else { return }
                    if found != .unknown, found != statuses.current { statuses.publish(found) }
                    do { try await clock.sleep(clock.now() + interval) } catch { return }
                }
            }
        }
    }

    /// Stops looking. The status stays what was found last.
    public func stopMonitoring() {
        poller.withLock { poller in
            poller?.cancel()
            poller = nil
        }
    }
}
