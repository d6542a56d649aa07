import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

/// Threads that only read an object, while others change it. With the thread sanitizer, an access outside a lock is an
/// error, also where the result would be right by chance. A reader uses nothing else that could order its accesses.
@Suite("Objects that several threads use", .endsInTime, .serialized)
struct ManyThreadsTests {
    private static let count = 8_000

    /// Changes an object in two threads, with each number once, while two others read it.
    private func reading(_ isRight: @Sendable () -> Bool, while change: @Sendable (Int) -> Void) {
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var wrong = 0
            for number in stride(from: thread / 2, to: Self.count, by: 2) {
                if thread % 2 == 0 { wrong += isRight() ? 0 : 1 } else { change(number) }
            }
            #expect(wrong == 0)
        }
    }

    @Test("Each background validation that is claimed runs once, and can be claimed again after its end")
    func validations() async {
        let (validations, ran, claimed) = (CacheRevalidations(), Box(0), Box(0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<Self.count {
                        if number % 64 == 0 { await Task.yield() }
                        guard validations.claim("\(number % 100)") else { continue }
                        claimed.change { $0 += 1 }
                        validations.start("\(number % 100)", until: Deadline(after: .seconds(30), on: .continuous)) {
                            ran.change { $0 += 1 }
                        }
                    }
                }
            }
        }
        await validations.reset()
        #expect(claimed.value >= 100)
        #expect(ran.value == claimed.value)
        #expect((0..<100).allSatisfy { validations.claim("\($0)") })
    }

    @Test("A retry budget counts the successes of all threads")
    func budget() {
        let budget = RetryPolicy.Budget(share: 0.5, reserve: 1, capacity: 100_000)
        reading({ budget.balance >= 1 }, while: { _ in budget.earn() })
        #expect(budget.balance == 1 + Double(Self.count) / 2)
    }

    @Test("A gate counts the origins that threads close")
    func gate() throws {
        let gate = BackoffGate()
        let requests = try (0..<Self.count).map { number in
            HTTPRequest(.get, try #require(URL(string: "https://h\(number).example/")))
        }
        reading({ gate.knownOrigins <= Self.count }) { number in
            let head = HTTPResponse(.tooManyRequests, headers: [.retryAfter: "10"], to: requests[number])
            gate.heard(AdmissionPermit(for: head.request.origin), head)
        }
        #expect(gate.knownOrigins > 100)
    }

    @Test("A service of reachability answers while threads start and stop it")
    func reachability() async {
        let clock = ManualClock()
        let service = ReachabilityService(
            probe: StubProbe(.reachable(.ethernetOrWiFi)), interval: .seconds(5), clock: clock.networkClock)
        reading({ service.isReachable }) { number in
            if number % 3 == 0 { service.startMonitoring() } else { service.stopMonitoring() }
        }
        service.stopMonitoring()
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(service.isReachable)
    }

    @Test("A request whose response may be stored stays in the list while others are added and removed")
    func exchanges() throws {
        let cache = ResponseCache(capacity: 1 << 20)
        let asked = try (0...Self.count).map { number in
            let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/\(number)")))
            return try #require(CacheRequest(request, .fresh, .buffered(limit: 1_000)))
        }
        let exchange = cache.begin(asked[Self.count])
        reading({ exchange.isCurrent }) { number in
            let other = cache.begin(asked[number])
            cache.removeResponses(from: asked[number].request.url)
            #expect(!other.isCurrent)
        }
    }

    @Test("A refresh is open until its operation returns, for every task")
    func refresh() async throws {
        for _ in 0..<100 {
            let mark = RefreshMark()
            async let readers: Void = withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { while mark.isOpen { await Task.yield() } } }
            }
            try await mark.run { await Task.yield() }
            await readers
            #expect(!mark.isOpen)
        }
    }
}
