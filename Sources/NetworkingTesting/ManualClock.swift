public import Foundation
public import Networking

/// A clock that only moves when told to: tests of timeouts, retries and expiry wait for nothing.
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
    /// A moment of a manual clock: the time since it was made.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let offset: Duration

        /// The moment some time later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// The time from this moment to another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Whether one moment is before another.
        public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    private struct Sleeper {
        let instant: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let lock = NSLock()
    private let start: Date
    private var instant = Instant(offset: .zero)
    private var sleepers: [Int: Sleeper] = [:]
    private var cancelled: Set<Int> = []
    private var nextID = 0
    private var watchers: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]

    /// Makes a clock.
    ///
    /// - Parameter date: The wall-clock time to begin with.
    public init(date: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
        start = date
    }

    /// The current moment.
    public var now: Instant { lock.withLock { instant } }

    /// The wall-clock time, which moves with the clock.
    public var date: Date { start.addingTimeInterval(now.offset / .seconds(1)) }

    /// The smallest step: one nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The clock in the form that services take.
    public var networkClock: NetworkClock { NetworkClock(self, date: { [self] in date }) }

    /// How many sleeps are under way.
    public var sleeperCount: Int { lock.withLock { sleepers.count } }

    /// Moves the time forward and wakes the sleepers whose deadline has come, the earliest first.
    public func advance(by duration: Duration) {
        let woken = lock.withLock {
            instant = instant.advanced(by: duration)
            let due = sleepers.filter { $0.value.instant <= instant }
            for id in due.keys { sleepers[id] = nil }
            return due.sorted { ($0.value.instant, $0.key) < ($1.value.instant, $1.key) }.map(\.value.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Moves the time forward, step by step, until something has happened, whoever sleeps meanwhile: for a test that
    /// does not want to know how many wait for what.
    ///
    /// ```swift
    /// async let profile = service.profile(7)          // waits for the network
    /// probe.set(.reachable(.wireless))
    /// try await clock.advance(by: .seconds(1), until: { stub.requests.count == 2 })
    /// ```
    ///
    /// It gives other tasks their turn between two steps.
    ///
    /// - Parameters:
    ///   - step: How far the time moves at once.
    ///   - most: How often it moves at most.
    ///   - hasHappened: Is asked before each step.
    /// - Throws: ``NothingHappened`` after the last step.
    public func advance(
        by step: Duration, atMost most: Int = 100_000, until hasHappened: @Sendable () async -> Bool
    ) async throws {
        for _ in 0..<most {
            if await hasHappened() { return }
            advance(by: step)
            await Task.yield()
        }
        throw NothingHappened(passed: step * most)
    }

    /// What was waited for did not happen, however far the clock was moved.
    public struct NothingHappened: LocalizedError, CustomStringConvertible {
        /// How far it was moved.
        public let passed: Duration

        /// What to look at.
        public var description: String {
            "it did not happen, though the clock was moved by \(passed); does every part that waits have this clock: service, session, stub?"
        }

        /// The same.
        public var errorDescription: String? { description }
    }

    /// Waits until at least so many sleeps are under way, and moves the time to the end of the shortest.
    ///
    /// It returns only when somebody waits on this clock: give it to the service (`$0.clock`), and the test a time
    /// limit.
    ///
    /// - Returns: By how much the time moved.
    @discardableResult
    public func advanceToNextSleeper(of count: Int = 1) async -> Duration {
        await waitForSleepers(count)
        let (earliest, now) = lock.withLock { (sleepers.values.map(\.instant).min(), instant) }
        let step = max(earliest.map { now.duration(to: $0) } ?? .zero, .zero)
        advance(by: step)
        return step
    }

    /// Waits until at least so many sleeps are under way, or the task is cancelled: a test with a time limit ends by
    /// it.
    public func waitForSleepers(_ count: Int = 1) async {
        let id = lock.withLock {
            defer { nextID += 1 }
            return nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = lock.withLock {
                    guard sleepers.count < count, cancelled.remove(id) == nil else { return true }
                    watchers[id] = (count, continuation)
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

    /// Sleeps until the clock has been moved to a moment.
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

    private func begin(_ id: Int, _ sleeper: Sleeper) {
        let (outcome, watching): (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) = lock.withLock {
            if cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
            if sleeper.instant <= instant { return (.success(()), []) }
            sleepers[id] = sleeper
            let satisfied = watchers.filter { $0.value.count <= sleepers.count }
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
