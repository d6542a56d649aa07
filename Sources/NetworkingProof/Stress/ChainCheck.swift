import Foundation
import Networking
import NetworkingTesting

/// Checks that a task can poll with `flatMap` for a million rounds in linear time, on a stack of 512 KB. Secondary
/// threads on Apple's systems have stacks of this size.
struct ChainCheck: Check {
    let name = "chains"
    let parts: [String] = []

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        let begun = ContinuousClock.now
        let rounds = settings.count ?? (settings.isQuick ? 100_000 : 1_000_000)
        let stub = StubTransport { _ in .text("x") }
        let service = NetworkService {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
        }
        let task = service.task(.url("https://chain.example"), as: .string)
        _ = try await task.value

        let short = try await time(rounds / 10, task)
        report.progress("chains", since: begun, "\((rounds / 10).grouped) rounds")
        let long = try await time(rounds, task)
        let ratio = long / short
        report.end(
            "chains", since: begun,
            "\(rounds.grouped) rounds in \(long.formatted(.number.precision(.fractionLength(1)))) s, "
                + "\(ratio.formatted(.number.precision(.fractionLength(1)))) times as long as a tenth of the rounds",
            violations: ratio < 30 ? [] : ["the time is not linear: \(ratio) times that of a tenth of the rounds"])
    }

    private func time(_ rounds: Int, _ task: RequestTask<String>) async throws -> Double {
        let begun = ContinuousClock.now
        let chain = await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: Self.poll(task, rounds)) }
            thread.stackSize = 512 << 10
            thread.start()
        }
        _ = try await chain.value
        return (ContinuousClock.now - begun) / .seconds(1)
    }

    private static func poll(_ task: RequestTask<String>, _ rounds: Int) -> RequestTask<String> {
        task.flatMap { _ in rounds <= 1 ? task : poll(task, rounds - 1) }
    }
}
