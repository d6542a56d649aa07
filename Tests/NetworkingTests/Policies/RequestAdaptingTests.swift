import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("Request adapters", .endsInTime)
struct RequestAdaptingTests {
    private func headers(_ adapters: [any RequestAdapter], _ headers: HTTPHeaders = [:]) async throws -> HTTPHeaders {
        var request = HTTPRequest(.get, try #require(URL(string: "https://a.example")), headers: headers)
        try await RequestAdaptingService(adapters).adapt(&request, for: UserEndpoint.open)
        return request.headers
    }

    @Test(
        "Adapters run in order and get the endpoint; the last value is used, even if the case of the name differs",
        .row("R-15"))
    func order() async throws {
        let adapters: [any RequestAdapter] = [
            HeadersAdapter(["X-A": "1"]),
            AdHocAdapter { request, endpoint in request.headers["x-a"] = "\(endpoint.method)" },
        ]
        #expect(try await headers(adapters).map(\.value) == ["GET"])
    }

    @Test("A sensitive field of `HeadersAdapter` goes to the environment's server only, the others go everywhere")
    func sensitive() async throws {
        let stub = StubTransport { _ in .text("") }
        let adapter = HeadersAdapter([HTTPHeader("X-Key", "secret", isSensitive: true), HTTPHeader("X-A", "1")])
        let service = NetworkService(
            environment: Fixture.environment, requestAdaptingService: RequestAdaptingService([adapter])
        ) { $0.transport = stub }
        try await service.request(.get("x"))
        try await service.request(.url("https://other.example/x"))
        #expect(stub.requests.map { $0.headers["X-Key"] } == ["secret", nil])
        #expect(stub.requests.map { $0.headers["X-A"] } == ["1", "1"])
    }

    @Test(
        "Adapters replace headers of the endpoint; adapters with defaults only add headers that are absent",
        .row("R-16"))
    func precedence() async throws {
        #expect(try await headers([HeadersAdapter(["X-A": "2"])], ["X-A": "1"])["X-A"] == "2")
        #expect(try await headers([HeadersAdapter(["X-A": "2"], .keepExisting)], ["X-A": "1"])["X-A"] == "1")
        let filled = try await headers([HeadersAdapter(.standard, .keepExisting)], [.userAgent: "mine"])
        #expect(filled[.userAgent] == "mine" && filled[.acceptLanguage] != nil)
        #expect(
            try await headers([HeadersAdapter([.userAgent(product: "App", version: "3.1")])])[.userAgent]?.hasPrefix(
                "App/3.1 (")
                == true)
    }

    @Test("An own list of adapters keeps the standard fields, which an adapter or an environment without them removes")
    func defaults() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .status(.ok))
        func send(
            _ adapter: any RequestAdapter = HeadersAdapter(["X-A": "1"]), _ environment: NetworkEnvironment? = nil,
            _ endpoint: AdHocEndpoint = .get("items")
        ) async throws -> HTTPHeaders {
            let service = NetworkService(environment: environment ?? Fixture.environment) {
                $0.transport = stub
                $0.requestAdaptingService = RequestAdaptingService([adapter])
            }
            try await service.request(endpoint)
            return try #require(stub.requests.last).headers
        }
        let standard = try await send()
        #expect(standard[.userAgent] == HTTPHeaders.standard[.userAgent] && standard["X-A"] == "1")
        let removed = try await send(AdHocAdapter { request, _ in request.headers[.userAgent] = nil })
        #expect(removed[.userAgent] == nil && removed[.acceptLanguage] != nil)
        let own = NetworkEnvironment(baseURL: Fixture.environment.baseURL, defaultHeaders: ["X-B": "2"])
        #expect(try await send(HeadersAdapter([:]), own)[.userAgent] == nil)
        #expect(try await send(HeadersAdapter([:]), own, .get("items").header("X-B", "3"))["X-B"] == "3")
        let other = try await send(HeadersAdapter([:]), own, .url("https://other.example/items"))
        #expect(other["X-B"] == "2", "other servers get the fields, too")
    }

    @Test("The standard headers are valid")
    func standard() async throws {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example")), headers: .standard)
        #expect(throws: Never.self) { try request.validate() }
    }

    @Test("Adapters run again before every retry, on the original request", .row("R-15"))
    func afresh() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .status(.badGateway), .status(.badGateway), .text("hello"))
        let runs = Box(0)
        let adapter = AdHocAdapter { request, _ in
            runs.change { $0 += 1 }
            #expect(request.headers["X-Run"] == nil)
            request.headers["X-Run"] = "\(runs.value)"
        }
        let service = UserService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([adapter])
            $0.errorHandlingService = ErrorHandlingService([RetryErrorHandler(RetryPolicy(retries: 2))])
        }
        try await service.request(UserEndpoint.open)
        #expect(stub.requests.map { $0.headers["X-Run"] } == ["1", "2", "3"])
    }

    @Test("An error of an adapter goes through the error handlers, and nothing is sent")
    func throwing() async {
        let stub = StubTransport { _ in .status(.ok) }
        let service = UserService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([AdHocAdapter { _, _ in throw UserError.taken }])
        }
        #expect(await Fixture.failure { try await service.request(UserEndpoint.open) } as? UserError == .taken)
        #expect(stub.requests.isEmpty)
    }
}
