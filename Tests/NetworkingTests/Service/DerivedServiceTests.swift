import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Derived and shared services", .endsInTime)
struct DerivedServiceTests {
    private struct Item: Endpoint {
        var path: EndpointPath = "item"
        var method = HTTPMethod.get
        var headers: HTTPHeaders = []
        var idempotencyKey = IdempotencyKey.none
        var authorizationType = AuthorizationType.none
        var settings = RequestSettings()
    }

    @Test("A derived client differs in the changed settings and shares the rest")
    func derived() async throws {
        let stub = StubTransport { _ in .text("ok") }
        let client = NetworkClient(environment: Fixture.environment) {
            $0.transport = stub
            $0.cookies = CookieJar()
        }
        let other = client.with {
            $0.environment = NetworkEnvironment(baseURL: URL(string: "https://media.example.com"))
        }
        try await NetworkService(client: other).request(.get("film"))
        #expect(stub.requests.last?.url.absoluteString == "https://media.example.com/film")
        #expect(other.configuration.cookies === client.configuration.cookies)
        #expect(other.configuration.concurrencyLimit === client.configuration.concurrencyLimit)
        #expect(other.configuration.backoffGate === client.configuration.backoffGate)
        try await NetworkService(client: client).request(.get("film"))
        #expect(stub.requests.last?.url.host() == "api.example.com")
    }

    @Test("The default gate of a configuration uses its clock, and a new clock does not replace a custom gate")
    func gateClock() {
        let clock = ManualClock()
        var configuration = NetworkConfiguration()
        let first = configuration.backoffGate
        configuration.clock = clock.networkClock
        #expect(configuration.backoffGate !== first)
        let own = BackoffGate()
        configuration.backoffGate = own
        configuration.clock = .continuous
        #expect(configuration.backoffGate === own)
        configuration.backoffGate = nil
        configuration.clock = clock.networkClock
        #expect(configuration.backoffGate == nil)
    }

    @Test("Services that are created from one configuration share its concurrency limit and its back-off gate")
    func shared() async throws {
        let configuration = NetworkConfiguration(environment: Fixture.environment)
        let identities = (0..<2).map { _ in
            let client = NetworkClient(configuration: configuration)
            let limit = client.admission.policies.compactMap { $0 as? ConcurrencyLimit }.first
            let gate = client.admission.policies.compactMap { $0 as? BackoffGate }.first
            return [limit.map(ObjectIdentifier.init), gate.map(ObjectIdentifier.init)]
        }
        #expect(identities[0] == identities[1])
        #expect(!identities[0].contains(nil))
    }

    @Test(
        "A call or an endpoint can set a whole environment; the environment of the call overrides the others",
        .row("P-06"))
    func environments() async throws {
        let stub = StubTransport { _ in .text("ok") }
        func environment(_ host: String, _ header: String) -> NetworkEnvironment {
            NetworkEnvironment(
                baseURL: URL(string: "https://\(host).example"), pathPrefix: "v\(header)", headers: ["X-Env": header],
                query: ["env": header])
        }
        let service = NetworkService(environment: environment("service", "1")) { $0.transport = stub }
        let ofEndpoint = RequestSettings { $0.environment = environment("endpoint", "2") }
        let ofCall = RequestSettings { $0.environment = environment("call", "3") }
        try await service.request(Item())
        try await service.request(Item(settings: ofEndpoint))
        try await service.request(Item(settings: ofEndpoint), with: ofCall)
        #expect(
            stub.requests.map(\.url.absoluteString) == [
                "https://service.example/v1/item?env=1", "https://endpoint.example/v2/item?env=2",
                "https://call.example/v3/item?env=3",
            ])
        #expect(stub.requests.map { $0.headers["X-Env"] } == ["1", "2", "3"])
        #expect(service.client.configuration.environment.headers["X-Env"] == "1")
    }

    @Test("The headers of a request override the headers of the environment")
    func headers() async throws {
        let stub = StubTransport { _ in .text("ok") }
        let environment = NetworkEnvironment(baseURL: Fixture.environment.baseURL, headers: ["X-A": "environment"])
        let service = NetworkService(environment: environment) { $0.transport = stub }
        try await service.request(Item(headers: ["x-a": "own"]))
        #expect(stub.requests[0].headers.values(for: "X-A") == ["own"])
    }

    @Test("Two identical requests need two permits, and both calls complete")
    func sameTwice() async throws {
        let transport = ManualTransport()
        let limit = ConcurrencyLimit(5)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
        }
        let item = Item()
        let tasks = (0..<2).map { _ in service.task(item, as: .string) }
        await transport.waitForRequests(2)
        #expect(limit.activeCount == 2)
        for _ in tasks { transport.answer(.ok, "x") }
        for task in tasks { #expect(try await task.value == "x") }
        #expect(limit.activeCount == 0)
    }

    @Test("The number of active calls never exceeds the limit")
    func neverTooMany() async throws {
        let limit = ConcurrencyLimit(3)
        let highest = Box((now: 0, most: 0))
        struct Counting: Transport {
            let highest: Box<(now: Int, most: Int)>
            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                highest.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                for _ in 0..<3 { await Task.yield() }
                highest.change { $0.now -= 1 }
                return HTTPResponse(.ok, to: request)
            }
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = Counting(highest: highest)
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
        }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<500 {
                let task = service.task(Item(), as: .void)
                group.addTask {
                    if index % 7 == 0 { task.cancel() }
                    _ = await Fixture.failure { try await task.value }
                }
            }
        }
        #expect(highest.value.most == 3)
    }
}
