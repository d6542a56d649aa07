import Foundation
import Networking
import NetworkingTesting

/// Two threads at the same moment: one ends a call, the other makes a task follow this call. Whatever the order, the task
/// has the attempts and the report of the call as soon as it has its value.
struct FollowingRounds: Sendable {
    /// The task that a round ends, as the other thread sees it.
    private final class Rounds: @unchecked Sendable {  // because of the lock around every variable
        private let lock = NSLock()
        private var task: RequestTask<Int>?
        private var number = 0
        private var isOver = false

        func begin(_ task: RequestTask<Int>?) {
            lock.withLock {
                (self.task, isOver) = (task, task == nil)
                number += 1
            }
        }

        /// Returns the task of the next round, without giving up the thread; nil after the last round.
        func next(after last: Int) -> RequestTask<Int>? {
            while true {
                let found: (RequestTask<Int>?, Bool) = lock.withLock { (number > last ? task : nil, isOver) }
                if found.0 != nil || found.1 { return found.0 }
            }
        }
    }

    private final class Heard: @unchecked Sendable {  // because of the lock around every variable
        private let lock = NSLock()
        private var faults: [String?] = []

        func note(_ fault: String?) { lock.withLock { faults.append(fault) } }

        /// Waits until the task has ended, and returns what was wrong.
        func wait() -> String? {
            while true {
                if let fault = lock.withLock({ faults.first }) { return fault }
            }
        }
    }

    let count: Int
    private let pauses: [Int]
    private let response = HTTPResponse(.ok, to: HTTPRequest(.get, URL(fileURLWithPath: "/")))

    init(count: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        self.count = count
        pauses = (0..<64).map { _ in Int.random(in: 0..<8_000, using: &random) }
    }

    /// Runs all rounds on the current thread and on a second one.
    func run() -> [String] {
        let rounds = Rounds()
        let source = call()
        end(source)
        Thread.detachNewThread { [self] in
            var number = 0
            while let call = rounds.next(after: number) {
                pause(pauses[number % pauses.count])
                end(call)
                number += 1
            }
        }
        defer { rounds.begin(nil) }
        for number in 0..<count {
            let call = call()
            let heard = Heard()
            rounds.begin(call)
            let task = source.flatMap { _ in call }
            task.observe { [weak task] _ in
                let attempts = task?.track.attempts.count ?? 0
                let report = task?.report
                heard.note(
                    report == nil ? "a task has its value and no report" : attempts == 1 ? nil : "\(attempts) attempts")
            }
            if let fault = heard.wait() { return ["round \(number): \(fault)"] }
        }
        return []
    }

    private func pause(_ steps: Int) {
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
