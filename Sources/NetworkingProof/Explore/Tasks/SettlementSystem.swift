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

    private struct Seen: Equatable {
        let observer: Int
        let outcome: String
    }

    private final class Facts: @unchecked Sendable {  // because one thread uses it
        var seen: [Seen] = []
        var added = 0
        /// The reactions of the observers.
        var reactions: [Reaction] = []
        /// The outcomes for which `settle` has returned true to an observer.
        var won: [String] = []
        /// The first outcome.
        var first: String?
    }

    private let settlement = Settlement<Int>()
    private let facts = Facts()
    private var faults: [String] = []
    private let longest: Int

    init(_ longest: Int) {
        self.longest = longest
    }

    var moves: [Move] {
        let isFull = facts.reactions.count >= longest
        return (isFull ? [] : Reaction.allCases.map { .observe($0) }) + [.succeed, .fail, .interrupt]
    }

    func make(_ move: Move) -> [String] {
        faults = []
        switch move {
        case .observe(let reaction): SettlementSystem.add(reaction, to: settlement, facts)
        case .succeed: settle(.success(1))
        case .fail: settle(.failure(Failure()))
        case .interrupt:
            facts.first = facts.first ?? "\(Interruption.cancelled)"
            settlement.end(with: .cancelled)
        }
        theFirstOutcomeWins()
        everyObserverHearsOnce()
        observersHearInOrder()
        return faults
    }

    private func settle(_ outcome: Settlement<Int>.Outcome) {
        let name = SettlementSystem.name(outcome)
        let isFirst = facts.first == nil
        facts.first = facts.first ?? name
        let hasWon = settlement.settle(outcome)
        expect(
            hasWon == isFirst, "the \(isFirst ? "first" : "later") call of settle returns \(hasWon)",
            rule: "onlyTheFirstSettles")
    }

    private static func name(_ outcome: Settlement<Int>.Outcome) -> String {
        switch outcome {
        case .success(let value): "\(value)"
        case .failure(let error): "\(error)"
        }
    }

    private static func add(_ reaction: Reaction, to settlement: Settlement<Int>, _ facts: Facts) {
        let number = facts.reactions.count
        facts.reactions.append(reaction)
        settlement.observe { outcome in
            facts.seen.append(Seen(observer: number, outcome: name(outcome)))
            switch reaction {
            case .none: break
            case .addsObserver: add(.none, to: settlement, facts)
            case .settles: if settlement.settle(.success(2)) { facts.won.append("2") }
            }
        }
    }

    private func expect(_ isTrue: Bool, _ text: String, rule: String = #function) {
        if !isTrue { faults.append("\(rule.prefix { $0 != "(" }): \(text)") }
    }

    /// The outcome is the first outcome that was set, and does not change.
    private func theFirstOutcomeWins() {
        let outcome = settlement.outcome.map(SettlementSystem.name)
        expect(outcome == facts.first, "the outcome is \(outcome ?? "nil"), the first was \(facts.first ?? "nil")")
        expect(facts.won.isEmpty, "an observer has settled again", rule: "onlyTheFirstSettles")
    }

    /// Each observer is notified once, with the outcome. No observer is notified before the settlement has an outcome.
    private func everyObserverHearsOnce() {
        for observer in facts.reactions.indices {
            let heard = facts.seen.filter { $0.observer == observer }.map(\.outcome)
            expect(heard == (facts.first.map { [$0] } ?? []), "observer \(observer + 1) is notified with \(heard)")
        }
    }

    /// Observers are notified in the order in which they were added.
    private func observersHearInOrder() {
        let order = facts.seen.map(\.observer)
        expect(order == order.sorted(), "the order is \(order.map { $0 + 1 })")
    }

    func end() -> [String] { [] }

    func write(to key: inout StateKey) {
        key.write(facts.reactions.map(\.rawValue))
        key.write(0xFF)
        key.write(facts.seen.map { UInt8($0.observer) })
        key.write(0xFF)
        key.write(Array((facts.first ?? "").utf8))
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
