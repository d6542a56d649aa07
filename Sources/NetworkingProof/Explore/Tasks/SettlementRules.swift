/// The rules of a settlement, and the facts that they need, recorded independently of the settlement. The name of a
/// rule is the name of its function.
struct SettlementRules {
    /// The outcomes of which observers have been notified, in order.
    private(set) var seen: [(observer: Int, outcome: String)] = []
    /// The first outcome.
    private(set) var first: String?
    /// The broken rules of the last move.
    var faults: [String] = []

    private mutating func expect(_ isTrue: Bool, _ text: String, rule: String = #function) {
        if !isTrue { faults.append("\(rule.prefix { $0 != "(" }): \(text)") }
    }

    /// An observer is notified of an outcome.
    mutating func hear(_ observer: Int, _ outcome: String) { seen.append((observer, outcome)) }

    /// An outcome is about to be set. Returns whether it is the first one.
    @discardableResult
    mutating func end(with outcome: String) -> Bool {
        defer { first = first ?? outcome }
        return first == nil
    }

    /// Checks the state after a move.
    mutating func check(outcome: String?, observers: Int) {
        theFirstOutcomeWins(outcome)
        everyObserverHearsOnce(observers)
        observersHearInOrder()
    }

    /// Only the first call that sets an outcome succeeds.
    mutating func onlyTheFirstSettles(_ hasWon: Bool, isFirst: Bool) {
        expect(hasWon == isFirst, "the \(isFirst ? "first" : "later") call of settle returns \(hasWon)")
    }

    /// The outcome is the first outcome that was set, and does not change.
    private mutating func theFirstOutcomeWins(_ outcome: String?) {
        expect(outcome == first, "the outcome is \(outcome ?? "nil"), the first was \(first ?? "nil")")
    }

    /// Each observer is notified once, with the outcome. No observer is notified before the settlement has an outcome.
    private mutating func everyObserverHearsOnce(_ observers: Int) {
        for observer in 0..<observers {
            let heard = seen.filter { $0.observer == observer }.map(\.outcome)
            expect(heard == (first.map { [$0] } ?? []), "observer \(observer + 1) is notified with \(heard)")
        }
    }

    /// Observers are notified in the order in which they were added.
    private mutating func observersHearInOrder() {
        let order = seen.map(\.observer)
        expect(order == order.sorted(), "the order is \(order.map { $0 + 1 })")
    }
}
