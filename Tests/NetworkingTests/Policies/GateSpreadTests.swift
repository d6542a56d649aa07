import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The spread of the back-off gate", .endsInTime)
struct GateSpreadTests {
    private let clock = ManualClock()
    private let log = Box<[String]>([])

    private struct Named: Endpoint {
        let name: String
        var path: EndpointPath { "\(name)" }
    }

    /// Returns a service whose server answers the first requests with `refusals`, and logs the time of each request.
    private func service(
        spread: Double, refusals: [StubResponse], fraction: Double = 0.5,
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        let (clock, log) = (clock, log)
        let stub = StubTransport(clock: clock.networkClock) { request in
            log.change { $0.append("\(request.url.lastPathComponent) \(Int(clock.now.offset / .milliseconds(1)))") }
            return log.value.count <= refusals.count ? refusals[log.value.count - 1] : .text("ok")
        }
        return NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.random = RandomSource(ConstantGenerator(fraction))
            $0.backoffGate = BackoffGate(
                spread: spread, clock: clock.networkClock, random: RandomSource(ConstantGenerator(fraction)))
            configure(&$0)
        }
    }

    private func refusal(_ seconds: Int) -> StubResponse {
        StubResponse(.serviceUnavailable, headers: [.retryAfter: "\(seconds)"])
    }

    @Test(
        "A request that waits leaves at a random time during the spread, and never before the end of the pause",
        arguments: [(0, 10_000), (0.5, 12_500), (0.998, 14_990)] as [(Double, Int)])
    func turn(fraction: Double, expected: Int) async throws {
        let service = service(spread: 0.5, refusals: [refusal(10)], fraction: fraction)
        _ = await Fixture.failure { try await service.request(Named(name: "first")) }
        let task = service.task(Named(name: "second"), as: .void)
        #expect(await clock.advanceToNextSleeper() == .milliseconds(expected))
        try await task.value
        #expect(log.value == ["first 0", "second \(expected)"])
    }

    @Test("If the first request after the pause is refused again, the others wait for the next pause")
    func probe() async throws {
        let service = service(spread: 0.5, refusals: [refusal(10), refusal(20)])
        _ = await Fixture.failure { try await service.request(Named(name: "first")) }
        let waiting = service.task(Named(name: "waiting"), as: .void)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(11))
        // A request that begins after the pause does not wait. It is the probe.
        _ = await Fixture.failure { try await service.request(Named(name: "probe")) }
        clock.advance(by: .milliseconds(1_500))  // the turn after the first pause
        await clock.waitForSleepers()
        #expect(log.value == ["first 0", "probe 11000"])
        #expect(await clock.advanceToNextSleeper() == .milliseconds(31_000 + 5_000 - 12_500))
        try await waiting.value
        #expect(log.value.last == "waiting 36000")
    }

    @Test("A retry after a pause waits for its turn, as calls do that the gate has held")
    func retries() async throws {
        let service = service(spread: 0.5, refusals: [refusal(10)]) { $0.retry = RetryPolicy(retries: 1) }
        let task = service.task(Named(name: "call"), as: .void)
        #expect(await clock.advanceToNextSleeper() == .seconds(10))
        #expect(await clock.advanceToNextSleeper() == .milliseconds(2_500))
        try await task.value
        #expect(log.value == ["call 0", "call 12500"])
    }

    @Test("A call whose deadline is near leaves in the first half of the time that is left")
    func deadline() async throws {
        let service = service(spread: 1, refusals: [refusal(10)])
        _ = await Fixture.failure { try await service.request(Named(name: "first")) }
        let task = service.task(
            Named(name: "hasty"), as: .void, with: RequestSettings { $0.timeouts.total = .seconds(14) })
        await clock.waitForSleepers(2)  // its turn and its deadline
        clock.advance(by: .seconds(11))
        try await task.value
        #expect(log.value == ["first 0", "hasty 11000"])
    }

    @Test("After the spread, and without a spread, a request does not wait, and the gate has no entry for its origin")
    func afterwards() async throws {
        for spread in [0, 0.5] {
            let gate = BackoffGate(spread: spread, clock: clock.networkClock)
            let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
            let origin = try #require(request.origin)
            gate.heard(
                AdmissionPermit(for: origin),
                HTTPResponse(.serviceUnavailable, headers: [.retryAfter: "10"], to: request))
            #expect(gate.tryEnter(request, for: Named(name: "")) == nil)
            clock.advance(by: .seconds(15))
            #expect(gate.tryEnter(request, for: Named(name: "")) != nil)
            #expect(gate.knownOrigins == 0)
        }
    }

    @Test(
        "A spread that is negative or no number is none, and one above 1 is 1",
        arguments: [(-1, 0), (.nan, 0), (-.infinity, 0), (.infinity, 1), (7, 1), (0.25, 0.25)] as [(Double, Double)])
    func badSpreads(spread: Double, expected: Double) {
        #expect(BackoffGate(spread: spread).spread == expected)
    }

    @Test("Pauses and spreads of any length do not overflow", arguments: [0, 0.5, 1] as [Double])
    func longPauses(spread: Double) {
        var machine = GateMachine()
        let longest = Duration.seconds(Int64.max)
        #expect(machine.close(for: longest, atMost: longest, spread: spread, at: .zero) == longest)
        #expect(machine.turn(at: .zero, before: nil, fraction: 1) >= longest)
        #expect(machine.close(for: .seconds(-5), atMost: longest, spread: spread, at: .zero) == nil)
    }
}

/// A generator whose numbers are all the same part of the range.
struct ConstantGenerator: RandomNumberGenerator, Sendable {
    private let number: UInt64

    // `Double.random(in: 0..<1)` is the lowest 53 bits of a number.
    init(_ fraction: Double) { number = UInt64(fraction * 0x1p53) }

    mutating func next() -> UInt64 { number }
}
