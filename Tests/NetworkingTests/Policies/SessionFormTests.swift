import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests the forms of a session (rules 10 and 15), and the ways to ask it for its token (rule 14).
@Suite("Forms of a session", .endsInTime)
struct SessionFormTests {
    private let clock = ManualClock()
    private let refreshes = Box(0)
    private let stub = StubTransport {
        $0.url.path.hasSuffix("open") || $0.headers[.authorization]?.hasPrefix("Bearer t") == true
            ? .status(.ok) : .status(.unauthorized)
    }

    private var tokens: [String?] { stub.requests.map { $0.headers[.authorization] } }

    private func service(_ session: AccessTokenSupervisor) -> UserService {
        UserService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
    }

    /// A session whose refreshes bring t1, t2 …
    private func session(
        _ token: AccessToken? = nil, fetchingFirst: Bool = false, leeway: Duration = .seconds(30)
    ) -> AccessTokenSupervisor {
        AccessTokenSupervisor(
            token: token, fetchingFirst: fetchingFirst, refreshLeeway: leeway, clock: clock.networkClock
        ) { [refreshes] _ in
            refreshes.change { $0 += 1 }
            return AccessToken("t\(refreshes.value)")
        }
    }

    // MARK: Forms

    @Test("Without a token, the user is logged out: calls go without a token, and a refusal starts no refresh")
    func loggedOut() async throws {
        let session = session()
        let error = await Fixture.failure { try await service(session).request(UserEndpoint.fetch(id: "7")) }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(refreshes.value == 0 && tokens == [nil])
    }

