import Foundation

/// Prints progress to standard error, and one line for each result to standard output.
final class Report: @unchecked Sendable {  // because of the lock around every variable
    private struct Line: Encodable {
        let check: String
        let result: String
        let violations: Int
        let seconds: Double
    }

    private let lock = NSLock()
    private let isJSON: Bool
    private var failures: [String] = []
    private var skipped: [String] = []
    /// The worlds of which not all states were visited.
    private var incomplete: [String] = []

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    /// The number of violations in all results.
    var failureCount: Int { lock.withLock { failures.count } }

    /// Prints the progress of a check.
    func progress(_ check: String, since begun: ContinuousClock.Instant, _ text: String) {
        write("\(check): \(text), \(Int((ContinuousClock.now - begun) / .seconds(1))) s\n", to: .standardError)
    }

    /// Prints the result of a check, its violations, and the moves before a violation.
    func end(
        _ check: String, since begun: ContinuousClock.Instant, _ result: String, violations: [String] = [],
        history: [String] = []
    ) {
        let seconds = (ContinuousClock.now - begun) / .seconds(1)
        let line = Line(
            check: check, result: result, violations: violations.count, seconds: (seconds * 10).rounded() / 10)
        lock.withLock { failures += violations.map { "\(check): \($0)" } }
        if isJSON {
            let text = (try? JSONEncoder().encode(line)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            write(text + "\n", to: .standardOutput)
        } else {
            let end = violations.count == 1 ? "1 violation" : "\(violations.count) violations"
            write("\(check): \(result), \(end) (\(line.seconds) s)\n", to: .standardOutput)
        }
        for violation in violations { write("    \(violation)\n", to: .standardError) }
        for (number, step) in history.enumerated() { write("    \(number + 1). \(step)\n", to: .standardError) }
    }

    /// Notes that something is not checked.
    func skip(_ what: String) {
        lock.withLock { skipped.append(what) }
    }

    /// Notes that not all states of a world are visited.
    func skipStates(of world: String) {
        lock.withLock { incomplete.append(world) }
    }

    /// Prints what the run has not checked, and what no check can show on this machine, and then the violations again.
    /// With `--json`, prints what was not checked.
    func end(_ settings: ProofSettings, without others: [String]) {
        var missing: [String] = lock.withLock { others + skipped }
        let incomplete: [String] = lock.withLock { self.incomplete.sorted() }
        if !incomplete.isEmpty { missing.append("further states of \(incomplete.joined(separator: ", "))") }
        if !settings.parts.isEmpty {
            missing.append("the parts other than \(settings.parts.sorted().joined(separator: ", "))")
        }
        if settings.isQuick { missing.append("the sizes of a full run") }
        if !missing.isEmpty {
            text("Not checked by this run: \(missing.joined(separator: "; ")).")
            row(["notChecked": missing])
        }
        text(
            "Not checked by any run: Apple platforms; networks other than 127.0.0.1; a loss of power; a wall clock that "
                + "jumps; more threads than this machine has cores.")
        for failure in lock.withLock({ failures }) { text("FAILED \(failure)") }
    }

    /// Prints text, such as a table. With `--json`, nothing is printed.
    func text(_ text: String) {
        if !isJSON { write(text + "\n", to: .standardOutput) }
    }

    /// Prints measured values as a line of JSON. Without `--json`, nothing is printed.
    func row(_ row: some Encodable) {
        guard isJSON, let text = try? JSONEncoder().encode(row) else { return }
        write(String(decoding: text, as: UTF8.self) + "\n", to: .standardOutput)
    }

    private func write(_ text: String, to file: FileHandle) {
        file.write(Data(text.utf8))
    }
}

extension Int {
    /// The number with separators: `1234567` becomes `1,234,567`.
    var grouped: String {
        var text = ""
        for (index, digit) in String(self).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
