/// The state of a ``BackoffGate`` for one origin. It is a value without a clock: the caller passes the current time.
package struct GateMachine: Sendable {
    /// The time at which the gate opens.
    private(set) var opening = Duration.zero

    package init() {}

    /// Closes the gate for the time that a response requests, unless the gate already stays closed for longer.
    ///
    /// - Parameter longest: The longest time for which the gate closes.
    /// - Returns: The time for which the gate closes. Nil if its opening time does not change.
    package mutating func close(for asked: Duration, atMost longest: Duration, at now: Duration) -> Duration? {
        let wait = min(asked, longest)
        guard wait > .zero, opening < now + wait else { return nil }
        opening = now + wait
        return wait
    }

    /// Returns the time for which a request waits. Nil if the gate is open.
    package func wait(at now: Duration) -> Duration? { opening > now ? opening - now : nil }
}
