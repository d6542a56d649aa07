import Foundation
import Networking
import NetworkingTesting

/// Two threads act at the same moment: one ends a call, and the other makes a task follow this call. In either order,
/// the task has the attempts and the report of the call as soon as the task has its value.
struct FollowingRounds: Sendable {
    /// The call that a round ends, as the other thread sees it.
    private final class Rounds: @unchecked Sendable {  // because of the lock around every variable
        private let lock = NSLock()
        private var call: RequestTask<Int>?
        private var pause = 0
        private var number = 0
        private var isOver = false

        func begin(_ call: RequestTask<Int>, endingAfter pause: Int) {
            lock.withLock {
                (self.call, self.pause) = (call, pause)
                number += 1
            }
        }

        func end() {
            lock.withLock { isOver = true }
        }

        /// Waits for the next round without suspending the thread, and returns its call; nil after the last round.
        func next(after last: Int) -> (call: RequestTask<Int>, pause: Int)? {
            while true {
                lock.lock()
                defer { lock.unlock() }
                if number > last, let call { return (call, pause) }
                if isOver { return nil }
            }
        }
    }

    /// The fault that was found when a task ended.
    private final class Heard: @unchecked Sendable {  // because of the lock around every variable
        private let lock = NSLock()
        private var faults: [String?] = []

        var isEnded: Bool { lock.withLock { !faults.isEmpty } }

        func note(_ fault: String?) { lock.withLock { faults.append(fault) } }

        /// Waits until the task has ended, and returns the fault that was found.
        func wait() -> String? {
            let begun = ContinuousClock.now
            while true {
                if let fault = lock.withLock({ faults.first }) { return fault }
                guard ContinuousClock.now - begun < .seconds(60) else { return "a task has not ended after 60 s" }
            }
        }
    }

    let count: Int
    /// The time after which no further round begins: on a busy machine, a round may take a hundred times longer.
    private let limit: Duration
    private let random: RandomSource
    private let response = HTTPResponse(.ok, to: HTTPRequest(.get, URL(fileURLWithPath: "/")))

    init(count: Int, within limit: Duration, seed: UInt64) {
        (self.count, self.limit) = (count, limit)
        random = RandomSource(SeededGenerator(seed: seed))
    }

    /// Runs the rounds on the current thread and on a second one. Returns the number of rounds, and the faults that
    /// were found.
    func run() -> (count: Int, violations: [String]) {
        let begun = ContinuousClock.now
        let rounds = Rounds()
        Thread.detachNewThread { [self] in
            var number = 0
            while let (call, pause) = rounds.next(after: number) {
                wait(pause)
                end(call)
                number += 1
            }
        }
        defer { rounds.end() }
        var random = random
        // The pause before the call ends. It is lengthened when the call has ended first, and shortened when the task
        // has followed first, so that both happen at nearly the same moment, on any machine.
        var pause = 1_000
        for number in 0..<count {
            guard ContinuousClock.now - begun < limit else { return (number, []) }
            let (source, call, heard) = (self.call(), self.call(), Heard())
            let task = source.flatMap { _ in call }
            task.observe { [weak task] _ in
                let attempts = task?.track.attempts.count ?? 0
                let report = task?.report
                heard.note(
                    report == nil ? "a task has its value and no report" : attempts == 1 ? nil : "\(attempts) attempts")
            }
            rounds.begin(call, endingAfter: pause)
            end(source)
            let step = Int.random(in: 1...200, using: &random)
            pause = heard.isEnded ? pause + step : max(pause - step, 0)
            if let fault = heard.wait() { return (number + 1, ["round \(number): \(fault)"]) }
        }
        return (count, [])
    }

    private func wait(_ steps: Int) {
        var sum = 0
        for step in 0..<steps { sum &+= step ^ sum }
        withExtendedLifetime(sum) {}
    }

    private func call() -> RequestTask<Int> {
        RequestTask<Int>(
            of: .get("call"), track: CallTrack(), callbacks: PendingCallbacks(),
            TaskInterest(CallScope(), endingBy: {}), Settlement<Response<Int>>())
    }

    private func end(_ task: RequestTask<Int>) {
        let attempt = RequestAttempt(number: 1, request: nil, response: nil, error: nil, duration: .zero)
        task.track.note(.attemptEnded(attempt))
        task.track.note(.finished(CallReport(of: task.endpoint, last: attempt, duration: .zero)))
        task.settle(.success(Response(1, response)))
    }
}
