/// The outcomes of a scenario as text: one line for each policy, then the load in each second.
struct FleetTable: CustomStringConvertible {
    private let scenario: FleetScenario
    private let outcomes: [FleetOutcome]
    private let width = 15

    init(_ scenario: FleetScenario, _ outcomes: [FleetOutcome]) {
        self.scenario = scenario
        self.outcomes = outcomes
    }

    var description: String {
        let range = "\(scenario.seconds.lowerBound) to \(scenario.seconds.upperBound) s"
        return (["", "\(scenario.name), \(range); loads as multiples of the normal load"] + summary + [""] + bySecond)
            .joined(separator: "\n")
    }

    private var summary: [String] {
        let titles = [
            "policy", "mean in fault", "peak in fault", "peak after", "requests/call", "failed calls", "all served in",
            "streams ended", "streams/s",
        ]
        return [line(titles)]
            + outcomes.map { outcome in
                line([
                    outcome.policy, outcome.mean(in: scenario.seconds).times,
                    outcome.peak(in: scenario.seconds).times,
                    outcome.peak(in: scenario.restored..<scenario.length).times, outcome.requestsPerCall.times,
                    (Double(outcome.failures) / Double(outcome.calls) * 100).times + " %",
                    outcome.secondsToServeAll.map { "\($0.times) s" } ?? "never", outcome.endedStreams.grouped,
                    (outcome.mostOpened(in: scenario.restored..<scenario.length) * 100).times + " %",
                ])
            }
    }

    /// The load in each second. Consecutive equal lines are combined into one line.
    private var bySecond: [String] {
        var lines = [line(["second"] + outcomes.map(\.policy))]
        var begun = 0
        for second in 0..<scenario.length where second + 1 == scenario.length || loads(second + 1) != loads(begun) {
            lines.append(line([second == begun ? "\(second)" : "\(begun)-\(second)"] + loads(begun)))
            begun = second + 1
        }
        return lines
    }

    private func loads(_ second: Int) -> [String] {
        outcomes.map { outcome in
            let tenths = (Double(outcome.load[second]) / Double(outcome.normal) * 10).rounded()
            return "\(tenths / 10)"
        }
    }

    private func line(_ columns: [String]) -> String {
        columns.enumerated().map { index, text in
            let space = String(repeating: " ", count: max(width - text.count, 1))
            return index == 0 ? text + space : space + text
        }.joined()
    }
}
