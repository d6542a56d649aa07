import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Servers that get the token", .endsInTime)
struct SessionOriginTests {
    private let clock = ManualClock()

    private func service(
        _ session: AccessTokenSupervisor, _ transport: any Transport, handlers: [any ErrorHandler] = []
    ) -> UserService {
        UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = transport
            $0.errorHandlingService = ErrorHandlingService(handlers)
        }
    }

    private func session(
        _ token: AccessToken?, refresh: @escaping AccessTokenSupervisor.Refresh = { _ in throw AccessToken.Rejected() }
    ) -> AccessTokenSupervisor {
        AccessTokenSupervisor(token: token, clock: clock.networkClock, refresh: refresh)
    }

    private func tokens(_ stub: StubTransport) -> [String?] { stub.requests.map { $0.headers[.authorization] } }

    // MARK: The token and other servers

    private struct Elsewhere: Endpoint {
        let path: EndpointPath = "next"
        let baseURL = URL(string: "https://mirror.example") ?? NetworkEnvironment.noBaseURL
        let authorizationType = AuthorizationType.bearer
    }

    @Test(
        "The token is sent only to the environment's server and listed origins, even in a handler's retry")
    func origins() async throws {
        let mirror = try #require(URL(string: "https://mirror.example/x"))
        let handler = AdHocErrorHandler { failure in
            guard failure.attempt == 1, var request = failure.originalRequest else { return .next(failure.error) }
            request.url = mirror
            return .retry(with: request)
        }
        for isListed in [false, true] {
            let session = AccessTokenSupervisor(
                token: AccessToken("T"), origins: isListed ? [try #require(HTTPOrigin(mirror))] : [],
                clock: clock.networkClock
            ) { _ in throw AccessToken.Rejected() }
            let stub = StubTransport { $0.url.host == "mirror.example" ? .status(.ok) : .status(.notFound) }
            let service = service(session, stub, handlers: [handler])
            try await service.request(Elsewhere())
            try await service.request(UserEndpoint.fetch(id: "7"))
            let expected = isListed ? "Bearer T" : nil
            #expect(tokens(stub) == [expected, "Bearer T", expected])
        }
    }

    @Test("A handler's retry to another server carries neither the headers nor the query of the environment")
    func environmentStaysAtHome() async throws {
        let handler = AdHocErrorHandler { failure in
            guard failure.attempt == 1, var request = failure.originalRequest,
                var components = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
            else { return .next(failure.error) }
            components.host = "mirror.example"
            components.percentEncodedQueryItems?.append(URLQueryItem(name: "mirror", value: "1"))
            guard let url = components.url else { return .next(failure.error) }
            request.url = url
            request.headers["X-Own"] = "1"
            return .retry(with: request)
        }
        let stub = StubTransport { $0.url.host == "mirror.example" ? .status(.ok) : .status(.notFound) }
        let service = NetworkService(
            environment: NetworkEnvironment(
                baseURL: Fixture.environment.baseURL, headers: ["Cookie": "secret=1"], query: ["key": "secret"])
        ) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([handler])
        }
        try await service.request(.get("users"))
        #expect(stub.requests.first?.url.query() == "key=secret")
        #expect(stub.requests.first?.headers[.cookie] == "secret=1")
        #expect(stub.requests.last?.url.query() == "mirror=1")
        #expect(stub.requests.last?.headers[.cookie] == nil)
        #expect(stub.requests.last?.headers["X-Own"] == "1")
    }

    @Test("Two sessions in one service are an error that names the gate and the adapter")
    func twoSessions() async throws {
        let (first, second) = (session(AccessToken("a")), session(AccessToken("b")))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.ok) }
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [first.gate]
            $0.requestAdaptingService = RequestAdaptingService([second.adapter])
        }
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } as? NetworkError
        #expect(error?.kind == .invalidRequest)
        #expect(error?.reason?.contains("TokenGate") == true && error?.reason?.contains("TokenRequestAdapter") == true)
        let unsent = await Fixture.failure { _ = try await service.httpRequest(for: UserEndpoint.fetch(id: "7")) }
        #expect((unsent as? NetworkError)?.kind == .invalidRequest)
    }

    /// An endpoint whose authorization type changes after it is first read.
    private final class FickleEndpoint: Endpoint {
        let path: EndpointPath = "x"
        let reads = Box(0)

        var authorizationType: AuthorizationType {
            reads.change { $0 += 1 }
            return reads.value == 1 ? .bearer : .none
        }
    }

    @Test("An endpoint's authorization type is read once for each call")
    func readOnce() async throws {
        let stub = StubTransport { _ in .status(.ok) }
        let endpoint = FickleEndpoint()
        try await service(session(AccessToken("T")), stub).request(endpoint)
        #expect(tokens(stub) == ["Bearer T"] && endpoint.reads.value == 1)
    }

    @Test("Descriptions of responses and errors hide the user, password and query of a URL in a header")
    func urlsInFields() async throws {
        let request = HTTPRequest(.get, try #require(Fixture.environment.baseURL))
        let location = "https://user:password@other.example/path?token=S#fragment"
        let response = HTTPResponse(.found, headers: [.location: location], to: request)
        let error = NetworkError(.unacceptableStatus, request: request, response: response)
        for value in [response, error] as [Any] {
            var text = ""
            dump(value, to: &text)
            #expect(value is NetworkError || text.contains("https://other.example/path?<redacted>"))
            for secret in ["user", "password", "token", "fragment"] {
                #expect(!text.contains(secret), "\(secret)")
            }
        }
        #expect(response.headers[.location] == location)
    }

    @Test("A query in an endpoint path appears in no description, and the call fails before it is sent")
    func queryInPath() async throws {
        let path = EndpointPath(verbatim: "x?token=S")
        #expect(path.description == "x")
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.ok) }
        }
        let error = await Fixture.failure { try await service.request(AdHocEndpoint.get(path)) } as? NetworkError
        #expect(error?.kind == .invalidRequest)
        #expect(error?.reason?.contains("/x)") == true && error?.reason?.contains("S)") == false)
    }

    @Test("If a handler sends a request to another server and then back, the last request is not marked as foreign")
    func thereAndBack() async throws {
        let marks = Box<[Bool]>([])
        let note = AdHocAdapter { request, _ in marks.change { $0.append(request.isForeign) } }
        let home = try #require(Fixture.environment.baseURL)
        let mirrors = [try #require(URL(string: "https://mirror.example/x")), home]
        let handler = AdHocErrorHandler { failure in
            guard failure.attempt <= 2 else { return .next(failure.error) }
            return .retry(with: HTTPRequest(.get, mirrors[failure.attempt - 1]))
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.serviceUnavailable) }
            $0.requestAdaptingService = RequestAdaptingService([note])
            $0.errorHandlingService = ErrorHandlingService([handler])
        }
        _ = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(marks.value == [false, true, false])
    }
}
