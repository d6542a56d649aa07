import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

/// Several threads use one object at the same time. With the thread sanitizer, an access outside a lock is an error,
/// also where the result would be right by chance.
@Suite("Objects that several threads use", .endsInTime)
struct ManyThreadsTests {
    private func together(_ work: @Sendable (Int) -> Void) {
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<200 { work(thread * 1_000 + round) }
        }
    }

    @Test("Each background validation is claimed once, runs once, and can be claimed again after its end")
    func validations() async {
        let (validations, ran, claimed) = (CacheRevalidations(), Box(0), Box(0))
        together { number in
            let key = "\(number % 1_000)"
            guard validations.claim(key) else { return }
            claimed.change { $0 += 1 }
            validations.start(key) { ran.change { $0 += 1 } }
        }
        await validations.reset()
        #expect(claimed.value >= 200)
        #expect(ran.value == claimed.value)
        #expect((0..<200).allSatisfy { validations.claim("\($0)") })
    }

    @Test("A retry budget counts the successes of all threads")
    func budget() {
        let budget = RetryPolicy.Budget(share: 0.5, reserve: 0, capacity: 10_000)
        together { _ in
            budget.earn()
            #expect(budget.balance > 0)
        }
        #expect(budget.balance == 400)
    }

    @Test("A gate counts the origins that threads close")
    func gate() throws {
        let gate = BackoffGate()
        let requests = try (0..<4_000).map { HTTPRequest(.get, try #require(URL(string: "https://h\($0).example/"))) }
        together { number in
            let head = HTTPResponse(.tooManyRequests, headers: [.retryAfter: "10"], to: requests[number])
            gate.heard(AdmissionPermit(), head)
            #expect(gate.knownOrigins > 0)
        }
        #expect(gate.knownOrigins > 100)
    }

    @Test("A service of reachability is started and stopped by several threads, and read by others")
    func reachability() async {
        let clock = ManualClock()
        let service = ReachabilityService(
            probe: StubProbe(.reachable(.ethernetOrWiFi)), interval: .seconds(5), clock: clock.networkClock)
        together { number in
            if number % 3 == 0 { service.startMonitoring() } else { service.stopMonitoring() }
            #expect(service.isReachable)
        }
        service.stopMonitoring()
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(service.isReachable)
    }

    @Test("A cache in memory knows the exchanges that threads begin and end")
    func exchanges() throws {
        let cache = ResponseCache(capacity: 1 << 20)
        let asked = try (0..<4_000).map { number in
            let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/\(number)")))
            return try #require(CacheRequest(request, .fresh, .buffered(limit: 1_000)))
        }
        together { number in
            let exchange = cache.begin(asked[number])
            #expect(exchange.isCurrent)
            cache.removeResponses(from: asked[number].request.url)
            #expect(!exchange.isCurrent)
        }
    }

    @Test("A refresh is open until its operation returns, for every thread")
    func refresh() async throws {
        let (mark, seen) = (RefreshMark(), Box(0))
        async let readers: Void = withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    while mark.isOpen { await Task.yield() }
                    seen.change { $0 += 1 }
                }
            }
        }
        try await mark.run { for _ in 0..<100 { await Task.yield() } }
        await readers
        #expect(!mark.isOpen && seen.value == 4)
    }
}
