import Foundation
import NetworkingFuzzTargets

/// The time and the memory that inputs of one shape need.
struct GrowthMeasurement {
    let row: GrowthRow
    let target: FuzzTarget
    /// The time of the smallest input.
    let shortest: Duration

    /// The factor by which the time may grow if the size is doubled.
    private let limit = 2.3
    /// The time that each 1,024 bytes may take, in addition to 2 ms for the whole input.
    private let slowest = Duration.milliseconds(8)
    /// The size of the largest input. If a parser needs less than the shortest time for an eighth of this size, only
    /// this size is measured.
    private var largest: Int { Int(shortest / .milliseconds(1)) * 400 << 10 }
    /// The time that the largest input may take in this case.
    private var longest: Duration { shortest * 12 }

    init(row: GrowthRow, target: FuzzTarget, shortest: Duration) {
        (self.row, self.target, self.shortest) = (row, target, shortest)
    }

    /// The time and the memory that a row needs.
    struct Result {
        /// What grows too fast.
        var faults: [String] = []
        /// The size of the largest input, and the time that it needs.
        var size = 0
        var time = Duration.zero
        /// The memory, as a multiple of the size; nil where memory cannot be measured.
        var memory: Double?

        /// The time for 1 MiB, and the memory.
        var figures: String {
            let time = GrowthMeasurement.text(time * Double(1 << 20) / Double(max(size, 1)))
            return "\(time) for 1 MiB" + (memory.map { ", \(GrowthMeasurement.text($0)) times the memory" } ?? "")
        }
    }

    /// Measures the row.
    func result() -> Result {
        var size = 256
        var time = measure(size)
        while time < shortest {
            guard size < largest / 8 else { return limited() }
            size *= 2
            time = measure(size)
        }
        let expected = .milliseconds(2) + slowest * size / 1_024
        if time > expected, best(size) > expected {
            return Result(faults: ["\(size) bytes take \(GrowthMeasurement.text(time))"], size: size, time: time)
        }
        // If another process delays a measurement, the row is measured again.
        var result = Result(size: size * 8)
        for _ in 0..<3 {
            (result.faults, result.time) = growth(from: size)
            if result.faults.isEmpty { break }
        }
        return measuringMemory(result)
    }

    /// The three doublings are judged together, because a single doubling is slower if the memory no longer fits in a
    /// cache of the processor.
    private func growth(from size: Int) -> (faults: [String], longest: Duration) {
        let times = [1, 2, 4, 8].map { best(size * $0) }
        let ratio = times[3] / times[0]
        guard ratio > limit * limit * limit else { return ([], times[3]) }
        let words = times.map(GrowthMeasurement.text).joined(separator: ", ")
        return (["\(size) to \(size * 8) bytes take \(words)"], times[3])
    }

    /// Checks a parser that is fast, or that ignores or refuses large inputs.
    private func limited() -> Result {
        let time = best(largest)
        let faults = time <= longest ? [] : ["\(largest) bytes take \(GrowthMeasurement.text(time))"]
        return measuringMemory(Result(faults: faults, size: largest, time: time))
    }

    private func measuringMemory(_ result: Result) -> Result {
        var result = result
        let input = row.input(ofSize: result.size)
        // Without /proc, the memory is not measured.
        guard let most = PeakMemory.during({ _ = target.violation(by: input) }) else { return result }
        // A part of the memory does not depend on the input: buffers, threads and pages of the allocator.
        let factor = Double(max(most - (8 << 20), 0)) / Double(result.size)
        result.memory = factor
        if factor > row.memory {
            let (found, expected) = (GrowthMeasurement.text(factor), GrowthMeasurement.text(row.memory))
            result.faults.append(
                "\(result.size) bytes need \(most) bytes of memory, \(found) times, expected at most \(expected)")
        }
        return result
    }

    /// The shortest of three measurements.
    private func best(_ size: Int) -> Duration {
        (0..<3).map { _ in measure(size) }.min() ?? .zero
    }

    /// The processor time, which does not depend on other processes.
    private func measure(_ size: Int) -> Duration {
        let input = row.input(ofSize: size)
        let begun = processorTime
        _ = target.violation(by: input)
        return .nanoseconds(processorTime - begun)
    }

    /// The processor time of all threads of the process, in nanoseconds.
    private var processorTime: Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private static func text(_ time: Duration) -> String { "\(Int(time / .milliseconds(1))) ms" }

    private static func text(_ number: Double) -> String { number.formatted(.number.precision(.fractionLength(1))) }
}
