public import Foundation

/// A clock that the library uses for all waits: it returns the current time and sleeps until a given time.
///
/// The delays and timeouts of a service use the service's clock, so a test with a manual clock does not have to wait. A
/// breaker, a cookie jar, a cache and a session have their own clocks. Create a clock from any `Clock` whose duration
/// is `Duration`. The default is ``continuous``.
public struct NetworkClock: Sendable {
    /// Returns the time since an arbitrary fixed moment. This time never decreases.
    public let now: @Sendable () -> Duration
    /// Sleeps until ``now`` has reached the given time. Throws `CancellationError` if its task is cancelled.
    let sleep: @Sendable (_ instant: Duration) async throws -> Void
    /// Returns the wall-clock time, for HTTP dates and token expiry.
    public let date: @Sendable () -> Date

    /// The system's monotonic clock. It continues while the machine sleeps.
    public static let continuous: NetworkClock = {
        #if os(Linux)
            // Reads the clock of `ContinuousClock` directly, which is faster: every call reads the time three times.
            NetworkClock(
                now: {
                    var time = timespec()
                    clock_gettime(CLOCK_BOOTTIME, &time)
                    return Duration(
                        secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
                },
                sleep: { instant in
                    let left = instant - NetworkClock.continuous.now()
                    if left > .zero { try await ContinuousClock().sleep(for: min(left, .century)) }
                }, date: { Date() })
        #else
            NetworkClock(ContinuousClock(), date: { Date() })
        #endif
    }()
}

extension NetworkClock {
    /// Creates a clock from any `Clock` and a closure that returns the wall-clock time.
    public init<Base: Clock>(_ base: Base, date: @escaping @Sendable () -> Date) where Base.Duration == Duration {
        let origin = base.now
        self.init(
            now: { origin.duration(to: base.now) },
            sleep: { try await base.sleep(until: origin.advanced(by: min($0, .century)), tolerance: nil) }, date: date)
    }

    /// Calls `action` at a given time, in a separate task, unless the returned ``ScheduledAction`` is cancelled first.
    func schedule(at instant: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        let sleep = sleep
        return Task.detached {
            do { try await sleep(instant) } catch { return }
            action()
        }
    }

    /// Waits for a duration inside a call. The wait ends early if the task is cancelled, or if the call is cancelled,
    /// reset or past its deadline. Use this method in adapters, policies and transports instead of `Task.sleep`, which
    /// ends early only if the task is cancelled.
    ///
    /// - Throws: The reason why the wait ended early. Do not catch this error.
    public func wait(for duration: Duration) async throws {
        guard duration > .zero else { return }
        try await Settlement<Void>().value(within: duration, on: self) { _ in .success(()) }
    }
}

extension Duration {
    /// The longest sleep. A longer sleep is shortened to this duration, because the system's sleep terminates the
    /// process if a time does not fit into 64 bits of nanoseconds.
    fileprivate static let century = Duration.seconds(3_155_760_000 as Int64)
}

/// An action that is performed at a given time, unless it is cancelled first.
typealias ScheduledAction = Task<Void, Never>

extension Duration {
    /// The number of whole nanoseconds, limited to about 292 years. The type is `Int64`, because `Int` can have only 32
    /// bits on watchOS. 32 bits of nanoseconds are only two seconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let limit = Int64.max / 1_000_000_000 - 1
        return min(max(seconds, -limit), limit) * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// The number of milliseconds, rounded up and limited to the range of `Int`.
    var milliseconds: Int { Int(clamping: (nanoseconds + 999_999) / 1_000_000) }
}

extension Duration {
    /// The duration as a text for messages, such as `30 s`, `0.2 s` or `1.5 ms`.
    var shortText: String {
        let nanoseconds = nanoseconds
        if nanoseconds.magnitude < 1_000_000_000, nanoseconds % 100_000_000 != 0 {
            return "\((Double(nanoseconds / 1_000) / 1_000).shortText) ms"
        }
        return "\((Double(nanoseconds / 1_000_000) / 1_000).shortText) s"
    }
}

extension Double {
    /// The number as a text, without a fraction if it is whole.
    var shortText: String { Int(exactly: self).map { "\($0)" } ?? "\(self)" }
}

/// The time by which an operation must end, and the clock that measures it.
package struct Deadline: Sendable {
    let instant: Duration
    let clock: NetworkClock
    /// Whether the deadline is inherited from the enclosing operation.
    let isInherited: Bool

    init(after duration: Duration, on clock: NetworkClock, isInherited: Bool = false) {
        self.instant = clock.now() + duration
        self.clock = clock
        self.isInherited = isInherited
    }

    /// The deadline of the enclosing operation. A call that begins in the current task ends at this deadline, too.
    @TaskLocal static var inherited: Deadline?

    /// The time left; zero or negative after the deadline.
    var remaining: Duration { instant - clock.now() }

    var hasPassed: Bool { remaining <= .zero }
}
