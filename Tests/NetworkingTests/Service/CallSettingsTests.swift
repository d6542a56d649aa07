import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("Adapters, observers and redirects of one call", .endsInTime)
struct CallSettingsTests {
    private struct Signed: Endpoint {
        let path: EndpointPath = "items"
        var settings: RequestSettings { RequestSettings { $0.adapters = [HeadersAdapter(["X-Level": "endpoint"])] } }
    }

    private func service(
        _ stub: StubTransport, _ configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = Fixture.stillClock
            configure(&$0)
        }
    }

    private func stub(_ responses: StubResponse...) -> StubTransport {
        let stub = StubTransport()
        for response in responses.isEmpty ? [.status(.ok)] : responses { stub.on(nil, nil, response) }
        return stub
    }

    @Test("The adapters of a call run after those of the service; a call's list replaces the endpoint's")
    func adapters() async throws {
        let stub = stub()
        let service = service(stub) {
            $0.requestAdaptingService = RequestAdaptingService([HeadersAdapter(["X-Level": "service", "X-A": "1"])])
            $0.settings.adapters = [HeadersAdapter(["X-Level": "settings"])]
        }
        try await service.request(.get("items"))
        try await service.request(Signed())
        let own = RequestSettings {
            $0.adapters = [AdHocAdapter { request, _ in request.headers["X-Level"]? += "+call" }]
        }
        try await service.request(Signed(), with: own)
        #expect(stub.requests.map { $0.headers["X-Level"] } == ["settings", "endpoint", "service+call"])
        #expect(stub.requests.allSatisfy { $0.headers["X-A"] == "1" && $0.headers.contains(.userAgent) })
    }

    @Test("An adapter of a call sees the token, and a signature covers it after a refresh, too")
    func signature() async throws {
        let stub = StubTransport { $0.headers[.authorization] == "Bearer new" ? .status(.ok) : .status(.unauthorized) }
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        let signer = AdHocAdapter { request, _ in
            request.headers["X-Signature"] = "\(request.target) \(request.headers[.authorization] ?? "none")"
        }
        try await service.request(.get("items").authorized().settings { $0.adapters = [signer] }.query("a", "b c"))
        #expect(
            stub.requests.map { $0.headers["X-Signature"] } == [
                "/v1/items?a=b%20c Bearer old", "/v1/items?a=b%20c Bearer new",
            ])
    }

    @Test("A call's adapter that changes the origin removes the token")
    func otherOrigin() async throws {
        let stub = stub()
        let session = AccessTokenSupervisor(token: AccessToken("secret"), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        let url = try #require(URL(string: "https://other.example/x"))
        try await service.request(
            .get("items").authorized().settings { $0.adapters = [AdHocAdapter { request, _ in request.url = url }] })
        #expect(stub.requests.map { $0.headers.contains(.authorization) } == [false])
    }

    @Test("Adapters see the number of the attempt")
    func attempts() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .status(.badGateway), .status(.badGateway), .status(.ok))
        let service = service(stub) {
            $0.retry = RetryPolicy(retries: 5)
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in request.headers["X-Attempt"] = "\(request.attempt)" }
            ])
        }
        try await service.request(.get("items"))
        #expect(stub.requests.map { $0.headers["X-Attempt"] } == ["1", "2", "3"])
        #expect(stub.requests.map(\.attempt) == [1, 2, 3])
    }

    @Test("A closure is an adapter that may wait and throw, and an error handler")
    func closures() async throws {
        struct Refused: Error {}
        struct Stopped: Error {}
        let stub = stub()
        let service = service(stub) {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, endpoint in
                    await Task.yield()
                    request.headers["X-Path"] = endpoint.urlTemplate
                    if request.method == .delete { throw Refused() }
                }
            ])
            $0.errorHandlingService = ErrorHandlingService([
                AdHocErrorHandler { $0.error is Refused ? .fail(Stopped()) : .next($0.error) }
            ])
        }
        try await service.request(.get("items"))
        #expect(stub.requests.first?.headers["X-Path"] == "/items")
        let error = await Fixture.failure { try await service.request(.delete("items")) }
        #expect(error is Stopped && stub.requests.count == 1)
    }

    @Test("A synchronous closure also adapts the request of a stored response")
    func stored() async throws {
        let stub = stub(.text("x", headers: [.cacheControl: "max-age=60", .vary: "X-Language"]))
        let service = service(stub) {
            $0.cache = ResponseCache(clock: Fixture.stillClock)
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in request.headers["X-Language"] = "en" }
            ])
        }
        let value: String = try await service.request(.get("items"))
        #expect(value == "x" && service.cachedResponse(.get("items"), as: .string)?.value == "x")
    }

    @Test("The observers of a call get its events after those of the service, and no events of other calls")
    func observers() async throws {
        let order = Box<[String]>([])
        struct Named: RequestObserver {
            let name: String
            let order: Box<[String]>

            func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
                if case .finished = event { order.change { $0.append("\(name) \(call.endpoint.path)") } }
            }
        }
        let service = service(stub()) { $0.observers = [Named(name: "service", order: order)] }
        try await service.request(.get("a").settings { $0.observers = [Named(name: "call", order: order)] })
        try await service.request(.get("b"))
        #expect(order.value == ["service a", "call a", "service b"])
    }

    @Test("A call follows, changes and stops redirects by its own policy")
    func redirects() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/old", .status(.found, headers: [.location: "/v1/new?a=1"]))
        stub.on(.get, "/v1/new", .text("new"))
        let service = service(stub) { $0.redirects = .ignore }
        func send(_ policy: RedirectPolicy?) async throws -> Response<String> {
            try await service.response(
                .get("old").settings {
                    $0.redirects = policy
                    $0.validators = []
                }, as: .string)
        }
        #expect(try await send(nil).http.status == .found)
        #expect(try await send(.follow(limit: 1)).value == "new")
        let changed = try await send(
            .deciding { next, response in
                var next = next
                next.headers["X-From"] = response.request.target
                try? next.append(query: ["b": 2])
                return next
            })
        #expect(changed.value == "new" && stub.requests.last?.target == "/v1/new?a=1&b=2")
        #expect(stub.requests.last?.headers["X-From"] == "/v1/old")
        let stopped = try await send(.deciding { _, _ in nil })
        #expect(stopped.http.status == .found && stopped.http.headers[.location] == "/v1/new?a=1")
        let error = await Fixture.failure { _ = try await send(.follow(limit: 0)) }
        #expect((error as? NetworkError)?.kind == .tooManyRedirects)
    }

    @Test("A policy takes no user to another origin, and does not lead from https to http")
    func redirectWithUser() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/old", .status(.found, headers: [.location: "/v1/new"]))
        stub.on(.get, "/v1/new", .text("x"))
        func send(_ change: @escaping @Sendable (inout URLComponents) -> Void) async throws {
            let base = NetworkEnvironment(baseURL: URL(string: "https://ada:pw@api.example.com/v1"))
            let service = NetworkService(environment: base) {
                $0.transport = stub
                $0.redirects = .deciding { next, _ in
                    var (next, parts) = (next, URLComponents(url: next.url, resolvingAgainstBaseURL: true))
                    if var changed = parts {
                        change(&changed)
                        parts = changed
                    }
                    next.url = parts?.url ?? next.url
                    return next
                }
            }
            try await service.request(.get("old"))
        }
        try await send { $0.path = "/v1/new" }
        #expect(stub.requests.last?.url.absoluteString == "https://ada:pw@api.example.com/v1/new")
        try await send { $0.host = "other.example" }
        #expect(stub.requests.last?.url.absoluteString == "https://other.example/v1/new")
        let error = await Fixture.failure { try await send { $0.scheme = "http" } }
        #expect((error as? NetworkError)?.kind == .redirectRefused)
    }

    @Test("Calls with different policies for redirects do not share a response")
    func redirectsOfDuplicates() async throws {
        let (transport, compared) = (ManualTransport(), Box(0))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.duplicates = DuplicateRequestPolicy { _, _ in
                compared.change { $0 += 1 }
                return .join
            }
        }
        func begin(_ policy: RedirectPolicy?) -> RequestTask<String> {
            service.task(.get("x").settings { $0.redirects = policy }, as: .string)
        }
        let policy = RedirectPolicy.deciding { next, _ in next }
        var tasks = [begin(policy)]
        await transport.waitForRequests(1)
        tasks.append(begin(policy))
        while compared.value < 1 { await Task.yield() }  // it has joined the first call
        tasks += [begin(.follow(limit: 3)), begin(nil)]
        await transport.waitForRequests(3)
        for _ in 0..<3 { transport.answer(.ok, "x") }
        for task in tasks { #expect(try await task.value == "x") }
        #expect(transport.count == 3)
    }

    @Test("A policy that sends a redirect to another origin does not take secrets there")
    func redirectToOtherOrigin() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/old", .status(.found, headers: [.location: "/v1/new"]))
        stub.on(.get, "/elsewhere", .text("x"))
        let url = try #require(URL(string: "https://other.example/elsewhere"))
        let service = service(stub) {
            $0.redirects = .deciding { _, _ in HTTPRequest(.get, url, headers: ["X-Own": "1"]) }
        }
        try await service.request(.get("old").header(.authorization, "Bearer secret").header("X-Api-Key", "key"))
        let last = try #require(stub.requests.last)
        #expect(last.url == url && last.headers["X-Own"] == "1")
        #expect(!last.headers.contains(.authorization) && !last.headers.contains("X-Api-Key"))
        let kept = service.client.with {
            $0.redirects = .deciding { next, _ in
                var next = next
                next.url = url
                return next
            }
        }
        try await NetworkService(client: kept).request(.get("old").header(.authorization, "Bearer secret"))
        #expect(stub.requests.last?.url == url && stub.requests.last?.headers.contains(.authorization) == false)
    }
}
