import Foundation
import NetworkingFuzzTargets

/// Processes millions of inputs, each a mutation of an input in the corpus, and checks the rules of their targets.
///
/// An input depends only on the seed, its target and its number. `NetworkingFuzz` runs the same targets with the
/// runtime of the fuzzer, which is guided by coverage.
struct FuzzCheck: Check {
    let name = "fuzz"
    let parts = FuzzTarget.all.map(\.name)

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        let begun = ContinuousClock.now
        var total = 0
        for target in FuzzTarget.all where settings.includes(target.name) {
            let count = settings.count ?? (settings.isQuick ? target.count / 80 : target.count)
            let run = try FuzzRun(of: target, count: count, seed: settings.seed, report)
            total += await withCheckedContinuation { done in
                // A target blocks its thread, so the thread must not be one of the threads that run tasks.
                Thread.detachNewThread {
                    done.resume(returning: run.run())
                }
            }
        }
        FuzzTarget.removeFiles()
        report.progress("fuzz", since: begun, "\(total.grouped) inputs")
    }
}
