/// Visits the states that the token machine can reach with callers, jobs, a store and other processes, up to a limit.
struct ExploreCheck: Check {
    let name = "explore"

    private struct Part {
        let name: String
        let options: TokenWorld.Options
        /// The number of states after which to stop, in a quick run and in a full one.
        let limits: (quick: Int, full: Int)
    }

    var parts: [String] { worlds.map(\.name) }

    private let worlds = [
        Part(name: "tokens-2", options: .init(isRotatedElsewhere: true), limits: (200_000, .max)),
        Part(name: "tokens-2-expiry", options: .init(lives: [.unknown, .short, .over]), limits: (200_000, .max)),
        Part(name: "tokens-3", options: .init(callers: 3, isRotatedElsewhere: true), limits: (200_000, 12_000_000)),
        Part(name: "store-2", options: .init(hasStore: true), limits: (100_000, .max)),
        Part(
            name: "store-2-failing", options: .init(hasStore: true, isStoreFailing: true),
            limits: (100_000, 6_000_000)),
        Part(
            name: "store-1-shared", options: .init(callers: 1, hasStore: true, hasOtherProcesses: true),
            limits: (100_000, .max)),
        Part(
            name: "store-1-rotated",
            options: .init(callers: 1, hasStore: true, hasOtherProcesses: true, isRotatedElsewhere: true),
            limits: (100_000, 6_000_000)),
        Part(
            name: "store-1-expiry",
            options: .init(callers: 1, hasStore: true, hasOtherProcesses: true, lives: [.unknown, .short]),
            limits: (100_000, 6_000_000)),
        Part(
            name: "store-2-shared", options: .init(hasStore: true, hasOtherProcesses: true),
            limits: (100_000, 6_000_000)),
        Part(
            name: "store-1-all",
            options: .init(callers: 1, hasStore: true, isStoreFailing: true, hasOtherProcesses: true),
            limits: (100_000, 6_000_000)),
        Part(name: "store-3", options: .init(callers: 3, hasStore: true), limits: (100_000, 11_000_000)),
    ]

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        // At most two parts run at a time. Each runs on one thread.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, part) in worlds.filter({ settings.includes($0.name) }).enumerated() {
                if number > 1 { try await group.next() }
                group.addTask { explore(part, report, settings) }
            }
            try await group.waitForAll()
        }
    }

    private func explore(_ part: Part, _ report: Report, _ settings: ProofSettings) {
        let begun = ContinuousClock.now
        let limit = settings.count ?? (settings.isQuick ? part.limits.quick : part.limits.full)
        let initial = [true, false].map { TokenWorld(part.options, beginningWith: $0) }
        var exploration = Exploration(from: initial, limit: limit)
        exploration.run { now in
            report.progress(
                "explore \(part.name)", since: begun,
                "depth \(now.depth), \(now.states.grouped) states, \(now.moves.grouped) moves")
        }
        let extent = exploration.isComplete ? "complete" : "breadth first to depth \(exploration.depth)"
        let violation = exploration.violation
        report.end(
            "explore \(part.name)", since: begun,
            "\(exploration.states.grouped) states, \(exploration.moves.grouped) moves, \(extent)",
            violations: violation.map { [$0.rule] } ?? [], history: violation?.history ?? [])
    }
}
