import Networking
import NetworkingTesting

/// A simulation of the load that the retries of many clients cause on a server that fails for some time. It runs on a
/// manual clock, without a network.
///
/// Each client makes one call per second, at its own random offset. While the server fails, each call is retried up to
/// the limit of the retry policy, as long as the budget of the client allows it. The wait before a retry is the backoff
/// of the policy with full jitter. The outcome is the table of the article *Limits, outages and fleets*.
struct OutageSimulation: Sendable {
    /// The number of clients. Default: 10,000.
    var clients: Int
    /// The retry policy. The simulation uses only the policy's number of retries and its backoff.
    var policy: RetryPolicy
    /// Returns the retry budget of one client. The simulation calls it once per client. Default: nil, no budget.
    var budget: (@Sendable () -> RetryPolicy.Budget)?
    /// The phases of the simulation, in seconds: the server works, then fails, then works again. Default: 60, 60, 30.
    var seconds: (before: Int, failing: Int, after: Int)
    /// The seed of the random numbers. Equal seeds give equal results. Default: 1.
    var seed: UInt64

    /// Creates a simulation of a server that works for 60 seconds, fails for 60 seconds and works again for 30
    /// seconds. By default, each call has up to three attempts.
    init(
        clients: Int = 10_000,
        policy: RetryPolicy = .standard,
        seed: UInt64 = 1
    ) {
        self.clients = clients
        self.policy = policy
        self.seconds = (60, 60, 30)
        self.seed = seed
    }

    /// The result of a simulation.
    struct Outcome: Sendable, CustomStringConvertible {
        /// The number of requests that reached the server in each second.
        let load: [Int]
        /// The number of requests per second without retries.
        let normal: Int
        /// The seconds in which the server failed.
        let failing: Range<Int>

        /// The mean load while the server failed, as a multiple of the normal load.
        var amplification: Double {
            Double(load[failing].reduce(0, +)) / Double(normal * failing.count)
        }

        /// The load as a table with one line per ten seconds, in percent of the normal load.
        var description: String {
            let lines = stride(from: 0, to: load.count, by: 10).map { start in
                let part = load[start..<min(start + 10, load.count)]
                let ratio = Double(part.reduce(0, +)) / Double(normal * part.count)
                let percent = Int((ratio * 100).rounded())
                return "\(start)–\(start + part.count) s\(failing.contains(start) ? " failing" : ""): \(percent) %"
            }
            return lines.joined(separator: "\n")
        }
    }

    private struct Attempt {
        let client: Int
        let retries: Int
    }

    private static let step = Duration.milliseconds(10)
    private static let stepsPerSecond = 100

    /// Runs the simulation and returns its result.
    func run() -> Outcome {
        let clock = ManualClock()
        let clients = max(clients, 1)
        let seconds = (before: max(seconds.before, 0), failing: max(seconds.failing, 1), after: max(seconds.after, 0))
        let budgets = (0..<clients).map { _ in budget?() }
        let length = seconds.before + seconds.failing + seconds.after
        let failing = seconds.before..<(seconds.before + seconds.failing)
        var random = SeededGenerator(seed: seed)
        var due = Array(repeating: [Attempt](), count: length * OutageSimulation.stepsPerSecond)
        for client in 0..<clients {
            let offset = Int.random(in: 0..<OutageSimulation.stepsPerSecond, using: &random)
            for second in 0..<length {
                due[second * OutageSimulation.stepsPerSecond + offset].append(Attempt(client: client, retries: 0))
            }
        }
        var load = Array(repeating: 0, count: length)
        for step in due.indices {
            let second = Int(clock.now.offset / .seconds(1))
            for attempt in due[step] {
                load[second] += 1
                guard failing.contains(second) else {
                    budgets[attempt.client]?.earn()
                    continue
                }
                guard attempt.retries < policy.retries, budgets[attempt.client]?.spend() ?? true else { continue }
                let later = step + 1 + wait(before: attempt.retries, &random)
                if later < due.count {
                    due[later].append(Attempt(client: attempt.client, retries: attempt.retries + 1))
                }
            }
            due[step] = []
            clock.advance(by: OutageSimulation.step)
        }
        return Outcome(load: load, normal: clients, failing: failing)
    }

    /// Returns the backoff with full jitter, in steps.
    private func wait(before retry: Int, _ random: inout SeededGenerator) -> Int {
        Int.random(in: 0...Int(policy.backoff.delay(before: retry) / OutageSimulation.step), using: &random)
    }
}
