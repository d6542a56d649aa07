import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests for defects that a review found and that must stay fixed.
@Suite("Redirects, nesting and retries together")
struct RepeatingTests {
    private enum Order: Endpoint {
        case place
        case poll

        var path: EndpointPath { "orders" }
        var method: HTTPMethod { self == .place ? .post : .get }
        var authorizationType: AuthorizationType { .bearer }
    }

    /// Returns a stub that redirects POST /orders to GET /orders/1, which fails with `status`.
    private func redirecting(to status: HTTPStatus) -> StubTransport {
        let stub = StubTransport()
        stub.on(.post, "/v1/orders", .status(.seeOther, headers: [.location: "/orders/1"]))
        stub.on(.get, "/orders/1", .status(status))
        return stub
    }

    private func posts(_ stub: StubTransport) -> Int { stub.requests.filter { $0.method == .post }.count }

    @Test("A POST that a redirect changed to a GET is not sent again if the GET fails")
    func redirectedPost() async throws {
        let stub = redirecting(to: .serviceUnavailable)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([RetryErrorHandler(RetryPolicy(retries: 3))])
        }
        let error = await Fixture.failure { try await service.request(Order.place) }
        #expect((error as? NetworkError)?.status == .serviceUnavailable)
        #expect(posts(stub) == 1)
    }

    @Test("A POST that a redirect changed to a GET is not sent again if the token of the GET is refused")
    func redirectedPostAndToken() async throws {
        let stub = redirecting(to: .unauthorized)
        let session = AccessTokenSupervisor(token: AccessToken("stale"), clock: Fixture.stillClock) { _ in
            AccessToken("fresh")
        }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        _ = await Fixture.failure { try await service.request(Order.place) }
        #expect(posts(stub) == 1)
    }

    @Test("With a limit of one, a call by an adapter does not wait for the permit of its outer call")
    func nested() async throws {
        let stub = StubTransport { _ in .status(.ok) }
        let limit = ConcurrencyLimit(1)
        let inner = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
        }
        let adapter = ClosureAdapter { request, _ in
            try await inner.request(Order.poll)
            request.headers["X-Attested"] = "1"
        }
        let outer = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
            $0.requestAdaptingService = RequestAdaptingService([adapter])
        }
        try await outer.request(Order.place)
        #expect(stub.requests.map(\.method) == [.get, .post])
        #expect(limit.activeCount == 0)
    }

    @Test("A refresh that fails immediately is the underlying error of the 401")
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

    @Test("A call that is cancelled while it waits to retry reports the cancellation, not the last response")
    func cancelledBackoff() async throws {
        let clock = ManualClock()
        let seen = Box<[RequestFailure]>([])
        let handler = ClosureErrorHandler { failure in
            seen.change { $0.append(failure) }
            return .next(failure.error)
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.serviceUnavailable) }
            $0.errorHandlingService = ErrorHandlingService([
                handler, RetryErrorHandler(RetryPolicy(retries: 3, backoff: .constant(.seconds(5)))),
            ])
            $0.clock = clock.networkClock
        }
        let task = service.task(Order.poll, as: .void)
        await clock.waitForSleepers(1)
        task.cancel()
        _ = await Fixture.failure { _ = try await task.value }
        let last = try #require(seen.value.last)
        #expect(last.networkError?.kind == .cancelled)
        #expect(last.status == nil)
        #expect(last.attempt == 1)
        #expect(last.history.count == 1)
    }

    @Test("Two retry handlers of one service count their retries separately")
    func twoHandlers() async throws {
        let stub = StubTransport { _ in .status(.serviceUnavailable) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([
                RetryErrorHandler(RetryPolicy(retries: 2)), RetryErrorHandler(RetryPolicy(retries: 3)),
            ])
        }
        _ = await Fixture.failure { try await service.request(Order.poll) }
        #expect(stub.requests.count == 1 + 2 + 3)
    }

    @Test("After a cancellation during one adapter, the next adapters do not run")
    func adaptersAfterCancel() async throws {
        let ran = Box(0)
        let first = ClosureAdapter { _, _ in withUnsafeCurrentTask { $0?.cancel() } }
        let second = ClosureAdapter { _, _ in ran.change { $0 += 1 } }
        let service = NetworkService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = StubTransport { _ in .status(.ok) }
            $0.requestAdaptingService = RequestAdaptingService([first, second])
        }
        let error = await Task { await Fixture.failure { try await service.request(Order.poll) } }.value
        #expect((error as? NetworkError)?.kind == .cancelled)
        #expect(ran.value == 0)
    }

    @Test("A foreign error is described by its type, without paths and secrets")
    func foreignErrors() {
        struct Leaky: Error { let token = "s3cret" }
        let error = NetworkError.wrapping(Leaky())
        #expect(!"\(error)".contains("s3cret"))
        #expect(error.underlying is Leaky)
    }

    @Test("A quote with a combining mark is escaped in a quoted string")
    func quoting() {
        #expect(HTTPGrammar.quoted("x\"\u{301}; charset=evil") == "\"x\\\"\u{301}; charset=evil\"")
    }

    @Test("A call that accepts every media type accepts a response without Content-Type")
    func acceptAnything() async throws {
        let stub = StubTransport { _ in StubResponse(.ok, body: Data("x".utf8)) }
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: Fixture.environment.baseURL, headers: [.accept: "*/*"])
        ) { $0.transport = stub }
        try await service.request(Order.poll)
    }

    @Test("A path prefix is added to a path, unless the literal text of the path begins with it")
    func prefixes() throws {
        func url(_ prefix: EndpointPath, _ path: EndpointPath) throws -> String {
            struct Plain: Endpoint { let path: EndpointPath }
            let environment = NetworkEnvironment(baseURL: URL(string: "https://a.example"), pathPrefix: prefix)
            return try EndpointRequest(endpoint: Plain(path: path), environment: CopyOnWrite(environment))
                .make(RequestSettings()).url.absoluteString
        }
        let name = "api"
        #expect(try url("api", "\(name)/x") == "https://a.example/api/api/x")
        #expect(try url("api", "api/x") == "https://a.example/api/x")
        #expect(try url("api", "api") == "https://a.example/api")
        #expect(try url("api", "api\(name)/x") == "https://a.example/api/apiapi/x")
        #expect(try url("/v1/", "users") == "https://a.example/v1/users")
        #expect(try url("/v1/", "v1/users") == "https://a.example/v1/users")
    }

    @Test("A redirect to another origin removes Host; a change of the method removes conditions and ranges")
    func boundFields() throws {
        let url = try #require(URL(string: "https://a.example/x"))
        var request = HTTPRequest(
            .post, url, headers: ["Host": "virtual.example", "If-Match": "\"1\"", "Range": "bytes=0-"])
        request.body = .string("text")
        let response = HTTPResponse(.seeOther, headers: [.location: "https://b.example/y"], to: request)
        guard case .follow(let next) = try Redirect(response) else { return #expect(Bool(false), "not followed") }
        #expect(next.headers.isEmpty)
    }

    @Test("L2: a redirect from https to http is refused", arguments: ["http://a.example/y", "HTTP://a.example/"])
    func downgrade(location: String) throws {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/x")))
        let error = #expect(throws: NetworkError.self) {
            _ = try Redirect(HTTPResponse(.found, headers: [.location: location], to: request))
        }
        #expect(error?.kind == .redirectRefused)
    }

    @Test("A sequence of values ends with its broadcaster, and loses no earlier value")
    func endOfValues() async {
        var broadcaster: Broadcaster<Int>? = Broadcaster()
        let values = broadcaster?.values()
        broadcaster?.publish(1)
        broadcaster?.publish(2)
        broadcaster = nil
        var seen: [Int] = []
        if let values { for await value in values { seen.append(value) } }
        #expect(seen == [1, 2])
    }

    @Test("Changing a copy of a request leaves the original unchanged")
    func copyOnWrite() throws {
        let first = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        var second = first
        second.headers["X"] = "1"
        second.method = .put
        second.timeouts.idle = .seconds(1)
        second.admission = .unlimited
        #expect(first.headers.isEmpty)
        #expect(first.method == .get)
        #expect(first.timeouts.idle == nil)
        #expect(first.admission == .required)
        #expect(second.headers["X"] == "1")
    }
}
