/// Compares the decisions of the library with the rows of a table, for all combinations of the inputs.
struct Table: Sendable {
    /// A case in which the library and the table differ.
    struct Difference: Sendable {
        /// The row of the table that applies.
        let row: String
        let text: String
    }

    private(set) var cases = 0
    private(set) var differences: [Difference] = []

    /// Compares one decision.
    ///
    /// - Parameter text: The inputs as text. The closure is called only if the decisions differ.
    mutating func expect<Value: Equatable>(
        _ found: Value, _ expected: Value, row: String, _ text: @autoclosure () -> String
    ) {
        cases += 1
        guard found != expected, differences.count < 20 else { return }
        differences.append(Difference(row: row, text: "\(text()): expected \(expected), found \(found)"))
    }
}

extension ExplorePart {
    /// A part that fills a table.
    static func table(_ name: String, _ fill: @escaping @Sendable (inout Table, ProofSettings) -> Void) -> ExplorePart {
        ExplorePart(name: name) { report, settings in
            let begun = ContinuousClock.now
            var table = Table()
            fill(&table, settings)
            report.end(
                "explore \(name)", since: begun, "\(table.cases.grouped) states, complete",
                violations: table.differences.map { "\($0.row): \($0.text)" })
        }
    }
}

/// Returns all pairs of an element of the first list and an element of the second list.
func pairs<First, Second>(_ first: [First], _ second: [Second]) -> [(First, Second)] {
    first.flatMap { one in second.map { (one, $0) } }
}
