import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// The ways in which a token, or a response for one user, could reach another user or another origin. Each was tried by
/// an adversary.
@Suite("Other users and other origins", .endsInTime)
struct OtherUsersTests {
    let clock = ManualClock()

    func session(_ token: AccessToken?) -> AccessTokenSupervisor {
        AccessTokenSupervisor(token: token, clock: Fixture.stillClock) { _ in throw AccessToken.Rejected() }
    }

    func service(
        _ session: AccessTokenSupervisor, _ transport: any Transport,
        _ set: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = transport
            $0.clock = clock.networkClock
            set(&$0)
        }
    }

    @Test("A call that joins another one has the same cookies: two users with one URL do not share a response")
    func joinedCookies() async throws {
        let transport = ManualTransport()
        let jar = CookieJar()
        let url = try #require(URL(string: "https://api.example.com/v1/open"))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.cookies = jar
            $0.duplicates = .always(.join)
        }
        jar.keep([.setCookie: "session=alice; Path=/"], from: url)
        let first = service.task(UserEndpoint.open, as: .string)
        await transport.waitForRequests()
        jar.removeAll()
        jar.keep([.setCookie: "session=bob; Path=/"], from: url)
        let second = service.task(UserEndpoint.open, as: .string)
        for _ in 0..<2_000 where transport.count < 2 { await Task.yield() }
        #expect(transport.count == 2)
        transport.answer(.ok, "alice's")
        transport.answer(.ok, "bob's")
        #expect(try await first.value == "alice's")
        #expect(try await second.value == "bob's")
    }

    @Test("A handler that repeats a kept request in a call without a token sends no token")
    func keptRequest() async throws {
        let kept = Box<HTTPRequest?>(nil)
        let stub = StubTransport { $0.url.path.hasSuffix("open") ? .status(.serviceUnavailable) : .status(.notFound) }
        let session = session(AccessToken("alice"))
        let service = service(session, stub) {
            $0.errorHandlingService = ErrorHandlingService([
                AdHocErrorHandler { failure in
                    if let old = kept.value, failure.attempt == 1 { return .retry(with: old) }
                    kept.change { $0 = failure.networkError?.request }
                    return .next(failure.error)
                }
            ])
        }
        _ = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        session.accessToken = AccessToken("bob")
        _ = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer alice", nil, nil])
    }

    @Test("A field that belongs to the token stays at its origin, whatever its name is, and no text shows it")
    func fieldsOfTheToken() async throws {
        let stub = StubTransport {
            $0.url.host == "mirror.example"
                ? .status(.ok)
                : StubResponse(.found, headers: [.location: "https://mirror.example/x"])
        }
        let session = session(AccessToken("T", userInfo: ["uid": "42"]))
        let service = service(session, stub) {
            $0.requestAdaptingService = RequestAdaptingService([
                TokenRequestAdapter(accessTokenSupervisor: session) { $1["X-Correlation-Id"] = $0.userInfo["uid"] }
            ])
        }
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(stub.requests.map { $0.headers["X-Correlation-Id"] } == ["42", nil])
        #expect(stub.requests.allSatisfy { !"\($0.headers)".contains("42") })
    }

    @Test("A redirect to another origin and back brings no token back, and its refusal starts no refresh")
    func redirectedBack() async throws {
        let stub = StubTransport { request in
            if request.url.host == "mirror.example" {
                return StubResponse(.temporaryRedirect, headers: [.location: "https://api.example.com/v1/back"])
            }
            return request.url.path == "/v1/back"
                ? .status(.unauthorized)
                : StubResponse(.temporaryRedirect, headers: [.location: "https://mirror.example/x"])
        }
        let refreshes = Box(0)
        let session = AccessTokenSupervisor(token: AccessToken("T"), clock: Fixture.stillClock) { _ in
            refreshes.change { $0 += 1 }
            return AccessToken("new")
        }
        _ = await Fixture.failure { try await service(session, stub).request(UserEndpoint.fetch(id: "7")) }
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer T", nil, nil])
        #expect(refreshes.value == 0)
    }

    @Test(
        "The token goes to every spelling of its origin, and to no other origin",
        arguments: [
            ("https://API.example.com/x", true), ("https://api.example.com:443/x", true),
            ("https://u:p@api.example.com/x", true), ("https://api.example.com./x", false),
            ("https://api.example.com:8443/x", false), ("https://api.example.com@evil.example/x", false),
            ("//evil.example/x", false), ("https://api.example.com.evil.example/x", false),
            ("https://api.example.com%2F@evil.example/x", false), ("https://api.example.com%00.evil.example/x", false),
        ])
    func spellings(location: String, keeps: Bool) async throws {
        let stub = StubTransport {
            $0.url.path.hasSuffix("7") ? StubResponse(.found, headers: [.location: location]) : .status(.ok)
        }
        _ = await Fixture.failure {
            try await service(session(AccessToken("T")), stub).request(UserEndpoint.fetch(id: "7"))
        }
        for request in stub.requests.dropFirst() { #expect((request.headers[.authorization] != nil) == keeps) }
        if keeps { #expect(stub.requests.count == 2) }
    }

    @Test("A token or a request that somebody asked for before a log-in is not that of the new user")
    func askedBefore() async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let barrier = Settlement<Void>()
        store.barrier.change { $0 = barrier }
        let session = AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in throw AccessToken.Rejected()
        }
        let service = service(session, StubTransport())
        let token = Task { try await session.validToken() }
        let request = Task { try await service.httpRequest(for: UserEndpoint.fetch(id: "7"), refreshing: true) }
        while session.waiterCount < 2 { await Task.yield() }
        session.accessToken = AccessToken("bob")
        barrier.settle(.success(()))
        await #expect(throws: NetworkError.self) { try await token.value }
        await #expect(throws: NetworkError.self) { try await request.value }
    }

    @Test("The body of another origin is not asked whether it refuses the token")
    func refusesElsewhere() async throws {
        let session = AccessTokenSupervisor(
            token: AccessToken("T"), refuses: { _ in true }, clock: Fixture.stillClock
        ) { _ in AccessToken("new") }
        let stub = StubTransport {
            $0.url.host == "mirror.example"
                ? .text("UNAUTHENTICATED")
                : StubResponse(.found, headers: [.location: "https://mirror.example/x"])
        }
        let text = try await service(session, stub).request(UserEndpoint.fetch(id: "7"), as: .string)
        #expect(text == "UNAUTHENTICATED" && stub.requests.count == 2)
    }

    @Test("A log-in while an adapter runs ends the call unsent")
    func inAdapter() async throws {
        let stub = StubTransport()
        let session = session(AccessToken("alice"))
        let service = service(session, stub) {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { _, _ in
                    session.accessToken = nil
                    session.accessToken = AccessToken("bob")
                }
            ])
        }
        #expect(
            await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } as? GeneralRequestError
                == .noAuth)
        #expect(stub.requests.isEmpty)
    }
}

/// Sends requests with one of two transports.
struct Switching: Transport {
    let first: any Transport
    let then: any Transport
    let isFirst: Box<Bool>
    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        try await (isFirst.value ? first : then).send(request, delivering: delivery)
    }
}
