import Foundation
import NetworkingFuzzTargets

/// The inputs of one target.
final class FuzzRun: @unchecked Sendable {  // because only one thread uses it, after it was created
    private let target: FuzzTarget
    private let count: Int
    private let seed: UInt64
    private let report: Report
    private let mutator: FuzzMutator
    /// The time in seconds that an input may take.
    private static let limit = 1.0

    init(of target: FuzzTarget, count: Int, seed: UInt64, _ report: Report) throws {
        (self.target, self.count, self.seed, self.report) = (target, count, seed, report)
        mutator = FuzzMutator(corpus: try FuzzCorpus.inputs(of: target), name: target.name, seed: seed)
    }

    /// Processes the corpus unchanged, then its mutations, up to the first violation. Returns the number of inputs.
    func run() -> Int {
        let begun = ContinuousClock.now
        let note = FuzzNote(target: target.name, seed: seed)
        defer { note.end() }
        var reported = begun
        for number in 0..<count {
            let input = mutator.input(number)
            let started = ContinuousClock.now
            note.begin(number, input)
            if let violation = violation(by: input, since: started) {
                note.end()  // because minimizing a slow input takes longer than the limit for an input
                end(begun, number, input, violation)
                return number + 1
            }
            guard number % 64 == 0, started - reported > .seconds(10) else { continue }
            reported = started
            let rate = Int(Double(number) / ((started - begun) / .seconds(1)))
            report.progress(
                "fuzz \(target.name)", since: begun, "\(number.grouped) of \(count.grouped) inputs, \(rate.grouped)/s")
        }
        report.end("fuzz \(target.name)", since: begun, "\(count) inputs")
        return count
    }

    private func violation(by input: [UInt8], since started: ContinuousClock.Instant) -> String? {
        if let violation = target.violation(by: input) { return violation }
        guard ContinuousClock.now - started > .seconds(FuzzRun.limit) else { return nil }
        // The machine may have been busy. The input counts as slow only if three further runs are also slow.
        for _ in 0..<3 where !isSlow(input) { return nil }
        return "an input takes more than \(FuzzRun.limit) s"
    }

    private func isSlow(_ input: [UInt8]) -> Bool {
        let started = ContinuousClock.now
        _ = target.violation(by: input)
        return ContinuousClock.now - started > .seconds(FuzzRun.limit)
    }

    private func end(_ begun: ContinuousClock.Instant, _ number: Int, _ input: [UInt8], _ violation: String) {
        // An input that violates no rule is reported because it is slow.
        let isRule = target.violation(by: input) != nil
        let small = minimized(input) { isRule ? target.violation(by: $0) != nil : isSlow($0) }
        report.end(
            "fuzz \(target.name)", since: begun, "\(number + 1) inputs",
            violations: [target.violation(by: small) ?? violation],
            history: [
                "seed \(seed), input \(number): \(FuzzNote.escaped(input))", "minimized: \(FuzzNote.escaped(small))",
            ])
    }

    /// Removes pieces of the input, if the shorter input is still a violation. The first pieces are halves, and the
    /// last pieces are single bytes.
    private func minimized(_ input: [UInt8], _ isViolation: ([UInt8]) -> Bool) -> [UInt8] {
        var input = input
        var size = input.count / 2
        let end = ContinuousClock.now + .seconds(20)
        while size > 0, ContinuousClock.now < end {
            var start = 0
            while start < input.count, ContinuousClock.now < end {
                var shorter = input
                shorter.removeSubrange(start..<min(start + size, input.count))
                if isViolation(shorter) { input = shorter } else { start += size }
            }
            size /= 2
        }
        return input
    }
}
