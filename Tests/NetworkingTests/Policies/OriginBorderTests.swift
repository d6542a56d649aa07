import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("What a request keeps when it goes to another origin", .endsInTime)
struct OriginBorderTests {
    /// The request from which a handler or a retry condition makes the request for the mirror.
    enum Source: String, CaseIterable {
        case request, adaptedRequest, originalRequest

        func request(of failure: RequestFailure) -> HTTPRequest? {
            switch self {
            case .request: failure.request
            case .adaptedRequest: failure.adaptedRequest
            case .originalRequest: failure.originalRequest
            }
        }
    }

    /// The part of the origin that differs between the environment's server and the mirror.
    enum Mirror: String, CaseIterable {
        case host, port, scheme

        func url(_ url: URL) -> URL? {
            var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
            switch self {
            case .host: components?.host = "mirror.example"
            case .port: components?.port = 8443
            case .scheme: components?.scheme = "http"
            }
            return components?.url
        }
    }

    private let clock = ManualClock()
    private let refreshes = Box(0)
    private let session: AccessTokenSupervisor

    init() {
        session = AccessTokenSupervisor(token: AccessToken("SECRET"), clock: clock.networkClock) { [refreshes] _ in
            refreshes.change { $0 += 1 }
            return AccessToken("NEW")
        }
    }

    private static let environment = NetworkEnvironment(
        baseURL: Fixture.environment.baseURL, headers: ["X-Key": "of the environment", .acceptLanguage: "de"],
        query: ["key": "secret"])

    /// A server that accepts only requests to a mirror.
    private func home(_ status: HTTPStatus = .serviceUnavailable, mirror: HTTPStatus = .ok) -> StubTransport {
        StubTransport { request in
            request.origin == HTTPOrigin(try #require(Fixture.environment.baseURL))
                ? StubResponse.status(status) : .status(mirror)
        }
    }

    private func service(
        _ stub: StubTransport, adapters: [any RequestAdapter] = [], handlers: [any ErrorHandler] = [],
        _ configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Self.environment, authorizedBy: session) {
            $0.transport = stub
            // The adapter signs only what goes home.
            let sign = AdHocAdapter { request, _ in if !request.isForeign { request.headers["X-Sign"] = "s" } }
            $0.requestAdaptingService = RequestAdaptingService([sign] + adapters)
            $0.errorHandlingService = ErrorHandlingService(handlers)
            configure(&$0)
        }
    }

