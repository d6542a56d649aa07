import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Authorized calls")
struct AuthorizedCallTests {
    private let refresher = StubRefresher()
    private let clock = ManualClock()

    /// Returns a server that accepts one token and refuses every other one.
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

    @Test("R-18, R-19: the current token is sent with the endpoint's scheme; without a token no header is set")
    func dressing() async throws {
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

    @Test("2.5: a response and a report that are stored do not retain the session")
    func keptResponse() async throws {
        func call() async throws -> (response: Response<User>, session: Weak) {
            let session = session(AccessToken("one"))
            let service = service(server { "one" }, session)
            return (
                try await service.send(UserEndpoint.fetch(id: "7"), as: .json(User.self)), Weak(session: session)
            )
        }
        let (response, kept) = try await call()
        #expect(kept.session == nil)
        #expect(response.report.attempts.count == 1)
    }

    private struct Weak {
        weak var session: AccessTokenSupervisor?
    }

    @Test("R-20, R-26: a 401 starts one refresh, and the retry carries the new token")
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

    @Test("A server that always returns 401 causes one refresh for each call, and the call ends with its own error")
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

    @Test("Rule 10: a 401 of an authorized endpoint is a failure before any validator runs, also without validators")
    func beforeValidators() async throws {
        let stub = server { "fresh-1" }
        let service = service(stub, session(), settings: RequestSettings(validators: []))
        #expect(try await service.user("7") == User(id: "7"))
        #expect(refresher.count == 1)
    }

    @Test("U11: other statuses can be configured to mean that a token is refused")
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

    @Test("R-26: after a failed refresh a refused call ends with its own error; an unsent call has the refresh's error")
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

    @Test("Rule 5: an expired token is refreshed before sending, and the server never receives it")
    func preemptive() async throws {
        let session = session(AccessToken("stale", expiresAt: clock.date.addingTimeInterval(100)))
        let stub = server { "fresh-1" }
        clock.advance(by: .seconds(95))
        #expect(try await service(stub, session).user("7") == User(id: "7"))
        #expect(stub.requests.count == 1)
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

    @Test("Rule 8: a log-out during a refresh wins: the waiting call fails, and the late token is dropped")
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

    @Test("Rule 9: a 401 of the refresh itself starts no other refresh; its other adapters and handlers apply")
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

    @Test("Rule 9: the refresh mark ends with the refresh, also for tasks that the refresh leaves running")
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

    @Test("N-37: a token from a response is stored in the session before the success callback runs")
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
    }

    @Test("Observers are notified once that the session is over")
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

    @Test("A redirect to another origin is sent without the token, and a 401 from there starts no refresh")
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
        _ = stub
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
