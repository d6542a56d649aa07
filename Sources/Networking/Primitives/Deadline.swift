/// A moment on a clock by which something has to be over.
struct Deadline: Sendable {
    let instant: Duration
    let clock: NetworkClock

    init(after duration: Duration, on clock: NetworkClock) {
        self.instant = clock.now() + duration
        self.clock = clock
    }

    /// The time left; zero or less once it has passed.
    var remaining: Duration { instant - clock.now() }

    var hasPassed: Bool { remaining <= .zero }
}
