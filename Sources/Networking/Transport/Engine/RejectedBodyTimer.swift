/// The timer of a rejected body. It ends the body after 5 s without a byte, or 30 s after the head. For a redirect that
/// is followed, it ends the body 250 ms after the head.
final class RejectedBodyTimer: Sendable {
    private enum Phase: Sendable {
        case waiting(ScheduledAction?)
        /// A limit has passed. The text is the reason.
        case passed(String)
        case ended
    }

    private struct State: Sendable {
        var phase = Phase.waiting(nil)
        var lastByte: Duration
    }

    private let clock: NetworkClock
    private let head: Duration
    private let total: Duration
    private let stop: @Sendable (String) -> Void
    private let state: Locked<State>

    private init(on clock: NetworkClock, total: Duration, stop: @escaping @Sendable (String) -> Void) {
        self.clock = clock
        self.total = total
        self.stop = stop
        let now = clock.now()
        head = now
        state = Locked(State(lastByte: now))
    }

    deinit {
        end()
    }

    /// Starts a timer. Call this method when the head has arrived.
    ///
    /// - Parameters:
    ///   - total: The maximum time from the head to the end of the body.
    ///   - stop: Ends the body. It is called at most once, on any thread, with the limit that has passed.
    static func start(
        on clock: NetworkClock, total: Duration = RejectedBody.total, stop: @escaping @Sendable (String) -> Void
    ) -> RejectedBodyTimer {
        let timer = RejectedBodyTimer(on: clock, total: total, stop: stop)
        timer.schedule(at: timer.head + min(RejectedBody.idle, total))
        return timer
    }

    /// The reason why the timer has ended the body; nil if it has not.
    var reason: String? { state.withLock { if case .passed(let reason) = $0.phase { reason } else { nil } } }

    /// Notes that bytes have arrived.
    func noteBytes() {
        let now = clock.now()
        state.withLock { $0.lastByte = now }
    }

    /// Stops the timer, because the body has ended.
    func end() {
        let timer: ScheduledAction? = state.withLock { state in
            guard case .waiting(let timer) = state.phase else { return nil }
            state.phase = .ended
            return timer
        }
        timer?.cancel()
    }

    private func schedule(at instant: Duration) {
        let timer = clock.schedule(at: instant) { [weak self] in self?.check() }
        let isKept = state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.phase = .waiting(timer)
            return true
        }
        if !isKept { timer.cancel() }
    }

    private func check() {
        let now = clock.now()
        let next: Duration? = state.withLock { state in
            guard case .waiting = state.phase else { return nil }
            let (idle, end) = (state.lastByte + RejectedBody.idle, head + total)
            guard now >= min(idle, end) else { return min(idle, end) }
            state.phase = .passed(
                now >= idle
                    ? "no byte for \(RejectedBody.idle.shortText)"
                    : "it was not complete \(total.shortText) after the head")
            return nil
        }
        if let next { schedule(at: next) } else if let reason { stop(reason) }
    }
}
