import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests which session a call belongs to, and when a session refreshes its token or ends.
@Suite("Sessions", .endsInTime)
struct SessionTests {
    private let clock = ManualClock()

    private func service(
        _ session: AccessTokenSupervisor, _ transport: any Transport, limit: ConcurrencyLimit = ConcurrencyLimit()
    ) -> UserService {
        UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.concurrencyLimit = limit
            $0.transport = transport
        }
    }

    private func session(
        _ token: AccessToken?, refresh: @escaping AccessTokenSupervisor.Refresh = { _ in throw AccessToken.Rejected() }
    ) -> AccessTokenSupervisor {
        AccessTokenSupervisor(token: token, clock: clock.networkClock, refresh: refresh)
    }

    private func tokens(_ stub: StubTransport) -> [String?] { stub.requests.map { $0.headers[.authorization] } }

    // MARK: A call belongs to the session in which it began

    @Test("A call that is refused after another user has logged in is not sent again")
    func refusedOrder() async throws {
        let transport = ManualTransport()
        let session = session(AccessToken("alice"))
        let service = service(session, transport)
        let order = service.task(UserEndpoint.rename(id: "7", to: "x"), as: .void)
        await transport.waitForRequests()
        session.accessToken = nil
        session.accessToken = AccessToken("bob")
        transport.answer(.unauthorized)
        #expect(await Fixture.failure { try await order.value } as? GeneralRequestError == .noAuth)
        #expect(transport.count == 1)
    }

    @Test("A call that waits for its permit while another user logs in is not sent")
    func queuedOrder() async throws {
        let limit = ConcurrencyLimit(1)
        let stub = StubTransport { _ in .status(.ok) }
        let session = session(AccessToken("alice"))
        let service = service(session, stub, limit: limit)
        let request = HTTPRequest(.get, try #require(Fixture.environment.baseURL))
        let held = try #require(limit.tryEnter(request, for: UserEndpoint.open))
        let order = service.task(UserEndpoint.rename(id: "7", to: "x"), as: .void)
        while limit.waiterCount == 0 { await Task.yield() }
        session.accessToken = AccessToken("bob")
        limit.leave(held, .notSent)
        let error = await Fixture.failure { try await order.value } as? GeneralRequestError
        #expect(error == .noAuth && error?.cause?.kind == .noToken && error?.cause?.underlying is SessionEnded)
        #expect(error?.cause?.reason == "no access token: the session in which the call began has ended")
        #expect(stub.requests.isEmpty)
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(tokens(stub) == ["Bearer bob"])
    }

    @Test("A call is not sent with the token of a user who has logged in through another process")
    func otherProcess() async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in throw AccessToken.Rejected()
        }
        try await session.load()
        let stub = StubTransport { $0.headers[.authorization] == "Bearer bob" ? .status(.ok) : .status(.unauthorized) }
        let service = service(session, stub)
        try await store.put(AccessToken("bob", session: UUID()))
        let error = await Fixture.failure { try await service.request(UserEndpoint.rename(id: "7", to: "x")) }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(tokens(stub) == ["Bearer alice"])
        #expect(session.accessToken == AccessToken("bob"))
        try await service.request(UserEndpoint.fetch(id: "7"))
    }

    @Test("If another process rotates the token, the session stays the same, and calls continue with the new token")
    func rotatedElsewhere() async throws {
        let transport = ManualTransport()
        let session = session(AccessToken("old"))
        let service = service(session, transport)
        let call = service.task(UserEndpoint.rename(id: "7", to: "x"), as: .void)
        await transport.waitForRequests()
        session.replace(AccessToken("rotated"))
        transport.answer(.unauthorized)
        await transport.waitForRequests()
        transport.answer()
        try await call.value
        #expect(session.accessToken?.value == "rotated" && transport.count == 2)
    }

    // MARK: Late refreshes

    @Test("If a refresh returns after its time limit, the new token is stored, and the next call is sent with it")
    func lateRefresh() async throws {
        let result = Settlement<AccessToken>()
        let refreshes = Box(0)
        let session = session(AccessToken("t0")) { _ in
            refreshes.change { $0 += 1 }
            return try await withCheckedThrowingContinuation { continuation in
                result.observe { continuation.resume(with: $0) }
            }
        }
        let stub = StubTransport { $0.headers[.authorization] == "Bearer t1" ? .status(.ok) : .status(.unauthorized) }
        let service = service(session, stub)
        let first = service.task(UserEndpoint.fetch(id: "7"), as: .void)
        while refreshes.value == 0 { await Task.yield() }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        _ = await Fixture.failure { try await first.value }
        result.settle(.success(AccessToken("t1")))
        while session.accessToken != AccessToken("t1") { await Task.yield() }
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(refreshes.value == 1)
    }

    // MARK: Number of refreshes
    // Each of these tests expects exactly one refresh.

    @Test("A device with a wrong clock does not refresh before every call")
    func wrongClock() async throws {
        let refreshes = Box(0)
        let past = clock.date.addingTimeInterval(-3_600)
        let session = session(AccessToken("t0", expiresAt: past)) { _ in
            refreshes.change { $0 += 1 }
            return AccessToken("t\(refreshes.value)", expiresAt: past)
        }
        let service = service(session, StubTransport { _ in .status(.ok) })
        for _ in 0..<20 { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(refreshes.value == 1)
    }

    @Test("After the end of the session, calls fail at once, and the rejected refresh token is not sent again")
    func afterTheEnd() async throws {
        let refreshes = Box(0)
        let session = session(AccessToken("dead")) { _ in
            refreshes.change { $0 += 1 }
            throw AccessToken.Rejected()
        }
        let stub = StubTransport { _ in .status(.unauthorized) }
        let service = service(session, stub)
        let first = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(first as? GeneralRequestError == .noAuth)
        for _ in 0..<20 {
            let error =
                await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } as? GeneralRequestError
            #expect(error?.cause?.kind == .noToken && error?.cause?.underlying is AccessToken.Rejected)
            #expect(error?.cause?.reason == "no access token: the session is over, and the user has to log in again")
        }
        #expect(refreshes.value == 1 && stub.requests.count == 1)
    }

    @Test("A call that waited for a refresh before it was sent starts no second refresh if it is refused")
    func oneRefreshACall() async throws {
        let refreshes = Box(0)
        let session = session(AccessToken("old", expiresAt: clock.date)) { _ in
            refreshes.change { $0 += 1 }
            return AccessToken("new")
        }
        let service = service(session, StubTransport { _ in .status(.unauthorized) })
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(refreshes.value == 1)
    }

    // MARK: The end of a session

    @Test(
        "A rejected token request ends the session even if its error is mapped, unless the refresh throws another error"
    )
    func mappedRefusal() async throws {
        struct SignedOut: Error {}
        struct KeychainFailure: Error {}
        let stub = StubTransport { _ in .status(.unauthorized) }
        let auth = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorMapping = .init { _, _ in SignedOut() }
        }
        for isHandled in [false, true] {
            let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
                do { try await auth.request(.post("token")) } catch {
                    if isHandled { throw KeychainFailure() }
                    throw error
                }
                return AccessToken("new")
            }
            let ended = Box<[String]>([])
            let observation = session.events.observe(on: nil) { event in
                ended.change { if case .sessionOver = event { $0.append("over") } else { $0.append("kept") } }
            }
            let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
                $0.transport = stub
            }
            _ = await Fixture.failure { try await service.request(.get("a").authorized()) }
            observation.cancel()
            #expect(ended.value == [isHandled ? "kept" : "over"])
        }
    }
}
