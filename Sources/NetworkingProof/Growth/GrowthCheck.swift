import Foundation
import NetworkingFuzzTargets

/// Checks that the processor time and the memory for an input grow in proportion to its size. Each row of ``GrowthRow``
/// is processed at 1, 2, 4 and 8 times a size whose processing takes 20 ms. This size may not be smaller than 4 KiB.
struct GrowthCheck: Check {
    let name = "growth"
    let parts = Array(Set(GrowthRow.all.map { "growth-\($0.target)" })).sorted()

    /// The factor by which the time may grow if the size is doubled.
    private let limit = 2.3
    /// The time of the smallest input.
    private let shortest = Duration.milliseconds(20)
    /// The size below which no input may take that long.
    private let smallest = 4_096
    /// The largest input. A parser that does not need 20 ms for an eighth of it has a limit of its own.
    private let largest = 32 << 20
    /// The time that the largest input may take.
    private let longest = Duration.seconds(5)

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        let begun = ContinuousClock.now
        let rows = GrowthRow.all.filter { settings.includes("growth-\($0.target)") }
        // A target blocks its thread, so the thread must not be one of the threads that run tasks.
        let violations = await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: rows.flatMap { check($0, report, begun) }) }
        }
        FuzzTarget.removeFiles()
        let missing = Set(FuzzTarget.all.map(\.name)).subtracting(GrowthRow.all.map(\.target))
        report.end(
            "growth", since: begun, "\(rows.count) rows, of which \(rows.count { $0.known != nil }) are known to fail",
            violations: violations + missing.sorted().map { "\($0) has no row" })
    }

    private func check(_ row: GrowthRow, _ report: Report, _ begun: ContinuousClock.Instant) -> [String] {
        guard let target = FuzzTarget.all.first(where: { $0.name == row.target }) else {
            return ["\(row.target): there is no such target"]
        }
        let name = "\(row.target), \(row.shape)"
        let faults = faults(of: row, target)
        report.progress(
            "growth", since: begun, "\(name): \(faults.isEmpty ? "linear" : faults.joined(separator: "; "))")
        switch (faults.isEmpty, row.known) {
        case (true, nil): return []
        case (false, nil): return faults.map { "\(name): \($0)" }
        case (false, _?): return []
        case (true, let finding?): return ["\(name): passes, so the mark of \(finding) must be removed"]
        }
    }

    private func faults(of row: GrowthRow, _ target: FuzzTarget) -> [String] {
        var size = 256
        var time = measure(target, row, size)
        while time < shortest {
            guard size < largest / 8 else { return limited(row, target) }
            size *= 2
            time = measure(target, row, size)
        }
        if size < smallest {
            // Another process may have delayed the measurement.
            let time = best(target, row, size)
            if time >= shortest { return ["\(size) bytes take \(text(time))"] }
        }
        // If another process delays a measurement, the row is measured again.
        var growth: [String] = []
        for _ in 0..<3 {
            growth = faults(of: row, target, from: size)
            if growth.isEmpty { break }
        }
        return growth + memory(of: row, target, size * 8)
    }

    /// The three doublings are compared as one, because a size at which the memory no longer fits in a cache of the
    /// processor makes a single doubling slower.
    private func faults(of row: GrowthRow, _ target: FuzzTarget, from size: Int) -> [String] {
        let times = [1, 2, 4, 8].map { best(target, row, size * $0) }
        let ratio = times[3] / times[0]
        guard ratio > limit * limit * limit else { return [] }
        return ["\(size) to \(size * 8) bytes take \(times.map(text).joined(separator: ", "))"]
    }

    /// Checks a parser that ignores or refuses large inputs.
    private func limited(_ row: GrowthRow, _ target: FuzzTarget) -> [String] {
        let time = best(target, row, largest)
        let faults = time <= longest ? [] : ["\(largest) bytes take \(text(time))"]
        return faults + memory(of: row, target, largest)
    }

    private func memory(of row: GrowthRow, _ target: FuzzTarget, _ size: Int) -> [String] {
        let input = row.input(ofSize: size)
        // Without /proc, the memory is not measured.
        guard let most = PeakMemory.during({ _ = target.violation(by: input) }) else { return [] }
        // A part of the memory does not depend on the input: buffers, threads and pages of the allocator.
        let factor = Double(max(most - (8 << 20), 0)) / Double(size)
        return factor <= row.memory
            ? []
            : [
                "\(size) bytes need \(most) bytes of memory, \(text(factor)) times, expected at most \(text(row.memory))"
            ]
    }

    /// The shortest of three measurements.
    private func best(_ target: FuzzTarget, _ row: GrowthRow, _ size: Int) -> Duration {
        (0..<3).map { _ in measure(target, row, size) }.min() ?? .zero
    }

    /// The processor time, which does not depend on other processes.
    private func measure(_ target: FuzzTarget, _ row: GrowthRow, _ size: Int) -> Duration {
        let input = row.input(ofSize: size)
        let begun = processorTime
        _ = target.violation(by: input)
        return .nanoseconds(processorTime - begun)
    }

    /// In nanoseconds, of all threads of the process.
    private var processorTime: Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private func text(_ time: Duration) -> String { "\(Int(time / .milliseconds(1))) ms" }

    private func text(_ number: Double) -> String { number.formatted(.number.precision(.fractionLength(1))) }
}
