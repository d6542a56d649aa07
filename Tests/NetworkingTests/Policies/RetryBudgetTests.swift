import Networking
import NetworkingTesting
import Testing

@Suite("Retry budgets")
struct RetryBudgetTests {
    @Test(
        "A budget begins with its reserve, earns its share, saves up to its capacity, and pays while there is something"
    )
    func balance() {
        let budget = RetryBudget(share: 0.1, reserve: 1, capacity: 2)
        #expect(budget.spend() && !budget.spend())
        for _ in 0..<9 { budget.earn() }
        #expect(!budget.spend())
        budget.earn()
        #expect(budget.spend() && !budget.spend())
        for _ in 0..<1_000 { budget.earn() }
        #expect(budget.balance == 2)
    }

    @Test("Shares and sizes that make no sense are made to fit")
    func limits() {
        let budget = RetryBudget(share: -1, reserve: -5, capacity: -5)
        budget.earn()
        #expect(budget.balance == 0 && !budget.spend())
        #expect(RetryBudget(share: 9, reserve: 20, capacity: 10).capacity == 20)
        #expect(RetryBudget(share: 9).share == 1)
    }

    @Test(
        "10,000 clients, three attempts, a server that fails for 60 s: under 1.2 of the normal load with a budget, 3 without"
    )
    func outage() {
        var simulation = OutageSimulation(clients: 10_000)
        let without = simulation.run()
        simulation.budget = { RetryBudget() }
        let with = simulation.run()
        #expect(with.amplification < 1.2)
        #expect(with.amplification > 1.05, "a budget that pays nothing would be no budget")
        #expect(without.amplification > 2.9)
        #expect(with.load[..<60].allSatisfy { $0 == 10_000 })
    }
}
