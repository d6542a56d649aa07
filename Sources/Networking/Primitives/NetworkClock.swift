public import Foundation

/// The time by which the library waits: what time it is, and how to sleep until a time.
///
/// Every delay, timeout and expiry of a service goes through its clock, so that a test with a manual clock waits for
/// nothing. Make one from any `Clock` whose duration is `Duration`; the default is ``continuous``.
public struct NetworkClock: Sendable {
    /// The time since an arbitrary fixed moment; it never runs backwards.
    public let now: @Sendable () -> Duration
    /// Returns once ``now`` has reached the given time. Throws `CancellationError` when its task is cancelled.
    let sleep: @Sendable (_ instant: Duration) async throws -> Void
    /// The wall-clock time, for HTTP dates and token expiry.
    public let date: @Sendable () -> Date

    /// The system's monotonic clock, which goes on while the machine sleeps.
    public static let continuous: NetworkClock = {
        #if os(Linux)
            // The same clock as Swift's, asked without the detour: every call asks three times.
            NetworkClock(
                now: {
                    var time = timespec()
                    clock_gettime(CLOCK_BOOTTIME, &time)
                    return Duration(
                        secondsComponent: Int64(time.tv_sec),
                        attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
                },
                sleep: { instant in
                    let left = instant - NetworkClock.continuous.now()
                    if left > .zero { try await ContinuousClock().sleep(for: min(left, .century)) }
                }, date: { Date() })
        #else
            NetworkClock(ContinuousClock(), date: { Date() })
        #endif
    }()

    private init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void,
        date: @escaping @Sendable () -> Date
    ) {
        self.now = now
        self.sleep = sleep
        self.date = date
    }

    /// Makes a clock of any `Clock`, with a wall-clock time beside it.
    public init<Base: Clock>(_ base: Base, date: @escaping @Sendable () -> Date) where Base.Duration == Duration {
        let origin = base.now
        self.now = { origin.duration(to: base.now) }
        self.sleep = { try await base.sleep(until: origin.advanced(by: min($0, .century)), tolerance: nil) }
        self.date = date
    }

    /// Calls `action` at a time, from a task of its own, unless it is cancelled before.
    func schedule(at instant: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        let sleep = sleep
        return ScheduledAction(
            task: Task.detached {
                do { try await sleep(instant) } catch { return }
                action()
            })
    }

    /// Waits for a while inside a call: the wait ends at once when the task is cancelled, and when the call is
    /// cancelled, reset or past its deadline. Adapters, policies and transports wait with this method, not with
    /// `Task.sleep`, which only the task's cancellation ends.
    ///
    /// - Throws: Why the wait has ended early. Do not catch it.
    public func wait(for duration: Duration) async throws {
        guard duration > .zero else { return }
        let settlement = Settlement<Void>()
        let timer = schedule(at: now() + duration) { settlement.settle(.success(())) }
        defer { timer.cancel() }
        try await settlement.value()
    }
}

extension Duration {
    /// Stands for longer times: the system's sleep ends the process if a time does not fit into 64 bits of nanoseconds.
    fileprivate static let century = Duration.seconds(3_155_760_000 as Int64)
}

/// Something that will happen at a time unless it is cancelled.
struct ScheduledAction: Sendable {
    fileprivate let task: Task<Void, Never>

    func cancel() {
        task.cancel()
    }
}
