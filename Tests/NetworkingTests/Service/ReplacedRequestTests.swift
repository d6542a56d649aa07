import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Requests with which a handler lets a call go on", .endsInTime)
struct ReplacedRequestTests {
    private let clock = ManualClock()
    private let stub = StubTransport()

    private func mirror(_ url: URL?) -> URL? {
        var components = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }
        components?.host = "mirror.example"
        return components?.url
    }

    @Test("A request of an earlier attempt that is sent to a mirror later carries nothing that was meant for home")
    func earlierAttempt() async throws {
        stub.on(nil, nil, .status(.serviceUnavailable))
        let session = AccessTokenSupervisor(token: AccessToken("SECRET"), clock: clock.networkClock) { _ in
            AccessToken("new")
        }
        let handler = AdHocErrorHandler { [self] failure in
            guard failure.attempt < 4, var request = failure.history.first?.request ?? failure.request,
                let url = mirror(request.url)
            else { return .next(failure.error) }
            request.url = url
            return .retry(with: request)
        }
        let environment = NetworkEnvironment(
            baseURL: Fixture.environment.baseURL, headers: ["X-Key": "secret"], query: ["key": "secret"])
        let service = NetworkService(environment: environment, authorizedBy: session) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([handler])
        }
        _ = await Fixture.failure {
            try await service.request(AdHocEndpoint.get("x").header("X-Own", "s").authorized())
        }
        #expect(stub.requests.count == 4)
        for request in stub.requests.dropFirst() {
            #expect(request.url.host == "mirror.example" && request.url.query() == nil)
            for name in [HTTPHeader.Name.authorization, "X-Key", "X-Own"] { #expect(!request.headers.contains(name)) }
        }
    }

    @Test("The user, the password and the query of the base URL stay at home, however the new URL was formed")
    func baseURL() async throws {
        stub.on(nil, nil) { $0.url.host == "mirror.example" ? StubResponse() : .status(.serviceUnavailable) }
        let base = try #require(URL(string: "https://user:pw@api.example/v1?base=a%2Fb"))
        let handler = AdHocErrorHandler { failure in
            guard failure.attempt == 1, var request = failure.request,
                var components = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
            else { return .next(failure.error) }
            components.host = "mirror.example"
            components.queryItems?.append(URLQueryItem(name: "own", value: "1"))  // encodes the other items again
            request.url = components.url ?? request.url
            return .retry(with: request)
        }
        let service = NetworkService(environment: NetworkEnvironment(baseURL: base, query: ["key": "c/d+e"])) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([handler])
        }
        try await service.request(.get("x"))
        #expect(stub.requests.first?.url.user() == "user")
        #expect(stub.requests.last?.url.absoluteString == "https://mirror.example/v1/x?own=1")
    }

    @Test("A retry handler inside another handler counts its retries")
    func wrapped() async throws {
        struct OnlyFeeds: ErrorHandler {
            let inner = RetryErrorHandler(RetryPolicy(retries: 2))
            func handle(_ failure: RequestFailure) async -> ErrorHandlingResult { await inner.handle(failure) }
        }
        stub.on(nil, nil, .status(.serviceUnavailable))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([OnlyFeeds()])
        }
        _ = await Fixture.failure { try await service.request(.get("x")) }
        #expect(stub.requests.count == 3)
    }

    @Test("What prevented one attempt from being sent does not prevent the next", arguments: [false, true])
    func unsent(isAdapted: Bool) async throws {
        let patient = AdHocErrorHandler { failure in
            (failure.error as? NetworkError)?.kind == .circuitOpen && failure.attempt == 1
                ? .retry(after: .seconds(31), with: isAdapted ? failure.adaptedRequest : failure.request)
                : .next(failure.error)
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.cache = ResponseCache(clock: clock.networkClock)
            $0.circuitBreaker = CircuitBreaker(minimumCalls: 1, pause: .seconds(30), clock: clock.networkClock)
            $0.errorHandlingService = ErrorHandlingService([patient])
        }
        stub.on(nil, nil, .failure(.cannotConnect), .text("two"))
        _ = await Fixture.failure { try await service.request(.get("x")) }
        let task = service.task(AdHocEndpoint.get("x"), as: .string)
        #expect(await clock.advanceToNextSleeper() == .seconds(31))
        #expect(try await task.value == "two")
    }

    @Test("A handler can replace a request that could not be created; its token goes to the environment's server only")
    func notCreated() async throws {
        struct Unencodable: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws { throw UserError.cloudy }
        }
        stub.on(nil, nil, StubResponse())
        let session = AccessTokenSupervisor(token: AccessToken("T"), clock: clock.networkClock) { _ in
            AccessToken("new")
        }
        for host in ["api.example.com", "mirror.example"] {
            let handler = AdHocErrorHandler { failure in
                guard failure.attempt == 1, let url = URL(string: "https://\(host)/y") else {
                    return .next(failure.error)
                }
                return .retry(with: HTTPRequest(.get, url))
            }
            let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
                $0.transport = stub
                $0.errorHandlingService = ErrorHandlingService([handler])
            }
            // The path is invalid, so that no request can be created.
            try await service.request(AdHocEndpoint.get(EndpointPath(verbatim: "x?y")).authorized())
        }
        #expect(stub.requests.map(\.url.host) == ["api.example.com", "mirror.example"])
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer T", nil])
    }

    /// Records for each attempt whether it failed.
    private struct FailurePolicy: AdmissionPolicy {
        let failures = Box<[Bool]>([])

        func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? { AdmissionPermit() }
        func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async -> AdmissionPermit { AdmissionPermit() }
        func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
            failures.change { if case .failed = outcome { $0.append(true) } else { $0.append(false) } }
        }
    }

    @Test("The policies hear of a failed background validation, also if the call has a caching rule")
    func revalidation() async throws {
        let policy = FailurePolicy()
        stub.on(
            nil, nil, StubResponse(headers: [.cacheControl: "max-age=1, stale-while-revalidate=60"]),
            .failure(.cannotConnect))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.cache = ResponseCache(clock: clock.networkClock)
            $0.admissionPolicies = [policy]
            $0.settings.caching = .staleIfOffline
        }
        try await service.request(.get("x"))
        clock.advance(by: .seconds(10))
        try await service.request(.get("x"))
        while policy.failures.value.count < 2 { await Task.yield() }
        #expect(policy.failures.value == [false, true])
    }

    @Test(
        "A retry after a redirect to another server sends the same request as before, to a server of the endpoint, too")
    func retryAfterRedirect() async throws {
        stub.on(nil, nil) { request in
            request.url.host == "other.example"
                ? .status(.serviceUnavailable) : StubResponse(.found, headers: [.location: "https://other.example/y"])
        }
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: Fixture.environment.baseURL, query: ["format": "json"])
        ) {
            $0.transport = stub
            $0.retry = RetryPolicy(retries: 1)
        }
        let foreign = try #require(URL(string: "https://user:pw@foreign.example/x?format=json"))
        _ = await Fixture.failure { try await service.request(AdHocEndpoint.at(foreign).header("X-Own", "1")) }
        let sent = stub.requests.filter { $0.url.host == "foreign.example" }
        #expect(sent.count == 2 && sent.first?.url == sent.last?.url && sent.last?.headers["X-Own"] == "1")
        #expect(sent.last?.url.query() == "format=json" && sent.last?.url.user() == "user")
    }
}