    private func expectNoSecrets(_ request: HTTPRequest?) {
        #expect(request?.origin != nil && request?.origin != Fixture.environment.baseURL.flatMap(HTTPOrigin.init))
        #expect(request?.headers[.authorization] == nil, "the token")
        #expect(request?.headers["X-Sign"] == nil, "a field of an adapter")
        #expect(
            request?.headers["X-Key"] == nil && request?.headers[.acceptLanguage] != "de", "the environment's fields")
        #expect(request?.url.query()?.contains("key=secret") != true, "the environment's query")
    }

    // MARK: A retry

    @Test(
        "A handler's retry to a mirror carries no token, no field of an adapter and nothing of the environment",
        arguments: Source.allCases, Mirror.allCases)
    func retry(source: Source, mirror: Mirror) async throws {
        let stub = home()
        let handler = AdHocErrorHandler { failure in
            guard failure.attempt == 1, var request = source.request(of: failure), let url = mirror.url(request.url)
            else { return .next(failure.error) }
            request.url = url
            request.headers["X-Sign-Here"] = "of the handler"
            return .retry(with: request)
        }
        try await service(stub, handlers: [handler]).request(AdHocEndpoint.get("x").authorized())
        #expect(stub.requests.first?.headers[.authorization] == "Bearer SECRET")
        #expect(stub.requests.first?.headers["X-Sign"] == "s")
        expectNoSecrets(stub.requests.last)
        #expect(stub.requests.last?.headers["X-Sign-Here"] == "of the handler")
    }

    @Test("The same holds for the request of a retry condition", arguments: Source.allCases)
    func condition(source: Source) async throws {
        let stub = home()
        let policy = RetryPolicy(
            retries: 1,
            on: RetryPolicy.Condition { failure in
                guard var request = source.request(of: failure), let url = Mirror.host.url(request.url) else {
                    return .no
                }
                request.url = url
                return .retry(with: request)
            })
        let service = service(stub) {
            $0.retry = policy
            $0.clock = clock.networkClock
        }
        try await service.request(AdHocEndpoint.get("x").authorized())
        #expect(stub.requests.count == 2)
        expectNoSecrets(stub.requests.last)
    }

    @Test("The credentials that a handler sets for the mirror arrive there", arguments: Source.allCases)
    func credentialsOfTheHandler(source: Source) async throws {
        let stub = home()
        let handler = AdHocErrorHandler { failure in
            guard failure.attempt == 1, var request = source.request(of: failure),
                let url = Mirror.host.url(request.url)
            else { return .next(failure.error) }
            request.headers[.authorization] = "Bearer MIRROR"
            request.headers["X-Key"] = "of the mirror"
            request.url = url
            return .retry(with: request)
        }
        try await service(stub, handlers: [handler]).request(AdHocEndpoint.get("x").authorized())
        #expect(stub.requests.last?.headers[.authorization] == "Bearer MIRROR")
        #expect(stub.requests.last?.headers["X-Key"] == "of the mirror")
    }

    @Test("If a mirror refuses a request, no refresh starts", arguments: Source.allCases)
    func refusedByTheMirror(source: Source) async throws {
        let stub = home(mirror: .unauthorized)
        let handler = AdHocErrorHandler { failure in
            guard failure.status == .serviceUnavailable, var request = source.request(of: failure),
                let url = Mirror.host.url(request.url)
            else { return .next(failure.error) }
            request.url = url
            return .retry(with: request)
        }
        let service = service(stub, handlers: [handler])
        for _ in 0..<3 {
            _ = await Fixture.failure { try await service.request(AdHocEndpoint.get("x").authorized()) }
        }
        #expect(refreshes.value == 0)
        for request in stub.requests where request.url.host == "mirror.example" { expectNoSecrets(request) }
    }

    @Test("A request that comes back from a mirror gets the token again, and nothing else that it has lost")
    func thereAndBack() async throws {
        let stub = home(mirror: .serviceUnavailable)
        let handler = AdHocErrorHandler { failure in
            guard failure.attempt < 3, var request = failure.request else { return .next(failure.error) }
            let isAtHome = request.url.host != "mirror.example"
            var components = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
            components?.host = isAtHome ? "mirror.example" : "api.example.com"
            guard let url = components?.url else { return .next(failure.error) }
            request.url = url
            return .retry(with: request)
        }
        let service = service(stub, handlers: [handler])
        _ = await Fixture.failure { try await service.request(AdHocEndpoint.get("x").authorized()) }
        #expect(stub.requests.map(\.url.host) == ["api.example.com", "mirror.example", "api.example.com"])
        #expect(stub.requests.last?.headers[.authorization] == "Bearer SECRET")
        #expect(stub.requests.last?.headers["X-Key"] == nil && stub.requests.last?.url.query() == nil)
    }

    // MARK: An adapter

    @Test("After an adapter has changed the server, the request carries nothing that was meant for the old one")
    func adapter() async throws {
        let stub = home()
        let move = AdHocAdapter { request, _ in
            guard let url = Mirror.host.url(request.url) else { return }
            request.url = url
            request.headers["X-Sign-Here"] = "of the adapter"
        }
        try await service(stub, adapters: [session.adapter, move]).request(
            AdHocEndpoint.get("x").headers(["X-Own": "1", "Accept-Charset": "utf-8"]).authorized())
        expectNoSecrets(stub.requests.first)
        #expect(stub.requests.first?.headers["X-Sign-Here"] == "of the adapter")
        #expect(stub.requests.first?.headers["X-Own"] == nil, "an unknown field may be a secret")
        #expect(stub.requests.first?.headers["Accept-Charset"] == "utf-8")
    }

    @Test("The credentials of the adapter that changes the server, and of later adapters, arrive there")
    func credentialsOfTheAdapter() async throws {
        let stub = home()
        let move = AdHocAdapter { request, _ in
            guard let url = Mirror.host.url(request.url) else { return }
            request.headers[.authorization] = "Bearer MIRROR"
            request.url = url
        }
        try await service(stub, adapters: [move, HeadersAdapter(["X-Late": "1"])]).request(
            AdHocEndpoint.get("x").authorized())
        #expect(stub.requests.first?.headers[.authorization] == "Bearer MIRROR")
        #expect(stub.requests.first?.headers["X-Late"] == "1")
    }

    @Test("An adapter that creates a new request for another server gets no token there")
    func newRequest() async throws {
        let stub = home()
        let move = AdHocAdapter { request, _ in
            request = HTTPRequest(.get, URL(string: "https://mirror.example/x") ?? request.url)
        }
        try await service(stub, adapters: [move]).request(AdHocEndpoint.get("x").authorized())
        expectNoSecrets(stub.requests.first)
    }

    // MARK: A redirect

    @Test("A redirect to another server carries no field of the environment, even if its name is harmless")
    func redirect() async throws {
        let stub = StubTransport { request in
            request.url.host == "mirror.example"
                ? StubResponse.status(.ok)
                : StubResponse(.found, headers: [.location: "https://mirror.example/x"])
        }
        try await service(stub).request(AdHocEndpoint.get("x").authorized())
        #expect(stub.requests.count == 2)
        expectNoSecrets(stub.requests.last)
    }
}
