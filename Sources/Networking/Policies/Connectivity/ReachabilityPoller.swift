/// An object that runs checks repeatedly until it is cancelled.
final class ReachabilityPoller: Sendable {
    private struct State: Sendable {
        /// The pause between two checks. Settled when the pause is over.
        var pause: Settlement<Void>?
        /// Whether a check was requested after the last check began.
        var isCheckRequested = false
    }

    private let state = Locked(State())
    private let task: Task<Void, Never>

    init(_ checker: ReachabilityChecker, interval: Duration, whileDown: Duration, clock: NetworkClock) {
        task = Task.detached { [state] in
            while !Task.isCancelled {
                state.withLock { $0.isCheckRequested = false }
                guard let found = try? await checker.look() else { return }
                let pause = Settlement<Void>()
                let isCheckRequested = state.withLock { state in
                    state.pause = pause
                    return state.isCheckRequested
                }
                if isCheckRequested { continue }
                let limit = found.isUnreachable ? whileDown : interval
                do { try await pause.value(within: limit, on: clock) { _ in .success(()) } } catch { return }
            }
        }
    }

    /// Starts the next check at once.
    func checkNow() {
        let pause = state.withLock { state in
            state.isCheckRequested = true
            return state.pause
        }
        pause?.settle(.success(()))
    }

    func cancel() {
        task.cancel()
    }
}

/// An object that runs a probe, one check at a time, and publishes changes of the status. It holds no reference to the
/// ``ReachabilityService``, so that the service can be released while checks run.
final class ReachabilityChecker: Sendable {
    /// Whether the current task runs a probe. Calls that the probe makes do not wait for the network.
    @TaskLocal static var isLooking = false

    let probe: any ReachabilityProbe
    /// The broadcaster of the status. It publishes only changes.
    let statuses: Broadcaster<ReachabilityStatus>
    /// The broadcaster of the result of each check. It also publishes unchanged results.
    let looks = Broadcaster<ReachabilityStatus>()
    private let limit: Duration
    private let clock: NetworkClock
    private let running = Locked<Settlement<ReachabilityStatus>?>(nil)

    /// - Parameter limit: The maximum duration of a check. A check that takes longer is abandoned, and its result is
    ///   ``ReachabilityStatus/unknown``.
    init(
        _ probe: any ReachabilityProbe, _ statuses: Broadcaster<ReachabilityStatus>, limit: Duration,
        clock: NetworkClock
    ) {
        self.probe = probe
        self.statuses = statuses
        self.limit = limit
        self.clock = clock
    }

    /// Runs a check. Callers that arrive during a check wait for that check. A check does not belong to a call: if a
    /// caller is cancelled, only the wait of this caller ends. Deadlines and cancellations do not end the check, and do
    /// not change its result.
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
            end(look, with: nil)
            probing.cancel()
        }
        look.observe { _ in timer.cancel() }
        return look
    }

    /// Ends a check with its result. If the result is nil, the check was abandoned, and its callers receive
    /// ``ReachabilityStatus/unknown``. The next check may then begin. A check that was abandoned does not end any wait
    /// for the network.
    private func end(_ look: Settlement<ReachabilityStatus>, with found: ReachabilityStatus?) {
        let isRunning = running.withLock { running in
            guard running?.id == look.id else { return false }
            running = nil
            return true
        }
        guard isRunning else { return }
        // Before the first known status, there is no status that `unknown` could replace.
        if let found, found != .unknown || statuses.current != nil { statuses.publishChange(to: found) }
        if let found { looks.publish(found) }
        look.settle(.success(found ?? .unknown))
    }
}
