public import Foundation
public import Networking

/// A clock whose time moves only when the test moves it, so that tests of timeouts, retries and expiry do not wait.
///
/// ```swift
/// let clock = ManualClock()
/// let service = ProfileService(environment: environment) {
///     $0.transport = stub
///     $0.clock = clock.networkClock
/// }
/// async let profile = service.profile(7)
/// await clock.waitForSleepers()               // the retry's wait has begun
/// clock.advance(by: .seconds(2))
/// ```
public final class ManualClock: Clock, @unchecked Sendable {  // because of the lock around every variable
    /// A point in time of a manual clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock was created, on this clock.
        public let offset: Duration

        /// Returns the instant that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the time from this instant to another instant.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Whether one instant is before another.
        public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    private struct Sleeper {
        let instant: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let count: Int
        let limit: Duration?
        let continuation: CheckedContinuation<Void, Never>
    }

    private let lock = NSLock()
    private let start: Date
    private var instant = Instant(offset: .zero)
    private var sleepers: [Int: Sleeper] = [:]
    private var cancelled: Set<Int> = []
    private var nextID = 0
    private var watchers: [Int: Watcher] = [:]

    /// Creates a clock.
    ///
    /// - Parameter date: The initial wall-clock time. Default: 14 November 2023, 22:13:20 UTC.
    public init(date: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
        start = date
    }

    /// The current instant.
    public var now: Instant { lock.withLock { instant } }

    /// The wall-clock time, which moves with the clock.
    public var date: Date { start.addingTimeInterval(now.offset / .seconds(1)) }

    /// The smallest step of the clock: one nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The clock as a ``NetworkClock``, for the configuration of services.
    public var networkClock: NetworkClock { NetworkClock(self, date: { [self] in date }) }

    /// The number of sleeps in progress.
    public var sleeperCount: Int { lock.withLock { sleepers.count } }

    /// Moves the time forward, and wakes the sleepers whose deadlines have passed, in the order of their deadlines.
    public func advance(by duration: Duration) {
        let woken = lock.withLock {
            instant = instant.advanced(by: duration)
            let due = sleepers.filter { $0.value.instant <= instant }
            for id in due.keys { sleepers[id] = nil }
            return due.sorted { ($0.value.instant, $0.key) < ($1.value.instant, $1.key) }.map(\.value.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Moves the time forward, step by step, until a condition is true. Use it in a test that does not depend on the
    /// number of sleepers.
    ///
    /// ```swift
    /// async let profile = service.profile(7)          // waits for the network
    /// probe.set(.reachable(.wireless))
    /// try await clock.advance(by: .seconds(1), until: { stub.requests.count == 2 })
    /// ```
    ///
    /// The method calls `Task.yield()` after each step, and waits a millisecond of real time after every eighth step,
    /// so that other tasks can run.
    ///
    /// - Parameters:
    ///   - step: The duration of one step.
    ///   - most: The maximum number of steps. Default: 100,000.
    ///   - hasHappened: Returns whether the condition is true. It is called before each step.
    /// - Throws: ``NothingHappened`` if the condition was false before every step.
    public func advance(
        by step: Duration, atMost most: Int = 100_000, until hasHappened: @Sendable () async -> Bool
    ) async throws {
        for index in 0..<most {
            if await hasHappened() { return }
            advance(by: step)
            await Task.yield()
            // Without this wait, a thread that the system has paused for a moment would miss many steps.
            if index % 8 == 7 { try? await Task.sleep(for: .milliseconds(1)) }
        }
        throw NothingHappened(passed: step * most)
    }

    /// The error that `advance(by:atMost:until:)` throws if its condition did not become true.
    public struct NothingHappened: LocalizedError, CustomStringConvertible {
        /// The total duration by which the clock was moved.
        public let passed: Duration

        /// The error text, with advice about the likely cause.
        public var description: String {
            "the condition was false before each step, although the clock was moved by \(passed); "
                + "check that the service, the session and the stub use this clock"
        }

        /// The same text as ``description``.
        public var errorDescription: String? { description }
    }

    /// Waits until at least `count` sleeps are in progress, and moves the time to the earliest deadline.
    ///
    /// The timer of a deadline (`timeouts.total`) or of an idle timeout is also a sleep. Include it in `count`.
    /// Otherwise, the time can move to the end of this timer before the sleep that the test expects has begun.
    ///
    /// The method returns only when enough tasks sleep on this clock, or when the task that called the method is
    /// cancelled. Therefore, give the clock to the service (`$0.clock`), and give the test a time limit.
    ///
    /// - Returns: The duration by which the time moved.
    @discardableResult
    public func advanceToNextSleeper(of count: Int = 1) async -> Duration {
        await waitForSleepers(count)
        let (earliest, now) = lock.withLock { (sleepers.values.map(\.instant).min(), instant) }
        let step = max(earliest.map { now.duration(to: $0) } ?? .zero, .zero)
        advance(by: step)
        return step
    }

    /// Waits until at least `count` sleeps are in progress, or the task is cancelled. A time limit of the test, which
    /// cancels the task, can therefore end the wait.
    ///
    /// Use a limit to wait for one particular sleep while others, such as the timeout of a call, are in progress:
    ///
    /// ```swift
    /// await clock.waitForSleepers(within: .seconds(2))  // the wait before the retry, not the timeout of 60 seconds
    /// clock.advance(by: .seconds(2))
    /// ```
    ///
    /// - Parameters:
    ///   - count: The number of sleeps to wait for. Default: 1.
    ///   - limit: Only sleeps that end within this time are counted. Default: all sleeps are counted.
    public func waitForSleepers(_ count: Int = 1, within limit: Duration? = nil) async {
        let id = lock.withLock {
            defer { nextID += 1 }
            return nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = lock.withLock {
                    let watcher = Watcher(count: count, limit: limit, continuation: continuation)
                    guard !isSatisfied(watcher), cancelled.remove(id) == nil else { return true }
                    watchers[id] = watcher
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let watcher = lock.withLock {
                let watcher = watchers.removeValue(forKey: id)
                if watcher == nil { cancelled.insert(id) }
                return watcher
            }
            watcher?.continuation.resume()
        }
        lock.withLock { _ = cancelled.remove(id) }
    }

    /// Suspends the task until the time of the clock reaches `deadline`. The tolerance is ignored.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = lock.withLock {
            defer { nextID += 1 }
            return nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(id, Sleeper(instant: deadline, continuation: continuation))
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Whether enough sleeps are in progress. Call it with the lock held.
    private func isSatisfied(_ watcher: Watcher) -> Bool {
        guard let limit = watcher.limit else { return sleepers.count >= watcher.count }
        let latest = instant.advanced(by: limit)
        return sleepers.values.filter { $0.instant <= latest }.count >= watcher.count
    }

    private func begin(_ id: Int, _ sleeper: Sleeper) {
        let (outcome, watching): (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) = lock.withLock {
            if cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
            if sleeper.instant <= instant { return (.success(()), []) }
            sleepers[id] = sleeper
            let satisfied = watchers.filter { isSatisfied($0.value) }
            for id in satisfied.keys { watchers[id] = nil }
            return (nil, satisfied.values.map(\.continuation))
        }
        if let outcome { sleeper.continuation.resume(with: outcome) }
        for continuation in watching { continuation.resume() }
    }

    private func cancel(_ id: Int) {
        let sleeper = lock.withLock {
            let sleeper = sleepers.removeValue(forKey: id)
            if sleeper == nil { cancelled.insert(id) }
            return sleeper
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
