/// The state of a ``BackoffGate`` for one origin. It is a value without a clock: the caller passes the current time.
package struct GateMachine: Sendable {
    /// The end of a pause in which requests wait.
    private var pauseEnd = Duration.zero
    /// The end of a pause that is too long to wait for.
    private var longPauseEnd = Duration.zero
    /// The end of the time over which the requests of the pause are spread.
    private var spreadEnd = Duration.zero
    private var isOpen = false
    private static let longestPause = Duration.seconds(86_400)

    package init() {}

    /// The time at which the gate opens.
    package var opening: Duration { max(pauseEnd, longPauseEnd) }
    /// The time after which no request waits.
    package var end: Duration { max(opening, spreadEnd) }

    /// Closes the gate for the time that a response requests, unless the gate already stays closed for longer.
    ///
    /// - Parameters:
    ///   - longest: The longest time for which requests wait.
    ///   - isQuota: Whether the reason is that no requests remain. If true, and if the time is longer than `longest`,
    ///     requests do not wait: they end at once until the time has passed.
    ///   - spread: The fraction of the pause over which the delayed requests are spread after the pause has ended.
    /// - Returns: The time for which the gate closes. Nil if its opening time does not change.
    package mutating func close(
        for asked: Duration, atMost longest: Duration, isQuota: Bool = false, spread: Double = 0, at now: Duration
    ) -> Duration? {
        let isLong = isQuota && asked > longest
        let wait = min(asked, isLong ? GateMachine.longestPause : longest)
        guard wait > .zero, opening < now + wait else { return nil }
        if isLong {
            longPauseEnd = now + wait
        } else {
            pauseEnd = now + wait
            spreadEnd = max(spreadEnd, pauseEnd + wait * spread)
        }
        isOpen = false
        return wait
    }

    /// Notes that a request has found the gate open.
    ///
    /// - Returns: Whether it is the first request since the pause.
    mutating func open() -> Bool {
        defer { isOpen = true }
        return !isOpen
    }

    /// Returns the time at which a request that the pause has delayed is sent. This time is during the spread, but at
    /// the latest halfway between the end of the pause and the deadline.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the call of the request ends; nil if there is none.
    ///   - fraction: A random number from 0 to 1.
    package func turn(at now: Duration, before deadline: Duration?, fraction: Double) -> Duration {
        let first = max(now, opening)
        let last = deadline.map { min(end, first + ($0 - first) / 2) } ?? end
        return first + max(last - first, .zero) * fraction
    }

    /// Returns whether a request has to wait: until the end of the pause, or until its turn.
    ///
    /// - Parameters:
    ///   - isRepeated: Whether the call has sent a request before.
    ///   - opening: If the request has already waited for its turn after a pause, the end of this pause. Otherwise nil.
    package func holds(isRepeated: Bool, havingTurnOf opening: Duration?, at now: Duration) -> Bool {
        self.opening > now || isRepeated && end > now && opening != self.opening
    }

    func isInLongPause(at now: Duration) -> Bool { longPauseEnd > now }

    /// Returns the time until the gate opens. Until then, a request waits or ends at once. Nil if the gate is open.
    package func wait(at now: Duration) -> Duration? { opening > now ? opening - now : nil }
}
