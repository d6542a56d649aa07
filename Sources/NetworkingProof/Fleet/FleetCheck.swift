import Foundation

/// Simulates outages of a server with a million clients. Each run adds one part to the policy of the clients. Checks
/// that the whole policy limits the load and that every client is served again.
struct FleetCheck: Check {
    let name = "fleet"
    var parts: [String] { FleetScenario.all.map(\.name) }

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        let count = settings.count ?? (settings.isQuick ? 20_000 : 1_000_000)
        var plot = FleetPlot(clients: count)
        for scenario in FleetScenario.all where settings.includes(scenario.name) {
            let begun = ContinuousClock.now
            let outcomes = await outcomes(of: scenario, count, report, settings)
            for outcome in outcomes { report.row(outcome) }
            report.text(FleetTable(scenario, outcomes).description)
            plot.add(scenario, outcomes)
            let violations = await violations(of: scenario, outcomes, settings)
            let requests = outcomes.reduce(0) { $0 + $1.load.reduce(0, +) }
            report.end(
                "fleet \(scenario.name)", since: begun,
                "\(count.grouped) clients, \(outcomes.count) policies, \(requests.grouped) requests, "
                    + "seed \(settings.seed)",
                violations: violations)
        }
        if let file = settings.plot { try plot.svg.write(toFile: file, atomically: true, encoding: .utf8) }
    }

    /// Runs a scenario with each policy. At most two runs are in progress at a time; each uses one thread.
    private func outcomes(
        of scenario: FleetScenario, _ count: Int, _ report: Report, _ settings: ProofSettings
    ) async -> [FleetOutcome] {
        let begun = ContinuousClock.now
        return await withTaskGroup(of: (Int, FleetOutcome).self) { group in
            var outcomes: [Int: FleetOutcome] = [:]
            func note(_ ended: (Int, FleetOutcome)?) {
                guard let ended else { return }
                outcomes[ended.0] = ended.1
                report.progress(
                    "fleet \(scenario.name)", since: begun,
                    "\(ended.1.policy) done, \(outcomes.count) of \(scenario.policies.count) policies")
            }
            for (number, policy) in scenario.policies.enumerated() {
                if number > 1 { note(await group.next()) }
                group.addTask { (number, await run(scenario, policy, count, settings.seed)) }
            }
            while let ended = await group.next() { note(ended) }
            return outcomes.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private func run(
        _ scenario: FleetScenario, _ policy: FleetPolicy, _ count: Int, _ seed: UInt64
    ) async -> FleetOutcome {
        var run = await FleetRun(scenario, policy, clients: count, seed: seed)
        return run.run()
    }

    private func violations(
        of scenario: FleetScenario, _ outcomes: [FleetOutcome], _ settings: ProofSettings
    ) async -> [String] {
        var found: [String] = []
        for (policy, outcome) in zip(scenario.policies, outcomes) where scenario.isChecked(policy) {
            found += scenario.limits(for: policy).violations(of: outcome, in: scenario)
            // A smaller run shows whether equal seeds give equal results.
            let few = min(outcome.clients, 20_000)
            let first = await run(scenario, policy, few, settings.seed)
            let second = await run(scenario, policy, few, settings.seed)
            if first != second { found.append("\(policy.name): two runs with the same seed differ") }
        }
        for outcome in outcomes where outcome.endedStreams > 0 {
            found.append("\(outcome.policy): \(outcome.endedStreams.grouped) event streams ended with an error")
        }
        for outcome in outcomes {
            let last = outcome.mean(in: scenario.length - 20..<scenario.length)
            if last < 0.85 { found.append("\(outcome.policy): the load at the end is \(last.times), expected 1") }
            let lost = outcome.calls - outcome.ended
            if lost != 0 { found.append("\(outcome.policy): \(lost.grouped) calls did not end, or ended twice") }
        }
        let worst =
            zip(scenario.policies, outcomes).filter { !$0.0.isWhole }
            .map { $0.1.peak(in: 0..<scenario.length) }.max() ?? 0
        if worst < scenario.contrast {
            found.append("the highest load without the whole policy is \(worst.times), expected \(scenario.contrast)")
        }
        return found
    }
}

extension FleetScenario.Limits {
    /// Returns the limits that the outcome of the whole policy exceeds.
    func violations(of outcome: FleetOutcome, in scenario: FleetScenario) -> [String] {
        var found: [String] = []
        func demand(_ name: String, _ value: Double, atMost limit: Double) {
            if value > limit { found.append("\(outcome.policy): \(name) is \(value.times), expected at most \(limit)") }
        }
        demand("the mean load during the fault", outcome.mean(in: scenario.seconds), atMost: mean)
        demand("the peak after the fault", outcome.peak(in: scenario.restored..<scenario.length), atMost: peak)
        demand("the number of requests for each call", outcome.requestsPerCall, atMost: requests)
        demand(
            "the part of the event streams that open in a second",
            outcome.mostOpened(in: scenario.restored..<scenario.length), atMost: streams)
        if let served = outcome.secondsToServeAll {
            demand("the time in seconds until every client is served", served, atMost: Double(seconds))
        } else {
            found.append("\(outcome.policy): some clients are never served again")
        }
        return found
    }
}

extension Double {
    /// The number with two decimals.
    var times: String { formatted(.number.precision(.fractionLength(2)).locale(Locale(identifier: "en_US_POSIX"))) }
}
