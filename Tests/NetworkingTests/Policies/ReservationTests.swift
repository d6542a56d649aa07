import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Permits of several limits", .endsInTime)
struct ReservationTests {
    private func request(_ host: String = "a.example", _ option: RequestSettings.Admission = .required) throws
        -> HTTPRequest
    {
        var request = HTTPRequest(.get, try #require(URL(string: "https://\(host)/")))
        request.admission = option
        return request
    }

    /// Enters and leaves the policies while `isRunning` returns true, and returns the number of rounds.
    private func lane(_ policies: [any AdmissionPolicy], while isRunning: @Sendable () -> Bool) async throws -> Int {
        var rounds = 0
        let request = try self.request()
        while isRunning() {
            let admitted = try await Admission(policies).enter(request, for: UserEndpoint.open)
            await Task.yield()
            admitted.end(.notSent)
            rounds += 1
        }
        return rounds
    }

    /// Returns a value that a round of calls causes. If the system stops the thread of a call for some time, other
    /// calls continue, and the value is too high. The round is therefore repeated, at most twice.
    private func lowest(below bound: Int, _ round: () async throws -> Int) async throws -> Int {
        var value = try await round()
        for _ in 0..<2 where value >= bound { value = min(value, try await round()) }
        return value
    }

    @Test("If two limits are busy, a call that needs a permit of each limit waits for a bounded number of other calls")
    func twoLimits() async throws {
        // Each of the twenty calls waits only for the calls that began to wait earlier: at most twelve at each limit,
        // and the nineteen other calls.
        let bound = 20 * (12 + 12 + 20)
        #expect(try await lowest(below: bound) { try await roundsAtTwoLimits() } < bound)
    }

    /// Returns how often calls of one limit were admitted while twenty calls waited for both limits.
    private func roundsAtTwoLimits() async throws -> Int {
        let (first, second) = (ConcurrencyLimit(4), ConcurrencyLimit(4))
        let left = Box(20)
        let rounds = try await withThrowingTaskGroup(of: Int.self) { group in
            for limit in [first, second] {
                for _ in 0..<12 { group.addTask { try await self.lane([limit]) { left.value > 0 } } }
            }
            for _ in 0..<20 {
                let request = try self.request()
                group.addTask {
                    let admitted = try await Admission([first, second]).enter(request, for: UserEndpoint.open)
                    await Task.yield()
                    admitted.end(.notSent)
                    left.change { $0 -= 1 }
                    return 0
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(left.value == 0)
        #expect(first.activeCount == 0 && second.activeCount == 0)
        return rounds
    }

    /// A gate that closes at random and opens after a few yields.
    private struct ChanceGate: AdmissionPolicy {
        let random: RandomSource

        func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
            var random = random
            return Int.random(in: 0..<8, using: &random) == 0 ? nil : AdmissionPermit()
        }

        func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async -> AdmissionPermit {
            for _ in 0..<3 { await Task.yield() }
            return AdmissionPermit()
        }

        func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}
    }

    @Test(
        "With any limits and gates, under any load, no call waits forever behind calls of its priority",
        arguments: 0..<6)
    func anyLimits(seed: Int) async throws {
        // In each of the four queues, at most 24 calls are ahead of a call. This applies again each time that the gate
        // refuses the call, because the call then returns its permits and enters all policies again.
        let bound = 24 * 4 * 4
        #expect(try await lowest(below: bound) { try await mostOvertaken(seed) } < bound, "seed \(seed)")
    }

    /// Returns how many calls ended at most while one call waited.
    private func mostOvertaken(_ seed: Int) async throws -> Int {
        let random = RandomSource(SeededGenerator(seed: UInt64(seed)))
        let limits = (0..<4).map { ConcurrencyLimit($0 + 1, total: $0 == 3 ? 3 : nil) }
        let gate = ChanceGate(random: random)
        let calls = Box((begun: 0, ended: 0, mostOvertaken: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<24 {
                let request = try self.request()
                group.addTask {
                    var random = random
                    for _ in 0..<50 {
                        let own = limits.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
                        let isGated = Bool.random(using: &random)
                        var policies: [any AdmissionPolicy] = isGated ? [gate] : []
                        for limit in own { policies.append(limit) }
                        let begun = calls.value.ended
                        let admitted = try await Admission(policies).enter(request, for: UserEndpoint.open)
                        calls.change { $0.mostOvertaken = max($0.mostOvertaken, $0.ended - begun) }
                        for _ in 0..<Int.random(in: 0...2, using: &random) { await Task.yield() }
                        calls.change { $0.ended += 1 }
                        admitted.end(.notSent)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(calls.value.ended == 24 * 50)
        for limit in limits { #expect(limit.activeCount == 0 && limit.waiterCount == 0) }
        return calls.value.mostOvertaken
    }

    @Test("A request that stops waiting for one of two limits returns the permit of the other limit")
    func stopped() async throws {
        let limits = [ConcurrencyLimit(1), ConcurrencyLimit(1)]
        let policies: [any AdmissionPolicy] = (0..<5).map { _ in BackoffGate() } + limits
        let request = try request()
        var permits: [Int] = []
        for full in limits {
            let permit = try #require(full.tryEnter(request, for: UserEndpoint.open))
            let waiting = Task { try await Admission(policies).enter(request, for: UserEndpoint.open).end(.notSent) }
            while full.waiterCount == 0 { await Task.yield() }
            permits.append(limits.map(\.activeCount).reduce(0, +))
            waiting.cancel()
            await #expect(throws: Interruption.cancelled) { try await waiting.value }
            #expect(limits.map(\.activeCount).reduce(0, +) == 1 && full.waiterCount == 0)
            full.leave(permit, .notSent)
        }
        #expect(permits.sorted() == [1, 2], "the limits are entered in a fixed order")
    }

    @Test("A waiter that returns to a queue gets its earlier position in the queue")
    func keepsItsPlace() {
        var line = WaitingLine<String>()
        for (number, name) in [(1, "a"), (2, "b"), (5, "e")] { line.insert(name, number: UInt64(number)) }
        #expect(line.popFirst() == "a")
        line.insert("d", number: 4)
        line.insert("a", number: 1)
        #expect(line.first == 1)
        #expect((0..<4).map { _ in line.popFirst() } == ["a", "b", "d", "e"])
        #expect(line.popFirst() == nil && line.count == 0)
    }
}
