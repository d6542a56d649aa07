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

    private struct State: Sendable {
        var isMonitoring = false
        /// How many wait for the network just now, for whom it looks, too.
        var waiting = 0
        var poller: Task<Void, Never>?
    }

    private let probe: any ReachabilityProbe
    private let pace: Pace
    private let state = Locked(State())

    /// How often it looks.
    private struct Pace: Sendable {
        let interval: Duration
        let intervalWhileDown: Duration
        let clock: NetworkClock
        /// The pause between two looks; settled when it is over.
        let pause = Locked<Settlement<Void>?>(nil)

        /// Waits until it is time to look again, or somebody knows that something has changed.
        func next(after status: ReachabilityStatus) async throws {
            let turn = Settlement<Void>()
            pause.withLock { $0 = turn }
            let interval = status.isReachable ? interval : intervalWhileDown
            let timer = clock.schedule(at: clock.now() + interval) { turn.settle(.success(())) }
            defer { timer.cancel() }
            try await turn.value()
        }

        func hurry() {
            pause.withLock { $0 }?.settle(.success(()))
        }
    }

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - probe: What finds out.
    ///   - interval: How long to wait between two looks.
    ///   - intervalWhileDown: How long to wait while the network cannot be reached; never longer than `interval`.
    ///   - clock: What tells the time.
    public init(
        probe: any ReachabilityProbe, interval: Duration = .seconds(5), intervalWhileDown: Duration = .seconds(1),
        clock: NetworkClock = .continuous
    ) {
        self.probe = probe
        pace = Pace(interval: interval, intervalWhileDown: min(intervalWhileDown, interval), clock: clock)
        probe.onChange { [pace] in pace.hurry() }
    }

    /// Makes a service that connects to a host, or looks at the machine's interfaces where none is named.
    public convenience init(
        host: String? = nil, port: UInt16 = 443, interval: Duration = .seconds(5),
        intervalWhileDown: Duration = .seconds(1)
    ) {
        self.init(
            probe: host.map { TCPConnectionProbe(host: $0, port: port) } ?? InterfaceProbe(), interval: interval,
            intervalWhileDown: intervalWhileDown)
    }

    deinit {
        state.withLock { $0.poller }?.cancel()
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
        change { $0.isMonitoring = true }
    }

    /// Stops looking. The status stays what was found last.
    public func stopMonitoring() {
        change { $0.isMonitoring = false }
    }

    /// Looks at once, also without monitoring, and publishes what has changed.
    ///
    /// - Returns: What it found.
    @discardableResult
    public func check() async -> ReachabilityStatus {
        await ReachabilityService.look(probe, statuses)
    }

    /// Waits until the network can be reached; looks at once, and at the interval while it waits, also without monitoring.
    ///
    /// - Parameter limit: How long to wait at most; as long as it takes unless told.
    /// - Returns: Whether it can be reached; false where the time was up.
    /// - Throws: Where the task is cancelled, or the call in whose name it waits has to end: let it pass.
    public func waitUntilReachable(atMost limit: Duration? = nil) async throws -> Bool {
        change { $0.waiting += 1 }
        defer { change { $0.waiting -= 1 } }
        guard await !check().isReachable else { return true }
        let isReachable = Settlement<Bool>()
        let token = statuses.observe(replayingCurrent: true) {
            if $0.isReachable { isReachable.settle(.success(true)) }
        }
        let timer = limit.map { limit in
            pace.clock.schedule(at: pace.clock.now() + limit) { isReachable.settle(.success(false)) }
        }
        defer {
            token.cancel()
            timer?.cancel()
        }
        return try await isReachable.value()
    }

    /// Changes who wants it to look; it looks while somebody does.
    private func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            let isWanted = state.isMonitoring || state.waiting > 0
            if isWanted, state.poller == nil {
                state.poller = ReachabilityService.poll(probe, statuses, pace)
            } else if !isWanted {
                state.poller?.cancel()
                state.poller = nil
            }
        }
    }

    /// Looks again and again, until it is cancelled. It does not hold the service, whose end ends it.
    private static func poll(
        _ probe: any ReachabilityProbe, _ statuses: Broadcaster<ReachabilityStatus>, _ pace: Pace
    ) -> Task<Void, Never> {
        Task.detached {
            while !Task.isCancelled {
                let found = await look(probe, statuses)
                do { try await pace.next(after: found) } catch { return }
            }
        }
    }

    private static func look(
        _ probe: any ReachabilityProbe, _ statuses: Broadcaster<ReachabilityStatus>
    ) async -> ReachabilityStatus {
        let found = await probe.status()
        if !Task.isCancelled, found != .unknown { statuses.publishChange(to: found) }
        return found
    }
}
