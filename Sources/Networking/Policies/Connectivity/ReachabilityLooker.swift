/// Asks a probe, once at a time, and publishes what has changed. It does not know the service, whose end ends it.
final class ReachabilityLooker: Sendable {
    /// Set while a probe looks: what the probe itself asks for waits for no network.
    @TaskLocal static var isLooking = false

    let probe: any ReachabilityProbe
    /// Tells the status when it has changed.
    let statuses: Broadcaster<ReachabilityStatus>
    /// Tells what each look has found, whether it has changed or not.
    let looks = Broadcaster<ReachabilityStatus>()
    private let running = Locked<Settlement<ReachabilityStatus>?>(nil)

    init(_ probe: any ReachabilityProbe, _ statuses: Broadcaster<ReachabilityStatus>) {
        self.probe = probe
        self.statuses = statuses
    }

    /// Looks; whoever asks meanwhile gets the same look. It belongs to no call: whoever leaves ends its own wait, and neither a deadline nor
    /// a cancel ends the look or makes it wrong.
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
        Task.detached { [self] in
            let found = await ReachabilityLooker.$isLooking.withValue(true) { await probe.status() }
            if found != .unknown { statuses.publishChange(to: found) }
            running.withLock { $0 = nil }
            looks.publish(found)
            look.settle(.success(found))
        }
        return look
    }
}