    @Test("The first token is fetched before the first call, once for three calls, and not again after a log-out")
    func fetchingFirst() async throws {
        let session = session(fetchingFirst: true)
        let service = service(session)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { try await service.request(UserEndpoint.fetch(id: "7")) } }
            try await group.waitForAll()
        }
        #expect(refreshes.value == 1 && tokens == ["Bearer t1", "Bearer t1", "Bearer t1"])
        session.accessToken = nil
        _ = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(refreshes.value == 1 && tokens.last == .some(nil))
    }

    @Test("A fixed token is sent with its scheme; a refusal ends the call only")
    func fixed() async throws {
        let session = AccessTokenSupervisor(fixed: "key", scheme: .custom("ApiKey"))
        let service = service(session)
        for _ in 0..<2 {
            let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
            #expect(error as? GeneralRequestError == .noAuth)
        }
        #expect(tokens == ["ApiKey key", "ApiKey key"])
    }

    @Test("The time before the expiry can be set")
    func leeway() async throws {
        let token = AccessToken("t0", expiresAt: clock.date.addingTimeInterval(10_000))
        let service = service(session(token, leeway: .seconds(300)))
        clock.advance(by: .seconds(9_699))
        try await service.request(UserEndpoint.fetch(id: "7"))
        clock.advance(by: .seconds(1))
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(tokens == ["Bearer t0", "Bearer t1"])
    }

    // MARK: Optional tokens

    private let optional = AdHocEndpoint(.get, "open").authorized(.optional(.bearer))

    @Test("An optional token is sent if there is one; otherwise the call goes without a token")
    func optionalToken() async throws {
        let session = session()
        let service = service(session)
        try await service.request(optional)
        session.accessToken = AccessToken("t0")
        try await service.request(optional)
        #expect(tokens == [nil, "Bearer t0"])
    }

    @Test("After the end of a session, calls with an optional token go without it, and public calls keep working")
    func optionalAfterTheEnd() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("dead"), clock: clock.networkClock) { _ in
            throw AccessToken.Rejected()
        }
        let service = service(session)
        _ = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        try await service.request(optional)
        #expect(tokens == ["Bearer dead", nil])
        let refused = AdHocEndpoint(.get, "private").authorized(.optional(.bearer))
        let error = await Fixture.failure { try await service.request(refused) }
        #expect(error as? GeneralRequestError == .noAuth)
        try await service.request(optional)
    }

    @Test(
        "A call with an optional token whose session ends while it waits goes without a token, never with another one")
    func optionalWhileReading() async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let barrier = Settlement<Void>()
        store.barrier.change { $0 = barrier }
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in throw AccessToken.Rejected()
        }
        let call = service(session).task(optional, as: .void)
        while session.waiterCount == 0 { await Task.yield() }
        session.accessToken = AccessToken("bob")
        barrier.settle(.success(()))
        try await call.value
        #expect(tokens == [nil])
    }

    // MARK: Asking

    @Test("A valid token is returned at once; an expired one is refreshed first; so is the token of a request")
    func validToken() async throws {
        let expired = AccessToken("old", expiresAt: clock.date.addingTimeInterval(-3_600))
        let session = session(expired)
        let service = service(session)
        let current = try await service.httpRequest(for: UserEndpoint.fetch(id: "7"))
        #expect(current.headers[.authorization] == "Bearer old")
        let valid = try await service.httpRequest(for: UserEndpoint.fetch(id: "7"), refreshing: true)
        #expect(valid.headers[.authorization] == "Bearer t1")
        #expect(try await session.validToken() == AccessToken("t1"))
        #expect(refreshes.value == 1)
        #expect(try await session.refresh() == AccessToken("t2"))
        #expect(stub.requests.isEmpty)
    }

    @Test("Nobody is logged in: asking for a token fails, with the reason")
    func noToken() async throws {
        let session = session()
        let error = await Fixture.failure { _ = try await session.validToken() } as? NetworkError
        #expect(error?.kind == .noToken && error?.reason == "no access token: the session has no token")
        await #expect(throws: NetworkError.self) { try await session.refresh() }
        #expect(refreshes.value == 0)
    }

    @Test("Inside of a refresh, asking for the token fails at once instead of waiting for itself")
    func insideRefresh() async throws {
        let asked = Box<AccessTokenSupervisor?>(nil)
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: clock.networkClock) { _ in
            try await asked.value?.validToken() ?? AccessToken("none")
        }
        asked.change { $0 = session }
        let error = await Fixture.failure { try await session.refresh() } as? NetworkError
        #expect(error?.reason?.contains("cannot wait for its own token") == true)
        asked.change { $0 = nil }
    }

    @Test("Another user's token is not returned to somebody who asked before the log-in")
    func askedBeforeTheLogIn() async throws {
        let result = Settlement<AccessToken>()
        let session = AccessTokenSupervisor(token: AccessToken("alice"), clock: clock.networkClock) { _ in
            try await result.value()
        }
        let asking = Task { try await session.refresh() }
        while session.waiterCount == 0 { await Task.yield() }
        session.accessToken = AccessToken("bob")
        await #expect(throws: NetworkError.self) { try await asking.value }
    }

    @Test("The broadcaster of tokens replays the current one, and reports log-in, refresh and log-out")
    func tokenChanges() async throws {
        let session = session(AccessToken("t0"))
        let seen = Box<[String?]>([])
        let observation = session.tokens.observe(replayingCurrent: true, on: nil) { token in
            seen.change { $0.append(token?.value) }
        }
        try await session.refresh()
        session.accessToken = nil
        session.accessToken = AccessToken("bob")
        observation.cancel()
        #expect(seen.value == ["t0", "t1", nil, "bob"])
    }

    @Test("While the store has not been read, the broadcaster has no token; then it has the stored one")
    func tokensOfStore() async throws {
        let store = MemoryTokenStore(AccessToken("stored", session: UUID()))
        let barrier = Settlement<Void>()
        store.barrier.change { $0 = barrier }
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in throw AccessToken.Rejected()
        }
        #expect(session.tokens.current == nil)
        barrier.settle(.success(()))
        try await session.load()
        #expect(session.tokens.current??.value == "stored")
    }

    // MARK: The app's own values

    @Test("The token's scheme and values reach the adapter that adds the token, and survive coding")
    func values() async throws {
        let token = AccessToken("t0", scheme: .custom("Token"), userInfo: ["uid": "7"])
        let session = session(token)
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([
                TokenRequestAdapter(accessTokenSupervisor: session) { token, headers in
                    headers["x-pm-uid"] = token.userInfo["uid"]
                }
            ])
        }
        _ = await Fixture.failure { try await service.request(AdHocEndpoint.get("open").authorized()) }
        #expect(stub.requests.map { $0.headers["x-pm-uid"] } == ["7"])
        #expect(tokens == ["Token t0"])
        let decoded = try JSONDecoder().decode(AccessToken.self, from: JSONEncoder().encode(token))
        #expect(decoded == token && decoded.scheme == .custom("Token") && decoded.userInfo == ["uid": "7"])
        let old = try JSONDecoder().decode(AccessToken.self, from: Data(#"{"value":"t0"}"#.utf8))
        #expect(old == AccessToken("t0"))
    }
}
