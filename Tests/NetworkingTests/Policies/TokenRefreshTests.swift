import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Token refreshes of calls", .endsInTime)
struct TokenRefreshTests {
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

    @Test("Rule 8: a refreshed token without a refresh token keeps the old one, but the token of a log-in does not")
    func keptRefreshToken() async throws {
        let asked = Box<[String?]>([])
        let session = AccessTokenSupervisor(
            token: AccessToken("t0", refreshToken: "r1"), clock: clock.networkClock
        ) { old in
            asked.change { $0.append(old?.refreshToken) }
            return AccessToken("t\(asked.value.count)")
        }
        let accepted = Box("t1")
        let service = service(server { accepted.value }, session)
        _ = try await service.user("7")
        accepted.change { $0 = "t2" }
        _ = try await service.user("7")
        #expect(asked.value == ["r1", "r1"])
        session.replace(AccessToken("t3"))
        #expect(session.accessToken?.refreshToken == "r1")
        session.accessToken = AccessToken("other user")
        #expect(session.accessToken?.refreshToken == nil)
    }

    @Test("Rule 5: an expired token is refreshed before sending, and the server never receives the expired token")
    func preemptive() async throws {
        let session = session(AccessToken("stale", expiresAt: clock.date.addingTimeInterval(100)))
        let stub = server { "fresh-1" }
        clock.advance(by: .seconds(95))
        #expect(try await service(stub, session).user("7") == User(id: "7"))
        #expect(stub.requests.count == 1)
    }

    @Test("Rule 8: after a log-out during a refresh, the waiting call fails, and the late token is dropped")
    func logOut() async {
        let started = Settlement<Void>()
        let session = AccessTokenSupervisor(token: AccessToken("stale"), clock: Fixture.stillClock) { _ in
            started.settle(.success(()))
            try? await Task.sleep(for: .seconds(1_000_000))  // ends when the refresh is cancelled
            return AccessToken("late")
        }
        let stub = server { "late" }
        let task = service(stub, session).task(UserEndpoint.fetch(id: "7"), as: .string)
        try? await started.value()
        session.accessToken = nil
        #expect(await Fixture.failure { _ = try await task.value } as? GeneralRequestError == .noAuth)
        #expect(session.accessToken == nil)
        #expect(stub.requests.count == 1)
    }

    @Test(
        "Rule 9: a 401 of a call that a refresh makes starts no refresh; other adapters and handlers apply to the call")
    func ownCalls() async {
        let stub = StubTransport { _ in .status(.unauthorized) }
        let holder = Box<UserService?>(nil)
        let refreshes = Box(0)
        let session = AccessTokenSupervisor(token: AccessToken("stale"), clock: Fixture.stillClock) { _ in
            refreshes.change { $0 += 1 }
            let user = try await holder.value?.user("refresh")
            return AccessToken(user?.id ?? "")
        }
        let service = UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.concurrencyLimit = ConcurrencyLimit(1)
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([HeadersAdapter(["X-Api-Version": "2"])])
        }
        holder.change { $0 = service }
        #expect(await Fixture.failure { _ = try await service.user("7") } as? GeneralRequestError == .noAuth)
        #expect(refreshes.value == 1)
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer stale", nil])
        #expect(stub.requests.allSatisfy { $0.headers["X-Api-Version"] == "2" })
        holder.change { $0 = nil }
    }

    @Test("Rule 9: a task that a refresh starts and that outlives the refresh makes its calls with the new token")
    func markEnds() async throws {
        let left = Box<Task<String?, Never>?>(nil)
        let stub = StubTransport { request in
            request.headers[.authorization] == "Bearer stale"
                ? .status(.unauthorized) : .text(request.headers[.authorization] ?? "none")
        }
        let holder = Box<UserService?>(nil)
        let stored = Settlement<Void>()
        let session = AccessTokenSupervisor(token: AccessToken("stale"), clock: Fixture.stillClock) { _ in
            left.change { task in
                task = Task {
                    try? await stored.value()
                    return try? await holder.value?.request(UserEndpoint.fetch(id: "left"), as: .string)
                }
            }
            return AccessToken("fresh")
        }
        let service = service(stub, session)
        holder.change { $0 = service }
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "Bearer fresh")
        stored.settle(.success(()))
        #expect(await left.value?.value == "Bearer fresh")
        holder.change { $0 = nil }
    }

    @Test("A token from a response is stored in the session before the success callback runs", .row("N-37"))
    func captured() async throws {
        struct LogIn: Decodable {
            let token: String
            let refreshToken: String
            var accessToken: AccessToken { AccessToken(token, refreshToken: refreshToken) }
        }
        let session = session(nil)
        let stub = StubTransport { _ in .json(["token": "brought", "refreshToken": "again"]) }
        let service = service(
            stub, session)
        let token = await withCheckedContinuation { continuation in
            service.task(UserEndpoint.open, as: .json(LogIn.self).storingToken(in: session, \.accessToken))
                .onCompletion(on: .global()) { _ in continuation.resume(returning: session.accessToken) }
        }
        #expect(token == AccessToken("brought", refreshToken: "again"))
        // The same user again: the session continues. Otherwise, another session begins.
        let user = try #require(session.accessToken?.session)
        let logIn = ResponseConverter.json(LogIn.self)
        _ = try await service.request(
            UserEndpoint.open, as: logIn.storingToken(in: session, continuing: true, \.accessToken))
        #expect(session.accessToken?.session == user)
        _ = try await service.request(UserEndpoint.open, as: logIn.storingToken(in: session, \.accessToken))
        #expect(session.accessToken?.session != user)
    }
}
