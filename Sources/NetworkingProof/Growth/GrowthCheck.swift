import Foundation
import NetworkingFuzzTargets

/// Checks that the processor time and the memory for an input grow in proportion to its size. Each row of ``GrowthRow``
/// is processed at 1, 2, 4 and 8 times a base size, whose processing takes 20 ms, or 2 ms in a quick run. Each 1,024
/// bytes may take 8 ms.
struct GrowthCheck: Check {
    let name = "growth"
    let parts = Array(Set(GrowthRow.all.map { "growth-\($0.target)" })).sorted()

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        let begun = ContinuousClock.now
        let shortest = Duration.milliseconds(settings.isQuick ? 2 : 20)
        let rows = GrowthRow.all.filter { settings.includes("growth-\($0.target)") }
        // A target blocks its thread, so the thread must not be one of the threads that run tasks.
        let violations = await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: rows.flatMap { check($0, shortest, report, begun) }) }
        }
        FuzzTarget.removeFiles()
        let missing = Set(FuzzTarget.all.map(\.name)).subtracting(GrowthRow.all.map(\.target))
        report.end(
            "growth", since: begun, "\(rows.count) rows, of which \(rows.count { $0.known != nil }) are known to fail",
            violations: violations + missing.sorted().map { "\($0) has no row" })
    }

    private func check(
        _ row: GrowthRow, _ shortest: Duration, _ report: Report, _ begun: ContinuousClock.Instant
    ) -> [String] {
        guard let target = FuzzTarget.all.first(where: { $0.name == row.target }) else {
            return ["\(row.target): there is no such target"]
        }
        let name = "\(row.target), \(row.shape)"
        let result = GrowthMeasurement(row: row, target: target, shortest: shortest).result()
        let faults = result.faults
        let words = faults.isEmpty ? "linear, \(result.figures)" : faults.joined(separator: "; ")
        report.progress("growth", since: begun, "\(name): \(words)")
        switch (faults.isEmpty, row.known) {
        case (true, nil): return []
        case (false, nil): return faults.map { "\(name): \($0)" }
        case (false, _?): return []
        case (true, let finding?): return ["\(name): passes, so the mark of \(finding) must be removed"]
        }
    }
}
