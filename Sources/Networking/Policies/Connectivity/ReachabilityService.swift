/// A service that runs a probe at an interval to find out whether the network can be reached, and publishes each
/// change.
///
/// Reachability is only a hint: no request waits for it. The service runs checks only while its ``statuses`` have
/// observers, while a caller waits for the network, and between ``startMonitoring()`` and ``stopMonitoring()``.
///
/// ```swift
/// let reachability = ReachabilityService(host: "api.example.com")
/// let token = reachability.statuses.observe(replayingCurrent: true) { [weak self] status in
///     self?.banner.isHidden = status.isReachable
/// }
/// ```
public final class ReachabilityService: Sendable {
    /// The broadcaster of the status. It publishes each change. It publishes ``ReachabilityStatus/unknown`` only after
    /// a known status. A token of an observation retains the service.
    public let statuses: Broadcaster<ReachabilityStatus>

    private struct State: Sendable {
        /// True after the app has started monitoring, false after it has stopped monitoring, and nil before either.
        var isMonitoring: Bool?
        /// The number of callers that wait for the network. The service runs checks for them, too.
        var waiting = 0
        var poller: ReachabilityPoller?
    }

    private let checker: ReachabilityChecker
    private let interval: Duration
    private let intervalWhileDown: Duration
    private let clock: NetworkClock
    private let state: Locked<State>

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - probe: The probe that finds out the status.
    ///   - interval: The time between two checks, at least one millisecond. Default: 5 seconds.
    ///   - intervalWhileDown: The time between two checks while the network cannot be reached, at most `interval`.
    ///     Default: 1 second.
    ///   - timeout: The maximum duration of a check. A check that takes longer is abandoned, and the next check begins
    ///     after the interval. Default: 30 seconds.
    ///   - clock: The clock that measures the intervals and the timeout.
    public init(
        probe: any ReachabilityProbe, interval: Duration = .seconds(5), intervalWhileDown: Duration = .seconds(1),
        timeout: Duration = .seconds(30), clock: NetworkClock = .continuous
    ) {
        let me = Weak<ReachabilityService>()
        statuses = Broadcaster(whenUsed: { me.object?.change { _ in } }, retaining: { me.object })
        state = Locked(State())
        checker = ReachabilityChecker(probe, statuses, limit: max(timeout, .milliseconds(1)), clock: clock)
        self.interval = max(interval, .milliseconds(1))
        self.intervalWhileDown = max(min(intervalWhileDown, interval), .milliseconds(1))
        self.clock = clock
        me.object = self
        probe.onChange { [weak self] in self?.state.withLock { $0.poller }?.checkNow() }
    }

    /// Creates a service that connects to a host, which may also be given as a URL: see ``TCPConnectionProbe``. If
    /// `host` is nil, the service ignores `port`. It then uses the path monitor (`ReachabilityService.PathProbe`) on
    /// Apple platforms, and examines the interfaces of the machine on Linux.
    public convenience init(
        host: String? = nil, port: UInt16 = 443, interval: Duration = .seconds(5),
        intervalWhileDown: Duration = .seconds(1)
    ) {
        self.init(
            probe: host.map { ReachabilityService.TCPConnectionProbe(host: $0, port: port) }
                ?? ReachabilityService.systemProbe(),
            interval: interval,
            intervalWhileDown: intervalWhileDown)
    }

    deinit {
        state.withLock { $0.poller }?.cancel()
    }

    /// The last status that a check found. ``ReachabilityStatus/unknown`` before the first check ends.
    public var status: ReachabilityStatus { statuses.current ?? .unknown }

    /// Whether the network can be reached. While the service runs checks, the last check determines the value.
    /// Otherwise, ``ReachabilityProbe/quickStatus()`` determines it.
    public var isReachable: Bool { currentStatus.isReachable }

    /// The status of the last check while the service runs checks, otherwise the quick status.
    var currentStatus: ReachabilityStatus {
        let status = status
        let isLooking = state.withLock { $0.poller != nil }
        return isLooking && status != .unknown ? status : checker.probe.quickStatus()
    }

    /// Whether the network costs more than others: a cellular network or a personal hotspot. False on Linux. A change
    /// of this property alone is not published.
    public var isExpensive: Bool { checker.probe.isExpensive }

    /// Whether the network is in Low Data Mode. False on Linux. A change of this property alone is not published.
    public var isConstrained: Bool { checker.probe.isConstrained }

    /// Whether the current task runs a probe. A call that a probe makes must not wait for the network. Otherwise the
    /// call would wait for the probe, while the probe waits for the call.
    static var isProbing: Bool { ReachabilityChecker.isLooking }

    /// Starts monitoring: checks at once, then at the interval, even without observers. A second start has no effect.
    public func startMonitoring() {
        change { $0.isMonitoring = true }
    }

    /// Stops monitoring until the next start, even if there are observers. The status of the last check remains.
    public func stopMonitoring() {
        change { $0.isMonitoring = false }
    }

    /// Checks at once, even without monitoring, and publishes a change. A cancelled task stops waiting, but the check
    /// continues.
    ///
    /// - Returns: The status that the check found.
    @discardableResult
    public func check() async -> ReachabilityStatus {
        (try? await checker.look()) ?? status
    }

    /// Waits until the network can be reached. Checks at once, then at the interval while it waits, even without
    /// monitoring. Does not wait if the probe does not know the status.
    ///
    /// - Parameter limit: The maximum time to wait. Default: no limit.
    /// - Returns: False if the time limit has passed while the network was known to be unreachable. Otherwise true.
    /// - Throws: An error if the task is cancelled, or if the call that the task belongs to must end. Do not catch this
    ///   error.
    public func waitUntilReachable(atMost limit: Duration? = nil) async throws -> Bool {
        try await statusUnlessUnreachable(within: limit) != nil
    }

    /// Waits for a status other than unreachable; nil if the time limit passed.
    func statusUnlessUnreachable(within limit: Duration?) async throws -> ReachabilityStatus? {
        let end = Settlement<ReachabilityStatus?>()
        // Only new checks count. The status of an earlier check does not count.
        let token = checker.looks.observe(on: nil) {
            if !$0.isUnreachable { end.settle(.success($0)) }
        }
        let running = state.withLock { $0.poller }
        change { $0.waiting += 1 }
        running?.checkNow()  // a new poller checks at once
        defer {
            token.cancel()
            change { $0.waiting -= 1 }
        }
        return try await end.value(within: limit, on: clock) { _ in .success(nil) }
    }

    /// Changes the state. The service runs checks while it monitors, while it has observers, and while a caller waits.
    private func change(_ change: (inout State) -> Void) {
        let ended = state.withLock { state -> ReachabilityPoller? in
            change(&state)
            let isWanted = state.isMonitoring ?? statuses.isObserved || state.waiting > 0
            if isWanted, state.poller == nil {
                state.poller = ReachabilityPoller(
                    checker, interval: interval, whileDown: intervalWhileDown, clock: clock)
            }
            guard !isWanted else { return nil }
            defer { state.poller = nil }
            return state.poller
        }
        ended?.cancel()
    }
}
