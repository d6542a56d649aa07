import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Authorized calls", .endsInTime)
struct AuthorizedCallTests {
    private let refresher = StubRefresher()
    private let clock = ManualClock()

    /// Returns a server that accepts one token and refuses all others.
    private func server(taking token: @escaping @Sendable () -> String) -> StubTransport {
        StubTransport { request in
            request.headers[.authorization] == "Bearer \(token())"
                ? .json(User(id: "7")) : .status(.unauthorized, headers: [.wwwAuthenticate: "Bearer"])
        }
    }

    private func session(_ token: AccessToken? = AccessToken("stale"), statuses: Set<HTTPStatus> = [.unauthorized])
        -> AccessTokenSupervisor
    {
        AccessTokenSupervisor(
            token: token, unauthorizedStatuses: statuses, clock: clock.networkClock, refresh: refresher.refresh)
    }

    private func service(
        _ transport: any Transport, _ session: AccessTokenSupervisor, settings: RequestSettings = .init()
    ) -> UserService {
        UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = transport
            $0.requestAdaptingService = RequestAdaptingService([])
            $0.settings = settings
            $0.clock = clock.networkClock
        }
    }

    @Test(
        "The current token is sent with the endpoint's scheme; without a token no header is set", .row("R-18", "R-19"))
    func tokenAndScheme() async throws {
        struct Typed: Endpoint {
            let authorizationType: AuthorizationType
            var path: EndpointPath { "x" }
        }
        let stub = StubTransport { _ in .status(.ok) }
        let session = session(AccessToken("one"))
        let service = service(stub, session)
        try await service.request(Typed(authorizationType: .bearer))
        session.accessToken = AccessToken("two")
        try await service.request(Typed(authorizationType: .basic))
        try await service.request(Typed(authorizationType: .custom("Token")))
        try await service.request(Typed(authorizationType: .none))
        session.accessToken = nil
        try await service.request(Typed(authorizationType: .bearer))
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer one", "Basic two", "Token two", nil, nil])
    }

    @Test("An empty token is an error before anything is sent")
    func emptyToken() async {
        let stub = server { "" }
        let error = await Fixture.failure {
            try await service(stub, session(AccessToken(""))).request(.get("x").authorized())
        }
        #expect((error as? NetworkError)?.reason == "access token: expected a text, found an empty one")
        #expect(stub.requests.isEmpty)
    }

    @Test("A token that begins with its scheme is an error before anything is sent; a word of another scheme is none")
    func tokenWithScheme() async throws {
        let stub = server { "" }
        for value in ["Bearer one", "bEARER one"] {
            let error = await Fixture.failure {
                try await service(stub, session(AccessToken(value))).request(.get("x").authorized())
            }
            #expect(
                (error as? NetworkError)?.reason
                    == "access token: its value begins with its scheme; write it without \"Bearer\"")
        }
        #expect(stub.requests.isEmpty)
        let other = AccessToken("bearer one", scheme: .custom("Token"))
        _ = await Fixture.failure { try await service(stub, session(other)).request(.get("x").authorized()) }
        #expect(stub.requests.first?.headers[.authorization] == "Token bearer one")
        let whole = AccessToken("ApiKey abc", scheme: .custom(""))
        _ = await Fixture.failure { try await service(stub, session(whole)).request(.get("x").authorized()) }
        #expect(stub.requests.contains { $0.headers[.authorization] == "ApiKey abc" })
    }

    @Test("A stored response and its report do not retain the session")
    func keptResponse() async throws {
        func call() async throws -> (response: Response<User>, session: Weak) {
            let session = session(AccessToken("one"))
            let service = service(server { "one" }, session)
            return (
                try await service.response(UserEndpoint.fetch(id: "7"), as: .json(User.self)), Weak(session: session)
            )
        }
        let (response, kept) = try await call()
        #expect(kept.session == nil)
        #expect(response.report.attempts.count == 1)
    }

    private struct Weak {
        weak var session: AccessTokenSupervisor?
    }

    @Test("A 401 starts one refresh, and the retry carries the new token", .row("R-20", "R-26"))
    func repair() async throws {
        let session = session()
        let stub = server { "fresh-1" }
        #expect(try await service(stub, session).user("7") == User(id: "7"))
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer stale", "Bearer fresh-1"])
        #expect(refresher.count == 1)
        #expect(session.accessToken == AccessToken("fresh-1"))
    }

    @Test("A call with a late 401 for an old token is retried without a refresh")
    func late() async throws {
        let session = session()
        let refresher = refresher
        let stub = StubTransport { request in
            guard request.headers[.authorization] == "Bearer stale" else { return .json(User(id: "7")) }
            session.replace(AccessToken("by hand"))  // while the request is in progress
            return .status(.unauthorized)
        }
        #expect(try await service(stub, session).user("7") == User(id: "7"))
        #expect(stub.requests.last?.headers[.authorization] == "Bearer by hand")
        #expect(refresher.count == 0)
    }

    @Test("A server that always returns 401 causes one refresh for each call, and the call ends with the error for 401")
    func endless() async {
        let stub = StubTransport { _ in .status(.unauthorized) }
        let error = await Fixture.failure { _ = try await service(stub, session()).user("7") }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(refresher.count == 1)
        #expect(stub.requests.count == 2)
    }

    @Test("A 403, a 401 of an endpoint without authorization and an insufficient scope start no refresh")
    func noTrigger() async {
        let forbidding = StubTransport { _ in .status(.forbidden) }
        #expect(
            await Fixture.failure { _ = try await service(forbidding, session()).user("7") } as? GeneralRequestError
                == .forbidden)
        let refusing = StubTransport { _ in .status(.unauthorized) }
        #expect(
            await Fixture.failure { try await service(refusing, session()).request(UserEndpoint.open) }
                as? GeneralRequestError == .noAuth)
        let scoping = StubTransport { _ in
            .status(
                .unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"a, b\", Bearer error=\"insufficient_scope\""])
        }
        #expect(
            await Fixture.failure { _ = try await service(scoping, session()).user("7") } as? GeneralRequestError
                == .noAuth)
        #expect(refresher.count == 0)
        #expect(forbidding.requests.count + refusing.requests.count + scoping.requests.count == 3)
    }

    @Test("Rule 10: a 401 of an authorized endpoint is a failure even if the call has no validators")
    func beforeValidators() async throws {
        let stub = server { "fresh-1" }
        let service = service(stub, session(), settings: RequestSettings { $0.validators = [] })
        #expect(try await service.user("7") == User(id: "7"))
        #expect(refresher.count == 1)
    }

    @Test("Other statuses can be configured to mean that a token is refused")
    func otherStatuses() async throws {
        let stub = StubTransport { request in
            request.headers[.authorization] == "Bearer fresh-1" ? .json(User(id: "7")) : .status(419)
        }
        #expect(try await service(stub, session(statuses: [419])).user("7") == User(id: "7"))
    }

    @Test("A 401 whose body cannot be decoded also starts a refresh")
    func undecodable() async throws {
        let stub = StubTransport { request in
            request.headers[.authorization] == "Bearer fresh-1"
                ? .json(User(id: "7"))
                : StubResponse(.unauthorized, headers: [.contentType: "application/json"], body: Data([0xFF]))
        }
        #expect(try await service(stub, session()).user("7") == User(id: "7"))
    }

    @Test("A redirect to another origin is sent without the token, and a 401 from that origin starts no refresh")
    func foreignOrigin() async {
        let stub = StubTransport { request in
            request.url.host == "api.example.com"
                ? .status(.temporaryRedirect, headers: [.location: "https://other.example.com/"])
                : .status(.unauthorized)
        }
        #expect(
            await Fixture.failure { _ = try await service(stub, session()).user("7") } as? GeneralRequestError
                == .noAuth)
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer stale", nil])
        #expect(refresher.count == 0)
    }

    @Test("No description of a token or of a failed call shows a secret")
    func secrets() async {
        let token = AccessToken("hush-token", refreshToken: "hush-refresh")
        let session = AccessTokenSupervisor(token: token, clock: Fixture.stillClock) { _ in throw AccessToken.Rejected()
        }
        var dumped = ""
        dump(token, to: &dumped)
        let stub = server { "never" }
        let service = UserService(
            environment: NetworkEnvironment(
                baseURL: Fixture.environment.baseURL, headers: [.cookie: "hush-cookie"], query: ["key": "hush-query"])
        ) {
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [session.gate]
            $0.requestAdaptingService = RequestAdaptingService([session.adapter])
        }
        let failing = UserService(environment: service.client.configuration.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([session.adapter])
        }
        let error = await Fixture.failure { _ = try await failing.user("7") }
        let request = stub.requests.first
        for text in [
            "\(token)", String(reflecting: token), dumped, "\(error as Any)", error?.localizedDescription ?? "",
            "\(request as Any)", "\(request?.headers as Any)", String(reflecting: HTTPAuthorization.bearer("hush")),
        ] {
            #expect(!text.contains("hush"), "\(text.replacingOccurrences(of: "hush", with: "h-u-s-h"))")
        }
    }
}
