/// Asks a probe, once at a time, and publishes what has changed. It does not know the service, whose end ends it.
final class ReachabilityChecker: Sendable {
    /// Set while a probe looks: what the probe itself asks for waits for no network.
    @TaskLocal static var isLooking = false

    let probe: any ReachabilityProbe
    /// Publishes the status when it has changed.
    let statuses: Broadcaster<ReachabilityStatus>
    /// Publishes what each look has found, whether it has changed or not.
    let looks = Broadcaster<ReachabilityStatus>()
    private let limit: Duration
    private let clock: NetworkClock
    private let running = Locked<Settlement<ReachabilityStatus>?>(nil)

    /// - Parameter limit: How long a look may take. Then it is abandoned, and has found nothing.
    init(
        _ probe: any ReachabilityProbe, _ statuses: Broadcaster<ReachabilityStatus>, limit: Duration,
        clock: NetworkClock
    ) {
        self.probe = probe
        self.statuses = statuses
        self.limit = limit
        self.clock = clock
    }

    /// Looks; callers that ask meanwhile get the same look. It belongs to no call: a caller that leaves ends its own
    /// wait, and neither a deadline nor a cancel ends the look or makes it wrong.
    func look() async throws -> ReachabilityStatus {
        let wait = Settlement<ReachabilityStatus>()
        begin().observe { wait.settle($0) }
        return try await wait.value()
    }

    private func begin() -> Settlement<ReachabilityStatus> {
        let (look, isNew) = running.withLock { running in
            if let running { return (running, false) }
            let look = Settlement<ReachabilityStatus>()
            running = look
            return (look, true)
        }
        guard isNew else { return look }
        let probing = Task.detached { [self] in
            end(look, with: await ReachabilityChecker.$isLooking.withValue(true) { await probe.status() })
        }
        let timer = clock.schedule(at: clock.now() + limit) { [self] in
            end(look, with: .unknown)
            probing.cancel()
        }
        look.observe { _ in timer.cancel() }
        return look
    }

    /// The look has found something, or is abandoned; the next one may begin.
    private func end(_ look: Settlement<ReachabilityStatus>, with found: ReachabilityStatus) {
        let isRunning = running.withLock { running in
            guard running?.id == look.id else { return false }
            running = nil
            return true
        }
        guard isRunning else { return }
        if found != .unknown { statuses.publishChange(to: found) }
        looks.publish(found)
        look.settle(.success(found))
    }
}
