/// Asks a probe at an interval whether the network can be reached, and publishes each change.
///
/// Reachability is a hint: no request waits for it. Monitoring runs from ``startMonitoring()`` to ``stopMonitoring()``,
/// or until the service is released.
///
/// ```swift
/// let reachability = ReachabilityService(host: "api.example.com")
/// let token = reachability.statuses.observe(replayingCurrent: true) { [weak self] status in
///     self?.banner.isHidden = status.isReachable
/// }
/// reachability.startMonitoring()
/// ```
public final class ReachabilityService: Sendable {
    /// Tells the status when it has changed. ``ReachabilityStatus/unknown`` is never told.
    public let statuses = Broadcaster<ReachabilityStatus>()

    private struct State: Sendable {
        var isMonitoring = false
        /// How many wait for the network just now, for whom it looks, too.
        var waiting = 0
        var poller: ReachabilityPoller?
    }

    private let looker: ReachabilityChecker
    private let interval: Duration
    private let intervalWhileDown: Duration
    private let clock: NetworkClock
    private let state = Locked(State())

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - probe: What finds out.
    ///   - interval: The time between two looks, a millisecond at least. Default: 5 seconds.
    ///   - intervalWhileDown: The time between two looks while the network cannot be reached, at most `interval`.
    ///     Default: 1 second.
    ///   - timeout: How long a look may take. Then it is abandoned, and the next one begins after the interval.
    ///     Default: 30 seconds.
    ///   - clock: The clock by which intervals and the timeout are measured.
    public init(
        probe: any ReachabilityProbe, interval: Duration = .seconds(5), intervalWhileDown: Duration = .seconds(1),
        timeout: Duration = .seconds(30), clock: NetworkClock = .continuous
    ) {
        looker = ReachabilityChecker(probe, statuses, limit: max(timeout, .milliseconds(1)), clock: clock)
        self.interval = max(interval, .milliseconds(1))
        self.intervalWhileDown = max(min(intervalWhileDown, interval), .milliseconds(1))
        self.clock = clock
        probe.onChange { [weak self] in self?.state.withLock { $0.poller }?.hurry() }
    }

    /// Makes a service that connects to a host. Without a host, it asks the system (`PathProbe`) on Apple platforms,
    /// and looks at the machine's interfaces on Linux; the port means nothing then.
    public convenience init(
        host: String? = nil, port: UInt16 = 443, interval: Duration = .seconds(5),
        intervalWhileDown: Duration = .seconds(1)
    ) {
        self.init(
            probe: host.map { TCPConnectionProbe(host: $0, port: port) } ?? ReachabilityService.systemProbe(),
            interval: interval,
            intervalWhileDown: intervalWhileDown)
    }

    deinit {
        state.withLock { $0.poller }?.cancel()
    }

    /// What was found last; unknown before the first look.
    public var status: ReachabilityStatus { statuses.current ?? .unknown }

    /// Whether the network can be reached: by what was found last while it looks, and otherwise by what can be told at
    /// once.
    public var isReachable: Bool {
        let status = status
        let isLooking = state.withLock { $0.poller != nil }
        return isLooking && status != .unknown ? status.isReachable : looker.probe.quickStatus().isReachable
    }

    /// Whether the network costs more than others: a cellular network, a personal hotspot. False on Linux. Changes of
    /// it alone are not published.
    public var isExpensive: Bool { looker.probe.isExpensive }

    /// Whether the network is in Low Data Mode. False on Linux. Changes of it alone are not published.
    public var isConstrained: Bool { looker.probe.isConstrained }

    /// Whether it is a probe's own call that asks: one that waited for the network would wait for itself.
    static var isProbing: Bool { ReachabilityChecker.isLooking }

    /// Begins to look: at once, then at the interval. Starting twice is starting once.
    public func startMonitoring() {
        change { $0.isMonitoring = true }
    }

    /// Stops looking. The status stays what was found last.
    public func stopMonitoring() {
        change { $0.isMonitoring = false }
    }

    /// Looks at once, also without monitoring, and publishes what has changed. Cancelling the task ends its wait, and
    /// not the look.
    ///
    /// - Returns: What it found.
    @discardableResult
    public func check() async -> ReachabilityStatus {
        (try? await looker.look()) ?? status
    }

    /// Waits until the network can be reached; looks at once, and at the interval while it waits, also without
    /// monitoring.
    ///
    /// - Parameter limit: How long to wait at most; as long as it takes unless told.
    /// - Returns: Whether it can be reached; false if the time was up.
    /// - Throws: Where the task is cancelled, or the call in whose name it waits has to end: let it pass.
    public func waitUntilReachable(atMost limit: Duration? = nil) async throws -> Bool {
        let isReachable = Settlement<Bool>()
        let timer = limit.map { limit in
            clock.schedule(at: clock.now() + limit) { isReachable.settle(.success(false)) }
        }
        // What was found before does not count.
        let token = looker.looks.observe(on: nil) { if $0.isReachable { isReachable.settle(.success(true)) } }
        let running = state.withLock { $0.poller }
        change { $0.waiting += 1 }
        running?.hurry()  // one that begins now looks at once
        defer {
            token.cancel()
            timer?.cancel()
            change { $0.waiting -= 1 }
        }
        return try await isReachable.value()
    }

    /// Changes who wants it to look; it looks while somebody does.
    private func change(_ change: (inout State) -> Void) {
        let ended = state.withLock { state -> ReachabilityPoller? in
            change(&state)
            let isWanted = state.isMonitoring || state.waiting > 0
            if isWanted, state.poller == nil {
                state.poller = ReachabilityPoller(
                    looker, interval: interval, whileDown: intervalWhileDown, clock: clock)
            }
            guard !isWanted else { return nil }
            defer { state.poller = nil }
            return state.poller
        }
        ended?.cancel()
    }
}
