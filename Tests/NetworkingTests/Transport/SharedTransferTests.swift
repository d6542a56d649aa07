import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Shared transfers", .endsInTime)
struct SharedTransferTests {
    private struct Search: Endpoint {
        var path: EndpointPath { "search" }
        var authorizationType: AuthorizationType { .none }
    }

    /// A transport that runs `work` before it responds to a search.
    private struct Nesting: Transport {
        let service = Box<NetworkService?>(nil)
        var base: any Transport = StubTransport { _ in .text("x") }
        var work: @Sendable (NetworkService) async throws -> Void = { try await $0.request(UserEndpoint.open) }

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            guard request.url.path.hasSuffix("search"), let service = service.value else {
                return try await base.send(request, delivering: delivery)
            }
            try await work(service)
            return HTTPResponse(.ok, content: .data(Data("x".utf8)), to: request)
        }

        /// Calls `use` with a service that uses this transport.
        func serving(
            _ policy: DuplicateRequestPolicy = .always(.join), limit: ConcurrencyLimit = ConcurrencyLimit(),
            clock: NetworkClock = Fixture.stillClock, _ use: (NetworkService) async throws -> Void
        ) async throws {
            let made = NetworkService(environment: Fixture.environment) {
                $0.transport = self
                $0.duplicates = policy
                $0.concurrencyLimit = limit
                $0.backoffGate = nil
                $0.clock = clock
            }
            service.change { $0 = made }
            defer { service.change { $0 = nil } }
            try await use(made)
        }
    }

    @Test("With a limit of one, a nested call does not wait for the permit of its outer call", .endsInTime)
    func nested() async throws {
        try await Nesting().serving(limit: ConcurrencyLimit(1)) { service in
            let text = try await service.request(Search(), as: .string)
            #expect(text == "x")
        }
    }

    @Test(
        "If the call that began a transfer ends, its nested call continues for the other calls of the transfer",
        .endsInTime,
        arguments: [false, true])
    func nestedWithoutBeginner(byDeadline: Bool) async throws {
        let clock = ManualClock()
        let manual = ManualTransport()
        let joined = Box(0)
        let limit = ConcurrencyLimit(2)
        let policy = DuplicateRequestPolicy { _, _ in
            joined.change { $0 += 1 }
            return .join
        }
        try await Nesting(base: manual).serving(policy, limit: limit, clock: clock.networkClock) { service in
            let settings = RequestSettings { $0.timeouts.total = .seconds(3) }
            let first = service.task(Search(), as: .string, with: settings)
            await manual.waitForRequests()
            let second = service.task(Search(), as: .string)
            while joined.value < 1 || limit.activeCount > 1 { await Task.yield() }
            if byDeadline {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(3))
            } else {
                first.cancel()
            }
            #expect(await Fixture.failure { _ = try await first.value } != nil)
            #expect(manual.endedCount == 0)
            #expect(limit.activeCount == 1)
            manual.answer()
            let text = try await second.value
            #expect(text == "x")
            while limit.activeCount > 0 { await Task.yield() }
        }
    }

    @Test("A reset from inside a transfer does not end the call that started the transfer", .endsInTime)
    func reset() async throws {
        try await Nesting(work: { await $0.reset() }).serving { service in
            let text = try await service.request(Search(), as: .string)
            #expect(text == "x")
        }
    }

    @Test("A reset from a nested call does not end the nested call or the outer call", .endsInTime)
    func resetFromNested() async throws {
        struct Resetting: Transport {
            let service: Box<NetworkService?>

            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                await service.value?.reset()
                return HTTPResponse(.ok, to: request)
            }
        }
        var nesting = Nesting()
        nesting.base = Resetting(service: nesting.service)
        try await nesting.serving { service in
            let text = try await service.request(Search(), as: .string)
            #expect(text == "x")
        }
    }

    @Test(
        "The failure of a transfer is reported to the policies that admitted its caller",
        arguments: [DuplicateRequestPolicy.Choice.allow, .join])
    func failure(_ decision: DuplicateRequestPolicy.Choice) async throws {
        let breaker = CircuitBreaker(minimumCalls: 3, clock: Fixture.stillClock)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in throw NetworkError(.cannotConnect) }
            $0.duplicates = .always(decision)
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [breaker]
        }
        for _ in 0..<3 {
            #expect(await Fixture.failure { try await service.request(Search()) } != nil)
        }
        let origin = try #require(Fixture.environment.baseURL.flatMap(HTTPOrigin.init))
        #expect(breaker.state(of: origin) == .open)
    }

    @Test("If a transfer is cancelled before it starts, nothing is sent")
    func abandoned() async throws {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        let key = try #require(DuplicateKey(request, delivering: .buffered(limit: .max), hashingCredentials: true))
        let stub = StubTransport { _ in StubResponse(.ok) }
        let caller = SharedTransfer.Caller(beginning: key, in: RunningTransfers())
        caller.transfer.cancel("replaced")
        caller.transfer.begin(on: stub)
        #expect(stub.requests.isEmpty)
    }
}
