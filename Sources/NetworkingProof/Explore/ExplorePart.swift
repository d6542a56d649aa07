/// A part of ``ExploreCheck``: one world, or one table.
struct ExplorePart: Sendable {
    /// The name on the command line.
    let name: String
    let run: @Sendable (Report, ProofSettings) -> Void
}

extension ExplorePart {
    /// A part that visits the states of a world.
    ///
    /// - Parameters:
    ///   - limits: The number of states after which the exploration stops, in a quick run and in a full run.
    ///   - initial: Creates the states in which the exploration begins.
    static func world<Explored: World>(
        _ name: String, limits: (quick: Int, full: Int) = (.max, .max), _ initial: @escaping @Sendable () -> [Explored]
    ) -> ExplorePart {
        ExplorePart(name: name) { report, settings in
            let begun = ContinuousClock.now
            let limit = settings.count ?? (settings.isQuick ? limits.quick : limits.full)
            var exploration = Exploration(from: initial(), limit: limit)
            exploration.run { now in
                report.progress(
                    "explore \(name)", since: begun,
                    "depth \(now.depth), \(now.states.grouped) states, \(now.moves.grouped) moves")
            }
            let extent = exploration.isComplete ? "complete" : "breadth first to depth \(exploration.depth)"
            if !exploration.isComplete { report.skipStates(of: name) }
            let violation = exploration.violation
            report.end(
                "explore \(name)", since: begun,
                "\(exploration.states.grouped) states, \(exploration.moves.grouped) moves, \(extent)",
                violations: violation.map { [$0.rule] } ?? [], history: violation?.history ?? [])
        }
    }
}
