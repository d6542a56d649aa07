import Foundation

/// Visits the states that the machines of the library can reach, up to a limit, and compares decisions with tables.
struct ExploreCheck: Check {
    let name = "explore"

    var parts: [String] { all.map(\.name) }

    // .ci/mutants compiles the token machine alone.
    #if EXPLORE_ONLY
        private let all: [ExplorePart] = Self.tokens
    #else
        private let all: [ExplorePart] =
            Self.tokens + Self.circuits + Self.gates + Self.admissions + Self.tasks
            + Self.streams + Self.outboxes + Self.tables
    #endif

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        // At most two parts run at a time. Each runs on one thread.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, part) in all.filter({ settings.includes($0.name) }).enumerated() {
                if number > 1 { try await group.next() }
                group.addTask { await onThread { part.run(report, settings) } }
            }
            try await group.waitForAll()
        }
    }
}

extension ExploreCheck {
    /// Runs a closure on a new thread, because the closure runs the library's tasks on its thread.
    private func onThread(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                work()
                continuation.resume()
            }
            thread.stackSize = 16 << 20
            thread.start()
        }
    }

    /// The states of the token refresh.
    private static let tokens = [
        tokens("tokens-2", .init(isRotatedElsewhere: true), (200_000, .max)),
        tokens("tokens-2-chains", .init(roles: [.first, .behind], isRotatedElsewhere: true), (60_000, .max)),
        tokens("tokens-2-behind", .init(roles: [.behind, .behind], isRotatedElsewhere: true), (60_000, .max)),
        tokens("tokens-2-joined", .init(roles: [.behind, .follower], isRotatedElsewhere: true), (60_000, .max)),
        tokens("tokens-2-nested", .init(roles: [.behind, .nested], isRotatedElsewhere: true), (60_000, .max)),
        tokens("tokens-2-asked", .init(roles: [.first, .asker], isRotatedElsewhere: true), (60_000, .max)),
        tokens("tokens-2-optional", .init(roles: [.first, .optional], isRotatedElsewhere: true), (60_000, .max)),
        tokens("tokens-2-own", .init(roles: [.first, .own], isRotatedElsewhere: true), (60_000, .max)),
        tokens("tokens-2-first", .init(form: .fetchesFirst), (60_000, .max)),
        tokens("tokens-2-fixed", .init(form: .fixed), (60_000, .max)),
        tokens("tokens-2-expiry", .init(lives: [.unknown, .short, .over]), (200_000, .max)),
        tokens(
            "tokens-3", .init(roles: [.first, .first, .first], isRotatedElsewhere: true), (200_000, 12_000_000)),
        tokens("tokens-3-chains", .init(roles: [.behind, .first, .nested]), (60_000, 12_000_000)),
        tokens("tokens-3-joined", .init(roles: [.first, .behind, .follower]), (60_000, 12_000_000)),
        tokens("store-2", .init(hasStore: true), (100_000, .max)),
        tokens("store-2-chains", .init(roles: [.first, .behind], hasStore: true), (60_000, 6_000_000)),
        tokens("store-2-optional", .init(roles: [.first, .optional], hasStore: true), (60_000, 6_000_000)),
        tokens(
            "store-2-failing", .init(hasStore: true, isStoreFailing: true),
            (100_000, 6_000_000)),
        tokens(
            "store-1-shared", .init(roles: [.first], hasStore: true, hasOtherProcesses: true),
            (100_000, 12_000_000)),
        tokens(
            "store-1-rotated",
            .init(roles: [.first], hasStore: true, hasOtherProcesses: true, isRotatedElsewhere: true),
            (100_000, 6_000_000)),
        tokens(
            "store-1-expiry",
            .init(roles: [.first], hasStore: true, hasOtherProcesses: true, lives: [.unknown, .short]),
            (100_000, 6_000_000)),
        tokens(
            "store-2-shared", .init(hasStore: true, hasOtherProcesses: true),
            (100_000, 6_000_000)),
        tokens(
            "store-1-all", .init(roles: [.first], hasStore: true, isStoreFailing: true, hasOtherProcesses: true),
            (100_000, 6_000_000)),
        tokens("store-3", .init(roles: [.first, .first, .first], hasStore: true), (100_000, 11_000_000)),
    ]

    private static func tokens(
        _ name: String, _ options: TokenWorld.Options, _ limits: (quick: Int, full: Int)
    ) -> ExplorePart {
        .world(name, limits: limits) { [true, false].map { TokenWorld(options, beginningWith: $0) } }
    }
}
