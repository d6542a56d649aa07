import Foundation
import Networking
import NetworkingTesting
import Testing

/// The examples of pkrll/Network's documentation. The number after a name is the number of lines there.
@Suite("The examples of pkrll/Network's documentation", .endsInTime)
struct PkrllNetworkExampleTests {
    private let stub = StubTransport()

    @Test("A chain is a service, and a call shows its response or its error")
    func chain() async throws {
        stub.on(.get, "/posts", .text("posts"))
        stub.on(.post, "/some/path", .status(.notFound))
        let (heard, hear) = AsyncStream.makeStream(of: String.self)
        // example.chain 18
        let api = NetworkService(environment: NetworkEnvironment(baseURL: URL(string: "https://a.example"))) {
            $0.transport = stub
        }
        api.request(
            for: AdHocEndpoint.get("posts"), as: .string,
            success: { text in hear.yield(text) },
            failure: { error in hear.yield("\(error)") })
        // example.end
        for await text in heard {
            #expect(text == "posts")
            break
        }
        // example.post 5
        let call = AdHocEndpoint.post("some/path").header("X-API-KEY", "someKey").query("some", "value")
        // example.end
        let error = await #expect(throws: GeneralRequestError.self) { try await api.request(call) }
        #expect(error == .notFound)
        #expect(stub.requests.last?.url.absoluteString == "https://a.example/some/path?some=value")
    }

    @Test("One call replaces the environment, and one call is never throttled")
    func options() async throws {
        stub.on(nil, nil, .status(.ok))
        let base = URL(string: "https://a.example")
        // example.environment 8
        let api = NetworkService(environment: NetworkEnvironment(baseURL: base, pathPrefix: "v1")) {
            $0.transport = stub
        }
        let second = RequestSettings { $0.environment = NetworkEnvironment(baseURL: base, pathPrefix: "v2") }
        // example.end
        try await api.request(.get("some/endpoint"))
        try await api.request(.get("some/endpoint"), with: second)
        #expect(stub.requests.map(\.url.path) == ["/v1/some/endpoint", "/v2/some/endpoint"])
        // example.throttle 9
        let throttled = api.client.with { $0.concurrencyLimit = ConcurrencyLimit(1) }
        let urgent = AdHocEndpoint.get("some/endpoint").settings { $0.admission = .unlimited }
        // example.end
        let hold = AsyncStream.makeStream(of: Void.self)
        stub.on(.post, nil) { _ in
            for await _ in hold.stream { break }
            return .status(.ok)
        }
        let slow = NetworkService(client: throttled).task(.post("slow"), as: .void)
        while stub.requests.count < 3 { await Task.yield() }
        try await NetworkService(client: throttled).request(urgent)
        hold.continuation.yield()
        try await slow.value
        #expect(stub.requests.count == 4)
    }

    @Test("An own operator is an adapter, and the chain is not made by hand")
    func operators() async throws {
        stub.on(nil, nil, .status(.ok))
        // example.operator 6
        let stamp = AdHocAdapter { request, _ in request.headers["X-Stamp"] = "1" }
        // example.end
        // example.assembling 7
        let api = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([stamp])
        }
        // example.end
        try await api.request(.get("x"))
        #expect(stub.requests.last?.headers["X-Stamp"] == "1")
    }
}
