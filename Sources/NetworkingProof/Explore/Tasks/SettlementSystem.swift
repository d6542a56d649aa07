import Networking

/// A settlement, and observers that change it when they are notified.
final class SettlementSystem: LiveSystem {
    /// What an observer does when it is notified.
    enum Reaction: UInt8, CaseIterable, Sendable {
        case none, addsObserver, settles
    }

    enum Move: CustomStringConvertible, Sendable {
        case observe(Reaction)
        case succeed, fail, interrupt

        var description: String {
            switch self {
            case .observe(let reaction): "an observer is added; reaction: \(reaction)"
            case .succeed: "the settlement succeeds"
            case .fail: "the settlement fails"
            case .interrupt: "the settlement is interrupted"
            }
        }
    }

    private struct Failure: Error {}

    /// The rules, which the observers share.
    private final class Shared: @unchecked Sendable {  // because one thread uses it
        var rules = SettlementRules()
        /// The reactions of the observers.
        var reactions: [Reaction] = []
    }

    private let settlement = Settlement<Int>()
    private let shared = Shared()
    private let longest: Int

    init(_ longest: Int) {
        self.longest = longest
    }

    var moves: [Move] {
        let isFull = shared.reactions.count >= longest
        return (isFull ? [] : Reaction.allCases.map { .observe($0) }) + [.succeed, .fail, .interrupt]
    }

    func make(_ move: Move) -> [String] {
        shared.rules.faults = []
        switch move {
        case .observe(let reaction): SettlementSystem.add(reaction, to: settlement, shared)
        case .succeed: settle(.success(1))
        case .fail: settle(.failure(Failure()))
        case .interrupt:
            shared.rules.end(with: "\(Interruption.cancelled)")
            settlement.end(with: .cancelled)
        }
        shared.rules.check(
            outcome: settlement.outcome.map(SettlementSystem.name), observers: shared.reactions.count)
        return shared.rules.faults
    }

    private func settle(_ outcome: Settlement<Int>.Outcome) {
        let isFirst = shared.rules.end(with: SettlementSystem.name(outcome))
        let hasWon = settlement.settle(outcome)
        shared.rules.onlyTheFirstSettles(hasWon, isFirst: isFirst)
    }

    private static func name(_ outcome: Settlement<Int>.Outcome) -> String {
        switch outcome {
        case .success(let value): "\(value)"
        case .failure(let error): "\(error)"
        }
    }

    private static func add(_ reaction: Reaction, to settlement: Settlement<Int>, _ shared: Shared) {
        let number = shared.reactions.count
        shared.reactions.append(reaction)
        settlement.observe { outcome in
            shared.rules.hear(number, name(outcome))
            switch reaction {
            case .none: break
            case .addsObserver: add(.none, to: settlement, shared)
            case .settles:
                let hasWon = settlement.settle(.success(2))
                shared.rules.onlyTheFirstSettles(hasWon, isFirst: false)
            }
        }
    }

    func end() -> [String] { [] }

    func write(to key: inout StateKey) {
        key.write(shared.reactions.map(\.rawValue))
        key.write(0xFF)
        key.write(shared.rules.seen.map { UInt8($0.observer) })
        key.write(0xFF)
        key.write(Array((shared.rules.first ?? "").utf8))
    }
}

extension ExploreCheck {
    /// The states of settlements, and of tasks that are interested in other tasks.
    static let tasks: [ExplorePart] = [
        .world("settlement") { [ReplayedWorld<SettlementSystem>(5)] },
        .world("interest", limits: (8_000, 150_000)) { [ReplayedWorld<TaskSystem>(.init(tasks: 4))] },
        .world("interest-chains", limits: (8_000, 150_000)) {
            [ReplayedWorld<TaskSystem>(.init(calls: 2, tasks: 5, hasOwnObservers: false))]
        },
        .world("interest-tracks", limits: (8_000, 150_000)) {
            [ReplayedWorld<TaskSystem>(.init(calls: 2, tasks: 4, hasOwnObservers: false, attempts: 2))]
        },
        .world("interest-itself", limits: (8_000, 150_000)) {
            [ReplayedWorld<TaskSystem>(.init(calls: 1, tasks: 5, hasOwnObservers: false, hasLaterTasks: true))]
        },
    ]
}
