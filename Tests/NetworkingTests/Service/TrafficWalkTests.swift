import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Runs 100,000 calls with seeded random events: limits, duplicates, cancellations, retries and resets together.
@Suite("Random walks with limits, duplicates, cancellations and resets", .endsInTime)
struct TrafficWalkTests {
    /// A transport that responds after a few yields and sometimes fails. If the call is cancelled, the wait ends.
    private struct HesitantTransport: Transport {
        let random: RandomSource
        let isBusy = Box(0)

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            isBusy.change { $0 += 1 }
            defer { isBusy.change { $0 -= 1 } }
            var random = random
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                await Task.yield()
                try Task.checkCancellation()
            }
            switch Int.random(in: 0..<20, using: &random) {
            case 0: throw NetworkError(.connectionLostBeforeHead)
            case 1: return HTTPResponse(.serviceUnavailable, to: request)
            default: return HTTPResponse(.ok, content: .data(Data("x".utf8)), to: request)
            }
        }
    }

    private struct Item: Endpoint {
        let id: Int
        let settings: RequestSettings
        var path: EndpointPath { "items/\(id)" }
        var baseURL: URL { URL(string: "https://host\(id % 2).example") ?? NetworkEnvironment.noBaseURL }
    }

    private static let choices: [DuplicateRequestPolicy.Choice] = [
        .join, .replace, .keepFirst, .keepLatest, .allow, .share { _ in }, .replace { _ in },
    ]

    /// The number of calls for each seed. With a sanitizer there are fewer calls, because each step is slower.
    private static let calls = ProcessInfo.processInfo.environment["SANITIZER"] == nil ? 12_500 : 625

    @Test("Permits are released, no call waits forever, and no call completes twice", arguments: 0..<8)
    func walk(seed: Int) async throws {
        let random = RandomSource(SeededGenerator(seed: UInt64(seed)))
        let transport = HesitantTransport(random: random)
        let limit = ConcurrencyLimit(3, total: 5)
        let policy = DuplicateRequestPolicy { _, _ in
            var random = random
            return Self.choices.randomElement(using: &random) ?? .allow
        }
        let service = NetworkService(environment: NetworkEnvironment()) {
            $0.concurrencyLimit = limit
            $0.backoffGate = BackoffGate(longest: .zero)
            $0.circuitBreaker = CircuitBreaker(failureRatio: 0.9)
            $0.retry = RetryPolicy(retries: 2)
            $0.duplicates = policy
            $0.retry?.budget = RetryPolicy.Budget()
            $0.transport = transport
        }
        let answers = Box(0)
        let lanes = 25
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var random = random
                    for _ in 0..<(Self.calls / lanes) { await step(service, answers, &random) }
                    if lane == 0 { await service.reset() }
                }
            }
        }
        await service.reset()
        // A transfer with an observer can outlive its calls. The transfer releases its permit after the transport has
        // returned.
        while transport.isBusy.value > 0 || limit.activeCount > 0 { await Task.yield() }
        #expect(answers.value == Self.calls / lanes * lanes)
        #expect(limit.waiterCount == 0)
        #expect(service.client.calls.count == 0)
    }

    /// Makes one call with a random event.
    private func step(_ service: NetworkService, _ answers: Box<Int>, _ random: inout RandomSource) async {
        let priority = HTTPRequest.Priority(Int.random(in: -1...1, using: &random))
        let item = Item(
            id: Int.random(in: 0..<4, using: &random), settings: RequestSettings { $0.priority = priority })
        let fate = Int.random(in: 0..<100, using: &random)
        switch fate {
        case 0:
            await service.reset()
            _ = await Fixture.failure { try await service.request(item) }
        case 1:
            service.cancelAll { ($0 as? Item)?.id == item.id }
            _ = await Fixture.failure { try await service.request(item) }
        case 2..<30:
            // The call is observed only through its callback, which must run once.
            let task = service.task(item, as: .string)
            let isAnswered = Settlement<Void>()
            let count = Box(0)
            task.onCompletion(on: .global()) { _ in
                count.change { $0 += 1 }
                isAnswered.settle(.success(()))
            }
            for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
            if fate < 20 { task.cancel() }
            try? await isAnswered.value()
            #expect(count.value == 1)
        default:
            _ = await Fixture.failure { try await service.request(item) }
        }
        answers.change { $0 += 1 }
    }
}
