import Foundation
import Networking
import NetworkingTesting
import Testing

/// Needs that later readings of the four libraries' documents found beside the rows of the migration guides.
@Suite("Needs of the four libraries' users beside the rows of the guides", .endsInTime)
struct SeedNeedTests {
    private struct Login: Error {}
    private struct ShopError: Decodable, Equatable, Sendable { let code: Int }

    private let stub = StubTransport()

    private func service(
        _ session: AccessTokenSupervisor? = nil, configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            configure(&$0)
        }
    }

    @Test("A handler before `UnauthorizedErrorHandler` that ends the call prevents the refresh", .row("R-42"))
    func handlerInFront() async throws {
        stub.on(nil, nil, .status(.unauthorized))
        let refresher = StubRefresher()
        let session = AccessTokenSupervisor(
            token: AccessToken("old"), clock: Fixture.stillClock, refresh: refresher.refresh)
        let service = NetworkService(
            client: NetworkService(
                environment: Fixture.environment,
                requestAdaptingService: RequestAdaptingService([TokenRequestAdapter(accessTokenSupervisor: session)]),
                errorHandlingService: ErrorHandlingService([
                    AdHocErrorHandler { failure in
                        failure.status == .unauthorized ? .fail(Login()) : .next(failure.error)
                    },
                    UnauthorizedErrorHandler(accessTokenSupervisor: session),
                ])
            ).client.with { $0.transport = stub })
        await #expect(throws: Login.self) { try await service.request(.get("x").authorized()) }
        #expect(refresher.count == 0)
    }

    @Test("A failed refresh that ends the session reports it once, so that an app shows its login screen", .row("R-42"))
    func login() async throws {
        stub.on(nil, nil, .status(.unauthorized))
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()
        }
        let (shown, show) = AsyncStream.makeStream(of: Void.self)
        let token = session.events.observe { event in if case .sessionOver = event { show.yield() } }
        let service = service(session)
        await #expect(throws: GeneralRequestError.self) { try await service.request(.get("x").authorized()) }
        for await _ in shown { break }
        token.cancel()
    }

    @Test("A closure gets status and fields beside an untyped value", .row("R-43"))
    func untyped() async throws {
        stub.on(nil, nil, .json(text: #"{"id":7}"#, headers: ["X-Page": "2"]))
        let (found, find) = AsyncStream.makeStream(of: String.self)
        service().request(
            for: AdHocEndpoint.get("x"),
            success: { (response: Response<JSONValue>) in
                let http = response.http
                find.yield("\(response.value["id"] ?? .null) \(http.status.code) \(http.headers["X-Page"] ?? "")")
            }, failure: { error in find.yield("\(error)") })
        for await text in found {
            #expect(text == "7 200 2")
            break
        }
    }

    @MainActor private final class Screen {
        weak var request: (any CancellableRequest)?
    }

    @Test("A screen may hold a call weakly, which goes on, and is gone at its end", .row("R-38"))
    @MainActor func weakly() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        stub.on(nil, nil) { _ in
            for await _ in gate { break }
            return .text("done")
        }
        let screen = Screen()
        let (texts, text) = AsyncStream.makeStream(of: String.self)
        screen.request = service().request(
            for: AdHocEndpoint.get("x"), as: .string, success: { text.yield($0) }, failure: { _ in text.finish() })
        while stub.requests.isEmpty { await Task.yield() }
        #expect(screen.request != nil)
        open.yield()
        for await found in texts {
            #expect(found == "done")
            break
        }
        while screen.request != nil { await Task.yield() }
    }

    @Test("Observers of a status and of calls are kept as tokens in an array, and end together", .row("R-39"))
    func tokens() async throws {
        stub.on(nil, nil, .text("done"))
        let reachability = ReachabilityService(
            probe: StubProbe(.reachable(.wireless)), clock: Fixture.stillClock)
        let service = service()
        let (heard, hear) = AsyncStream.makeStream(of: String.self)
        var tokens = [reachability.statuses.observe(on: nil) { _ in hear.yield("status") }]
        tokens.append(service.observers.onFinish { _, _ in hear.yield("end") })
        await reachability.check()
        try await service.request(.get("x"))
        var found: Set<String> = []
        for await name in heard {
            found.insert(name)
            if found.count == 2 { break }
        }
        #expect(found == ["status", "end"])
        tokens.removeAll()
        try await service.request(.get("x"))
        hear.finish()
        for await name in heard { Issue.record("\(name) after the tokens were released") }
    }

    @Test("A call is a value whose members are changed, and its task shows the request", .row("N-44"))
    func changed() async throws {
        stub.on(nil, nil, .text("done"))
        let call = AdHocEndpoint.get("x")
        let other = call.query("page", 2).header("X-Tenant", "a")
        let task = service().task(other, as: .string)
        _ = try await task.value
        #expect(task.request?.url.query == "page=2" && task.request?.headers["X-Tenant"] == "a")
        #expect(call.query.isEmpty && call.headers.isEmpty)
    }

    @Test("A field of all calls changes while the app runs, also for the next attempt", .row("N-46"))
    func changingField() async throws {
        stub.on(nil, nil, .status(.serviceUnavailable), .text("done"))
        let language = Box("en")
        let service = service {
            $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero))
            $0.backoffGate = nil
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in
                    request.headers["X-Language"] = language.value
                    language.change { $0 = "de" }
                }
            ])
        }
        _ = try await service.request(.get("x"), as: .string)
        #expect(stub.requests.map { $0.headers["X-Language"] } == ["en", "de"])
    }

    @Test("The curl line of a call is written without sending it", .row("N-47"))
    func curl() async throws {
        let line = try await service().httpRequest(for: AdHocEndpoint.get("x").query("page", 2)).curlCommand()
        #expect(line.hasPrefix("curl ") && line.contains("https://api.example.com/v1/x"))
        #expect(stub.requests.isEmpty)
    }

    @Test("A token without refresh is sent, another one is assigned, and a refusal ends the call", .row("N-49"))
    func fixed() async throws {
        stub.on(nil, nil, .text("done"), .text("done"), .status(.unauthorized))
        let session = AccessTokenSupervisor(fixed: "a")
        let service = service(session)
        _ = try await service.request(.get("x").authorized(), as: .string)
        session.accessToken = AccessToken("b")
        _ = try await service.request(.get("x").authorized(), as: .string)
        let error = await #expect(throws: GeneralRequestError.self) {
            try await service.request(.get("x").authorized())
        }
        #expect(error?.cause?.status == .unauthorized)
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer a", "Bearer b", "Bearer b"])
    }

    @Test(
        "A 401, 403 or 404 whose body is not the server's error is a general error with the status",
        .row("N-45", "N-50"),
        arguments: [HTTPStatus.unauthorized, .forbidden, .notFound])
    func undecodable(status: HTTPStatus) async throws {
        stub.on(nil, nil, .text("<html>", status: status), .json(text: #"{"code":3}"#, status: status))
        let call = AdHocEndpoint.get("x").failing(as: ShopError.self)
        let error = await #expect(throws: GeneralRequestError.self) { try await service().request(call) }
        #expect(error?.cause?.status == status)
        let failure = await #expect(throws: ServerFailure<ShopError>.self) { try await service().request(call) }
        #expect(failure?.serverError == ShopError(code: 3) && failure?.status == status)
    }

    @Test("A call with CONNECT ends before it is sent", .row("I-53"))
    func connect() async throws {
        let error = await Fixture.failure { try await service().request(AdHocEndpoint(.connect, "x")) }
        #expect((error as? NetworkError)?.kind == .invalidRequest)
        #expect(stub.requests.isEmpty)
    }
}
