import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests that a call is never sent with the token of another user (rule 11), and that the recipes for logging in again
/// keep this rule.
@Suite("The owner of a call", .endsInTime)
struct SessionOwnerTests {
    private let stub = StubTransport {
        $0.headers[.authorization] == "Bearer dead" ? .status(.unauthorized) : .status(.ok)
    }

    private var tokens: [String?] { stub.requests.map { $0.headers[.authorization] } }

    private func service(_ session: AccessTokenSupervisor, limit: Int = 64) -> UserService {
        UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.concurrencyLimit = ConcurrencyLimit(limit)
        }
    }

    private func stored(_ store: MemoryTokenStore) -> AccessTokenSupervisor {
        AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in throw AccessToken.Rejected() }
    }

    @Test("A call that waits for the store is not sent when another user logs in, with or without a log-out before")
    func logInWhileReading() async {
        for logsOut in [true, false] {
            let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
            let barrier = Settlement<Void>()
            store.barrier.change { $0 = barrier }
            let session = stored(store)
            let order = service(session).task(UserEndpoint.rename(id: "7", to: "x"), as: .void)
            while session.waiterCount == 0 { await Task.yield() }
            if logsOut { session.accessToken = nil }
            session.accessToken = AccessToken("bob")
            barrier.settle(.success(()))
            #expect(await Fixture.failure { try await order.value } as? GeneralRequestError == .noAuth)
        }
        #expect(tokens.isEmpty)
    }

    @Test("A call that waits for the store is not sent, not even without a token, after a mere log-out")
    func logOutWhileReading() async {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let barrier = Settlement<Void>()
        store.barrier.change { $0 = barrier }
        let session = stored(store)
        let order = service(session).task(UserEndpoint.rename(id: "7", to: "x"), as: .void)
        while session.waiterCount == 0 { await Task.yield() }
        session.accessToken = nil
        barrier.settle(.success(()))
        #expect(await Fixture.failure { try await order.value } as? GeneralRequestError == .noAuth)
        #expect(tokens.isEmpty)
    }

    @Test("A call that waits for the store is sent with the stored token")
    func reading() async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let barrier = Settlement<Void>()
        store.barrier.change { $0 = barrier }
        let session = stored(store)
        let order = service(session).task(UserEndpoint.rename(id: "7", to: "x"), as: .void)
        while session.waiterCount == 0 { await Task.yield() }
        barrier.settle(.success(()))
        try await order.value
        #expect(tokens == ["Bearer alice"])
    }

    @Test("A call that began while nobody was logged in is not sent with the token of a user who logs in")
    func beforeTheLogIn() async throws {
        let session = AccessTokenSupervisor(clock: Fixture.stillClock) { _ in throw AccessToken.Rejected() }
        let limit = ConcurrencyLimit(1)
        let service = UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.concurrencyLimit = limit
        }
        let request = HTTPRequest(.get, try #require(Fixture.environment.baseURL))
        let held = try #require(limit.tryEnter(request, for: UserEndpoint.open))
        let call = service.task(UserEndpoint.fetch(id: "7"), as: .void)
        while limit.waiterCount == 0 { await Task.yield() }
        session.accessToken = AccessToken("bob")
        limit.leave(held, .notSent)
        let error = await Fixture.failure { try await call.value } as? GeneralRequestError
        #expect(error == .noAuth && error?.cause?.kind == .noToken)
        #expect(tokens.isEmpty)
    }

    @Test("A task belongs to the session in which it was created, even if another user logs in before it runs")
    func createdBefore() async {
        let session = AccessTokenSupervisor(token: AccessToken("alice"), clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()
        }
        let service = service(session)
        let orders = (0..<50).map { _ in service.task(UserEndpoint.rename(id: "7", to: "x"), as: .void) }
        session.accessToken = AccessToken("bob")
        for order in orders { _ = await Fixture.failure { try await order.value } }
        #expect(!tokens.contains("Bearer bob"))
    }

    @Test("A call to which the app adds the token itself is not sent with the token of another user")
    func ownAdapter() async {
        let session = AccessTokenSupervisor(token: AccessToken("alice"), clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([session.handler])
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in
                    session.accessToken = AccessToken("bob")
                    request.headers[.authorization] = "Bearer bob"
                }
            ])
        }
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(stub.requests.isEmpty)
    }

    @Test("After a log-out, a retried call with an optional token has no field of the earlier token")
    func optionalRetry() async throws {
        let session = AccessTokenSupervisor(
            token: AccessToken("alice", userInfo: ["uid": "1"]), clock: Fixture.stillClock
        ) { _ in throw AccessToken.Rejected() }
        let stub = StubTransport { $0.headers[.authorization] == nil ? .status(.ok) : .status(.serviceUnavailable) }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([
                TokenRequestAdapter(accessTokenSupervisor: session) { $1["X-User"] = $0.userInfo["uid"] }
            ])
            $0.errorHandlingService = ErrorHandlingService([
                AdHocErrorHandler { failure in
                    session.accessToken = nil
                    return failure.request.map { .retry(with: $0) } ?? .next(failure.error)
                }
            ])
        }
        try await service.request(AdHocEndpoint(.get, "open").authorized(.optional(.bearer)))
        #expect(stub.requests.map { $0.headers["X-User"] } == ["1", nil])
    }

    // MARK: Logging in again

    /// Asks for the password when a call ends with a refusal, and repeats the call.
    private func asking(_ session: AccessTokenSupervisor, _ logIn: @escaping @Sendable () -> Void) -> UserService {
        UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([
                AdHocErrorHandler { failure in
                    guard failure.status == .unauthorized, failure.attempt == 1 else { return .next(failure.error) }
                    logIn()
                    return .retry(because: "the user has logged in again")
                }
            ])
        }
    }

    @Test("If the same user logs in again, the failed call is repeated with the new token")
    func sameUser() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("dead"), clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()
        }
        try await asking(session) { session.replace(AccessToken("alive")) }.request(UserEndpoint.fetch(id: "7"))
        #expect(tokens == ["Bearer dead", "Bearer alive"])
    }

    @Test("If another user logs in, the failed call of the first user is not repeated")
    func anotherUser() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("dead"), clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()
        }
        let service = asking(session) { session.accessToken = AccessToken("bob") }
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(tokens == ["Bearer dead"])
    }

    @Test("Logged out means one error, before sending and after a refusal")
    func oneError() async {
        let session = AccessTokenSupervisor(token: AccessToken("dead"), clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()
        }
        let service = service(session)
        for _ in 0..<2 {
            let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
            #expect(error as? GeneralRequestError == .noAuth)
        }
        #expect(tokens == ["Bearer dead"])
        await #expect(throws: NetworkError.self) { try await session.validToken() }
    }
}
