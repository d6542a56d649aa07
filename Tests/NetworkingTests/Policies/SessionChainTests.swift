import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests that the chain of error handlers drives the refresh (rule 3), and that the parts of a session are independent.
@Suite("The chain drives the refresh", .endsInTime)
struct SessionChainTests {
    private let refreshes = Box(0)
    /// Accepts the token "new" only.
    private let server = StubTransport {
        $0.headers[.authorization] == "Bearer new" ? .status(.ok) : .status(.unauthorized)
    }

    private func session(_ token: AccessToken? = AccessToken("old")) -> AccessTokenSupervisor {
        AccessTokenSupervisor(token: token, clock: Fixture.stillClock) { [refreshes] _ in
            refreshes.change { $0 += 1 }
            return AccessToken("new")
        }
    }

    private func service(
        _ adapters: [any RequestAdapter], _ handlers: [any ErrorHandler], limit: Int = 64,
        _ transport: (any Transport)? = nil
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.requestAdaptingService = RequestAdaptingService(adapters)
            $0.errorHandlingService = ErrorHandlingService(handlers)
            $0.transport = transport ?? server
            $0.concurrencyLimit = ConcurrencyLimit(limit)
        }
    }

    @Test("A handler that ends every refused call prevents the refresh, for 1,000 calls")
    func failingFirst() async {
        let session = session()
        let fail = AdHocErrorHandler { .fail($0.status == .unauthorized ? UserError.cloudy : $0.error) }
        let service = service([session.adapter], [fail, session.handler])
        let errors = await withTaskGroup(of: UserError?.self) { group in
            for _ in 0..<1_000 {
                group.addTask {
                    await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } as? UserError
                }
            }
            return await group.reduce(into: [UserError?]()) { $0.append($1) }
        }
        #expect(errors.count == 1_000 && errors.allSatisfy { $0 == .cloudy })
        #expect(refreshes.value == 0)
        #expect(server.requests.count == 1_000)
    }

    @Test("A handler that asks for a retry prevents the refresh; the next refusal that reaches the handler starts it")
    func retryingFirst() async throws {
        let session = session()
        let retry = AdHocErrorHandler { $0.attempt == 1 ? .retry(because: "once more") : .next($0.error) }
        let service = service([session.adapter], [retry, session.handler])
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(refreshes.value == 1)
        #expect(server.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer old", "Bearer new"])
    }

    @Test("A registered handler counts as standing in front, as long as it is registered")
    func registered() async throws {
        let session = session()
        let service = service([session.adapter], [session.handler])
        let token = service.client.errorHandlingService.register(AdHocErrorHandler { .fail($0.error) })
        _ = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(refreshes.value == 0)
        token.cancel()
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(refreshes.value == 1)
    }

    @Test("While a handler in front decides, other calls are sent, and end on their own")
    func slowHandler() async throws {
        let session = session()
        let gate = Settlement<Void>()
        let slow = AdHocErrorHandler { failure in
            if failure.request?.url.path.hasSuffix("slow") == true { _ = try? await gate.value() }
            return .next(failure.error)
        }
        let service = service([session.adapter], [slow, session.handler])
        let waiting = service.task(UserEndpoint.fetch(id: "slow"), as: .void)
        while server.requests.isEmpty { await Task.yield() }
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(refreshes.value == 1)
        gate.settle(.success(()))
        try await waiting.value
        #expect(refreshes.value == 1, "the slow call is repeated with the new token")
    }

    @Test("A call that was refused before the refresh of another call starts no second refresh, even if refused again")
    func refusedBefore() async throws {
        let session = session()
        let gate = Settlement<Void>()
        let slow = AdHocErrorHandler { failure in
            if failure.request?.url.path.hasSuffix("slow") == true { _ = try? await gate.value() }
            return .next(failure.error)
        }
        let server = StubTransport {
            let isAccepted = $0.headers[.authorization] == "Bearer new" && !$0.url.path.hasSuffix("slow")
            return .status(isAccepted ? .ok : .unauthorized)
        }
        let service = service([session.adapter], [slow, session.handler], server)
        let waiting = service.task(UserEndpoint.fetch(id: "slow"), as: .void)
        while server.requests.isEmpty { await Task.yield() }
        try await service.request(UserEndpoint.fetch(id: "7"))
        gate.settle(.success(()))
        #expect(await Fixture.failure { try await waiting.value } as? GeneralRequestError == .noAuth)
        #expect(server.requests.filter { $0.url.path.hasSuffix("slow") }.count == 2)
        #expect(refreshes.value == 1)
    }

    @Test("Of 1,000 calls with a dead token, exactly the limit is refused, and one refresh runs")
    func thousand() async throws {
        try await expectOneRefresh(in: service([session().adapter], []))
    }

    @Test("A mapper in front does not delay the refresh: exactly the limit is refused")
    func mapperFirst() async throws {
        try await expectOneRefresh(in: service([session().adapter], [Mapper()]))
    }

    private func expectOneRefresh(in template: NetworkService) async throws {
        let session = session()
        let arrived = Box(0)
        let release = Settlement<Void>()
        let server = StubTransport { request in
            guard request.headers[.authorization] != "Bearer new" else { return .status(.ok) }
            arrived.change { $0 += 1 }
            try await release.value()
            return .status(.unauthorized)
        }
        let handlers = template.client.configuration.errorHandlingService.handlers + [session.handler]
        let service = service([session.adapter], handlers, limit: 64, server)
        async let calls: Void = withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<1_000 { group.addTask { try await service.request(UserEndpoint.fetch(id: "7")) } }
            try await group.waitForAll()
        }
        while arrived.value < 64 { await Task.yield() }
        release.settle(.success(()))
        try await calls
        #expect(arrived.value == 64)
        #expect(refreshes.value == 1)
    }

    @Test("A mapper's own handle method is never called, and its mapping reaches the caller")
    func mapperIsNotAsked() async throws {
        let service = service([], [Mapper()], limit: 64, StubTransport { _ in .status(418) })
        let error = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(error as? UserError == .cloudy)
    }

    @Test("The adapter alone only adds the token: a refusal starts no refresh, and an expired token is sent")
    func adapterAlone() async throws {
        let expired = AccessToken("old", expiresAt: .distantPast)
        let service = service([session(expired).adapter], [])
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(server.requests.map { $0.headers[.authorization] } == ["Bearer old"])
        #expect(refreshes.value == 0)
    }

    @Test("The handler alone refreshes and repeats a call to which the app has added the current or previous token")
    func handlerAlone() async throws {
        let session = session()
        let own = AdHocAdapter { request, _ in
            let token = session.accessToken?.value ?? ""
            request.headers[.authorization] = "Bearer \(token)"
        }
        let service = service([own], [session.handler])
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(refreshes.value == 1)
        let attempts = Box(0)
        let late = AdHocAdapter { request, _ in
            attempts.change { $0 += 1 }
            request.headers[.authorization] = attempts.value == 1 ? "Bearer old" : "Bearer new"
        }
        try await self.service([late], [session.handler]).request(UserEndpoint.fetch(id: "7"))
        #expect(attempts.value == 2 && refreshes.value == 1, "a refusal of the previous token needs no refresh")
        let other = AdHocAdapter { request, _ in request.headers[.authorization] = "Bearer other" }
        let foreign = self.service([other], [session.handler])
        _ = await Fixture.failure { try await foreign.request(UserEndpoint.fetch(id: "7")) }
        #expect(refreshes.value == 1, "a token that the session does not know is none of its own")
    }

    @Test("Five calls that are forbidden for good make one refresh, not five; other endpoints still refresh")
    func forbidden() async throws {
        let number = Box(0)
        let session = AccessTokenSupervisor(
            token: AccessToken("t0"), unauthorizedStatuses: [.unauthorized, .forbidden], clock: Fixture.stillClock
        ) { _ in
            number.change { $0 += 1 }
            return AccessToken("t\(number.value)")
        }
        let isDead = Box(false)
        let server = StubTransport { request in
            if request.method == .patch { return .status(.forbidden) }
            return .status(isDead.value && request.headers[.authorization] == "Bearer t1" ? .unauthorized : .ok)
        }
        let service = service([session.adapter], [session.handler], limit: 64, server)
        for _ in 0..<5 {
            let call = UserEndpoint.rename(id: "7", to: "x")
            #expect(await Fixture.failure { try await service.request(call) } as? GeneralRequestError == .forbidden)
        }
        #expect(number.value == 1)
        #expect(server.requests.count == 6)
        isDead.change { $0 = true }
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(number.value == 2)
    }

    @Test("A body that cannot be read does not hide the refusal")
    func brokenBody() async throws {
        let server = StubTransport { request in
            guard request.headers[.authorization] != "Bearer new" else { return .status(.ok) }
            let head = HTTPResponse(.unauthorized, to: request)
            throw NetworkError(.truncatedBody).completed(request: request, response: head)
        }
        let session = session()
        let service = service([session.adapter], [session.handler], limit: 64, server)
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(refreshes.value == 1)
    }
}

private struct Mapper: ErrorMapper {
    func mapped(_ failure: RequestFailure) -> (any Error)? { failure.status == .unauthorized ? nil : UserError.cloudy }

    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        Issue.record("the chain calls `mapped(_:)` only")
        return .next(failure.error)
    }
}
