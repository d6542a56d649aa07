/// When a task of `URLSession` counts as idle. A time is the span since the task was started.
struct SessionActivity {
    private let idle: Duration
    /// The limit before there is a sign of a connection.
    private let connecting: Duration
    private var isConnected = false
    private var last = Duration.zero
    /// Whether the task waits for a network; until there is activity.
    var isWaiting = false
    /// Whether the task is suspended until its reader has room.
    var isHeldBack = false

    /// - Parameter connecting: The limit before there is a sign of a connection; nil for no other limit than the idle
    ///   timeout. `URLSession` does not report when it has a connection, so that it should be generous.
    init(idle: Duration, connecting: Duration?) {
        self.idle = idle
        self.connecting = min(connecting ?? idle, idle)
    }

    /// The limit that counts now.
    var limit: Duration { isConnected ? idle : connecting }

    /// There was a sign of a connection: bytes in either direction, or a certificate.
    mutating func note(at time: Duration) {
        isConnected = true
        isWaiting = false
        last = time
    }

    /// The task begins.
    mutating func begin(at time: Duration) {
        last = time
    }

    /// The time that is left before the task is idle, not greater than zero if it is; nil while nothing can move, for
    /// reasons that are not the server's.
    func timeLeft(at time: Duration) -> Duration? {
        isWaiting || isHeldBack ? nil : limit - (time - last)
    }

    /// Whether there was no activity since a copy was made.
    func isUnchanged(since other: SessionActivity) -> Bool {
        last == other.last && isConnected == other.isConnected && isWaiting == other.isWaiting
            && isHeldBack == other.isHeldBack
    }
}
