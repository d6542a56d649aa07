/// The activity of a `URLSession` task, which determines whether the task is idle. All times are measured from the same
/// moment, which is before the beginning of the task.
struct SessionActivity: Equatable {
    private let idle: Duration
    /// The limit that applies until there is a sign of a connection.
    private let connecting: Duration
    private var isConnected = false
    private var last = Duration.zero
    /// Whether the task waits for a network. Activity sets this to false.
    var isWaiting = false
    /// Whether the task is suspended until its reader's buffer has room.
    var isHeldBack = false

    /// - Parameter connecting: The limit before there is a sign of a connection; nil if only the idle timeout applies.
    ///   The limit should be long, because `URLSession` does not report when it has a connection.
    init(idle: Duration, connecting: Duration?) {
        self.idle = idle
        self.connecting = min(connecting ?? idle, idle)
    }

    /// The limit that applies now.
    var limit: Duration { isConnected ? idle : connecting }

    /// Records a sign of a connection: bytes in either direction, or a certificate.
    mutating func note(at time: Duration) {
        isConnected = true
        isWaiting = false
        last = time
    }

    /// Records the beginning of the task.
    mutating func begin(at time: Duration) {
        last = time
    }

    /// Returns the remaining time until the task is idle; zero or less if it is idle. Returns nil while the task waits
    /// for a network or for its reader, because the server does not cause these waits.
    func timeLeft(at time: Duration) -> Duration? {
        isWaiting || isHeldBack ? nil : limit - (time - last)
    }
}
