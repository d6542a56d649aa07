import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Refreshes that fail", .endsInTime)
struct RefreshFailureTests {
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

    @Test("The error text of a refused call contains the status of the failed refresh, even if its error was mapped")
    func mappedReason() async throws {
        let authorization = UserService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.unauthorized) }
        }
        let session = AccessTokenSupervisor(token: AccessToken("stale"), clock: clock.networkClock) { _ in
            try await authorization.request(.post("refresh"))
            return AccessToken("fresh")
        }
        let service = service(server { "fresh" }, session)
        let error = await Fixture.failure { _ = try await service.user("7") } as? GeneralRequestError
        let text = try #require(error?.cause?.description)
        #expect(
            text.contains("the token could not be refreshed: noAuth: POST api.example.com/v1/refresh: 401"), "\(text)")
    }

    @Test("A retry policy that does not cover a refusal does not hide why the refresh failed")
    func reasonBesidePolicy() async throws {
        struct Down: Error {}
        let session = AccessTokenSupervisor(token: AccessToken("stale"), clock: clock.networkClock) { _ in throw Down()
        }
        let service = UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = server { "fresh" }
            $0.retry = .standard
            $0.clock = clock.networkClock
        }
        let task = service.task(UserEndpoint.fetch(id: "7"), as: .string)
        let error = await Fixture.failure { _ = try await task.value } as? GeneralRequestError
        let reason = "the token could not be refreshed: Down"
        #expect(error?.cause?.description.contains(reason) == true, "\(error?.cause?.description ?? "")")
        #expect(task.report?.attempts.last?.decision?.reason == reason)
    }

    @Test(
        "After a failed refresh, a refused call ends with its 401, and an unsent call ends with the refresh's error",
        .row("R-26"))
    func failedRefresh() async {
        struct Down: Error {}
        let manual = ManualTransport()
        let started = Settlement<Void>()
        let release = Settlement<Void>()
        let session = AccessTokenSupervisor(token: AccessToken("stale"), clock: clock.networkClock) { _ in
            started.settle(.success(()))
            try await release.value()
            throw Down()
        }
        let events = session.events.values()
        let service = service(manual, session)
        let refused = service.task(UserEndpoint.fetch(id: "1"), as: .string)
        await manual.waitForRequests()
        manual.answer(.unauthorized)
        try? await started.value()
        let unsent = service.task(UserEndpoint.fetch(id: "2"), as: .string)
        while session.waiterCount < 2 { await Task.yield() }
        release.settle(.success(()))
        #expect(await Fixture.failure { _ = try await refused.value } as? GeneralRequestError == .noAuth)
        let error = await Fixture.failure { _ = try await unsent.value } as? NetworkError
        #expect(error?.kind == .noToken && error?.underlying is Down)
        for await event in events {
            guard case .unreachable(let error) = event else { continue }
            #expect(error is Down)
            break
        }
        #expect(session.accessToken == AccessToken("stale"))
    }

    @Test("Rule 6: a refresh that hangs is ended by its own timeout")
    func refreshTimeout() async {
        let session = AccessTokenSupervisor(
            token: AccessToken("stale"), refreshTimeout: .seconds(30), clock: clock.networkClock
        ) { _ in
            try await Task.sleep(for: .seconds(1_000_000))
            return AccessToken("never")
        }
        let stub = server { "fresh-1" }
        let task = service(stub, session).task(UserEndpoint.fetch(id: "7"), as: .string)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        #expect(await Fixture.failure { _ = try await task.value } as? GeneralRequestError == .noAuth)
        // A late result of the refresh would still be used until a second time limit has passed.
        await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        while session.isRefreshing { await Task.yield() }
    }

    @Test("Observers are notified only once when the session ends")
    func sessionOver() async {
        let refresher = StubRefresher { _, _ in throw GeneralRequestError.noAuth }
        let session = AccessTokenSupervisor(
            token: AccessToken("stale"), clock: Fixture.stillClock, refresh: refresher.refresh)
        let events = Box<[String]>([])
        let token = session.events.observe(on: nil) { event in
            if case .sessionOver = event {
                events.change { $0.append("over") }
            } else {
                events.change { $0.append("other") }
            }
        }
        let stub = server { "never" }
        for _ in 0..<3 { #expect(await Fixture.failure { _ = try await service(stub, session).user("7") } != nil) }
        #expect(events.value == ["over"])
        #expect(refresher.count == 1)
        token.cancel()
    }

    private enum Order: Endpoint {
        case poll

        var path: EndpointPath { "orders" }
        var authorizationType: AuthorizationType { .bearer }
    }

    @Test("The error of a refresh that fails immediately is the underlying error of the 401")
    func immediateRefreshFailure() async throws {
        struct NoRefreshToken: Error {}
        let stub = StubTransport { _ in .status(.unauthorized) }
        for _ in 0..<50 {
            let session = AccessTokenSupervisor(token: AccessToken("stale"), clock: Fixture.stillClock) { _ in
                throw NoRefreshToken()
            }
            let service = NetworkService(
                client: NetworkClient(environment: Fixture.environment) {
                    $0.errorMapping = .unmapped
                    $0.transport = stub
                    $0.concurrencyLimit = nil
                    $0.backoffGate = nil
                    $0.admissionPolicies = [session.gate]
                    $0.requestAdaptingService = RequestAdaptingService([session.adapter])
                    $0.errorHandlingService = ErrorHandlingService([session.handler])
                })
            let error = await Fixture.failure { try await service.request(Order.poll) } as? NetworkError
            #expect(error?.status == .unauthorized)
            #expect(error?.underlying is NoRefreshToken, "\(String(describing: error?.underlying))")
        }
    }

    @Test("A refresh that exceeds its time limit is reported as a timeout, regardless of how its task ends")
    func refreshTimeoutUnderlying() async throws {
        for _ in 0..<50 {
            let session = AccessTokenSupervisor(
                token: AccessToken("old"), refreshTimeout: .seconds(3), clock: clock.networkClock
            ) { [clock] _ in
                try await clock.networkClock.wait(for: .seconds(1_000_000))
                return AccessToken("late")
            }
            let stub = StubTransport { _ in .status(.unauthorized) }
            let service = NetworkService(environment: Fixture.environment) {
                $0.errorMapping = .unmapped
                $0.transport = stub
                $0.concurrencyLimit = nil
                $0.backoffGate = nil
                $0.admissionPolicies = [session.gate]
                $0.requestAdaptingService = RequestAdaptingService([session.adapter])
                $0.errorHandlingService = ErrorHandlingService([session.handler])
            }
            async let error = Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(3))
            let underlying = (await error as? NetworkError)?.underlying as? NetworkError
            #expect(underlying?.kind == .deadlineTimedOut)
            // A late result would still be used. After a second time limit the refresh is cancelled.
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(3))
            while clock.sleeperCount > 0 { await Task.yield() }
        }
    }
}
