import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Retry budgets", .endsInTime)
struct RetryBudgetTests {
    @Test("A budget starts with its reserve; each success adds the share, up to the capacity; each retry takes 1")
    func balance() {
        let budget = RetryPolicy.Budget(share: 0.1, reserve: 1, capacity: 2)
        #expect(budget.spend() && !budget.spend())
        for _ in 0..<9 { budget.earn() }
        #expect(!budget.spend())
        budget.earn()
        #expect(budget.spend() && !budget.spend())
        for _ in 0..<1_000 { budget.earn() }
        #expect(budget.balance == 2)
    }

    @Test("A server error and 429 add nothing; every other response adds the share")
    func earnings() {
        for (status, added) in [(200, 0.1), (404, 0.1), (429, 0), (500, 0), (503, 0)] {
            let budget = RetryPolicy.Budget(share: 0.1, reserve: 0)
            budget.record(HTTPStatus(status))
            #expect(budget.balance == added, "\(status)")
        }
    }

    @Test("Invalid shares and sizes are clamped")
    func limits() {
        let budget = RetryPolicy.Budget(share: -1, reserve: -5, capacity: -5)
        budget.earn()
        #expect(budget.balance == 0 && !budget.spend())
        #expect(RetryPolicy.Budget(share: 9, reserve: 20, capacity: 10).capacity == 20)
        #expect(RetryPolicy.Budget(share: 9).share == 1)
        let empty = RetryPolicy.Budget(share: 1, reserve: 0, capacity: 0)
        empty.earn()
        #expect(!empty.spend())
    }

    @Test("A success fills the budget even if the request of the response is not the request that was sent")
    func redirected() async throws {
        struct Elsewhere: Transport {
            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                HTTPResponse(.ok, headers: [], content: .data(Data()), to: HTTPRequest(.get, request.url))
            }
        }
        let budget = RetryPolicy.Budget(reserve: 0)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = Elsewhere()
            $0.retry = .standard
            $0.retry?.budget = budget
        }
        try await service.request(.get("a"))
        #expect(budget.balance > 0)
    }

    @Test("`never` turns retries off for a call or an endpoint; nil uses the policy of the service")
    func never() async throws {
        let stub = StubTransport { _ in .status(.serviceUnavailable) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.retry = RetryPolicy(retries: 2)
        }
        let error =
            await Fixture.failure {
                try await service.request(.get("a").settings { $0.retry = .never })
            } as? NetworkError
        #expect(stub.requests.count == 1)
        #expect(error?.retryDecision?.reason == "the policy allows no retries")
        _ = await Fixture.failure { try await service.request(.get("a").settings { $0.retry = nil }) }
        #expect(stub.requests.count == 4)
    }

    @Test("In an outage of 60 s, the load is below 1.2 times the normal load with a budget, and about 3 times without")
    func outage() {
        var simulation = OutageSimulation(clients: 10_000)
        let without = simulation.run()
        simulation.budget = { RetryPolicy.Budget() }
        let with = simulation.run()
        #expect(with.amplification < 1.2)
        #expect(with.amplification > 1.05, "the budget pays for some retries")
        #expect(without.amplification > 2.9)
        #expect(with.load[..<60].allSatisfy { $0 == 10_000 })
    }
}
