import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Composition of a service", .endsInTime)
struct CompositionTests {
    private let log = Box<[String]>([])

    private struct Item: Endpoint {
        var path: EndpointPath = "item"
        var method = HTTPMethod.get
        var headers: HTTPHeaders = []
        var idempotencyKey = IdempotencyKey.none
        var authorizationType = AuthorizationType.none
        var settings = RequestSettings()
    }

    private struct Decorator: Transport {
        let name: String
        let log: Box<[String]>
        let base: any Transport

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            log.change { $0.append("\(name) will") }
            let response = try await base.send(request, delivering: delivery)
            log.change { $0.append("\(name) did") }
            return response
        }
    }

    @Test("A closure can replace each request before it is sent, and a decorator observes each attempt", .row("I-37"))
    func hooks() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .down, .text("ok"))
        let count = Box(0)
        let willRequest = AdHocAdapter { request, _ in
            count.change { $0 += 1 }
            guard let mirror = URL(string: "https://mirror.example/\(count.value)") else { return }
            request = HTTPRequest(.get, mirror)
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 1)
            $0.transport = Decorator(name: "hook", log: log, base: stub)
            $0.requestAdaptingService = RequestAdaptingService([willRequest])
        }
        try await service.request(Item())
        #expect(stub.requests.map(\.url.absoluteString) == ["https://mirror.example/1", "https://mirror.example/2"])
        #expect(log.value == ["hook will", "hook did", "hook will", "hook did"])
    }

    @Test(
        "Adapters can change every request, and decorators run in the order of their nesting",
        .row("P-15", "P-13", "P-19"))
    func decorators() async throws {
        let stub = StubTransport { _ in .text("ok") }
        let chain = Decorator(name: "outer", log: log, base: Decorator(name: "inner", log: log, base: stub))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = chain
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in request.headers["X-Rewritten"] = "yes" }
            ])
        }
        try await service.request(Item())
        #expect(log.value == ["outer will", "inner will", "inner did", "outer did"])
        #expect(stub.requests[0].headers["X-Rewritten"] == "yes")
    }

    @Test("Policies, handlers and transports have a fixed order, regardless of the order in which they are set")
    func order() throws {
        struct Own: AdmissionPolicy {
            func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? { AdmissionPermit() }
            func enter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit { AdmissionPermit() }
            func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}
        }
        let session = AccessTokenSupervisor(token: nil, clock: Fixture.stillClock) { _ in AccessToken("x") }
        let client = NetworkClient(environment: Fixture.environment, authorizedBy: session) {
            $0.admissionPolicies = [Own()]
            $0.cache = ResponseCache()
            $0.cookies = CookieJar()
            $0.duplicates = .always(.join)
            $0.retry = .standard
            $0.circuitBreaker = CircuitBreaker()
        }
        #expect(
            client.admission.policies.map { "\(type(of: $0))" }
                == ["CircuitBreaker", "BackoffGate", "Own", "ConcurrencyLimit", "TokenGate"])
        #expect(
            client.errorHandlingService.handlers.map { "\(type(of: $0))" }
                == ["UnauthorizedErrorHandler", "RetryErrorHandler", "GeneralErrorHandler"])
        var chain: [String] = []
        var next = Mirror(reflecting: client.transport).descendant("uploads")
        while let transport = next {
            chain.append("\(type(of: transport))")
            next = Mirror(reflecting: transport).children.first { $0.label == "base" }?.value
        }
        #expect(
            chain.prefix(7) == [
                "UploadTransport", "DownloadTransport", "DuplicateHandlingTransport", "RedirectFollowingTransport",
                "CookieTransport", "CachingTransport", "SetCookieTransport",
            ])
    }

    @Test("By default there are a back-off gate and a limit of 64, but no retries, cookies or duplicate handling")
    func outOfTheBox() async throws {
        let client = NetworkService().client
        #expect(client.admission.policies.map { "\(type(of: $0))" } == ["BackoffGate", "ConcurrencyLimit"])
        #expect((client.admission.policies.last as? ConcurrencyLimit)?.limit == 64)
        let stub = StubTransport { _ in .down }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        _ = await Fixture.failure { try await service.request(Item()) }
        #expect(stub.requests.count == 1)
    }

    @Test("The policies of an endpoint apply even if the service has none")
    func ownPolicies() async throws {
        struct Own: Endpoint {
            let path: EndpointPath = "own"
            var settings: RequestSettings {
                RequestSettings {
                    $0.retry = RetryPolicy(retries: 2)
                    $0.duplicates = .always(.keepFirst)
                }
            }
        }
        let stub = StubTransport { _ in .down }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        _ = await Fixture.failure { try await service.request(Own()) }
        #expect(stub.requests.count == 3)
        let transport = ManualTransport()
        let held = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.errorMapping = .unmapped
        }
        let first = held.task(Own(), as: .string)
        await transport.waitForRequests()
        #expect((await Fixture.failure { try await held.request(Own()) } as? NetworkError)?.kind == .cancelled)
        transport.answer(.ok, "x")
        #expect(try await first.value == "x")
    }

    @Test(
        "A handler, gate or adapter in a list is not added again; a handler brings its gate, but not its adapter"
    )
    func partsOnce() throws {
        let session = AccessTokenSupervisor(token: AccessToken("a"), clock: Fixture.stillClock) { _ in AccessToken("b")
        }
        let handlers = [
            "RetryErrorHandler", "UnauthorizedErrorHandler", "GeneralErrorHandler", "AdHocErrorHandler",
        ]
        let client = NetworkClient(environment: Fixture.environment) {
            $0.retry = .standard
            $0.errorHandlingService = ErrorHandlingService([
                RetryErrorHandler(.standard), session.handler, GeneralErrorHandler(),
                AdHocErrorHandler { .next($0.error) },
            ])
        }
        #expect(client.errorHandlingService.handlers.map { "\(type(of: $0))" } == handlers)
        #expect(!client.requestAdaptingService.adapters.contains { $0 is TokenRequestAdapter })
        #expect(client.admission.policies.last is TokenGate)
        let whole = NetworkClient(environment: Fixture.environment, authorizedBy: session) {
            $0.admissionPolicies = [session.gate]
            $0.requestAdaptingService = RequestAdaptingService([session.adapter])
        }
        #expect(whole.admission.policies.filter { $0 is TokenGate }.count == 1)
        #expect(whole.requestAdaptingService.adapters.count == 1)
    }

    @Test("The adapted request of a call, with its token, can be created without sending it", .row("N-38"))
    func requestAlone() async throws {
        let stub = StubTransport { _ in .status(.ok) }
        let session = AccessTokenSupervisor(token: AccessToken("t"), clock: Fixture.stillClock) { _ in AccessToken("u")
        }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([HeadersAdapter(["X-A": "1"])])
        }
        let request = try await service.httpRequest(for: UserEndpoint.rename(id: "7", to: "Ada"))
        #expect(
            request.method == .patch && request.headers["X-A"] == "1" && request.headers[.authorization] == "Bearer t")
        #expect(request.body.data == Data(#"{"name":"Ada"}"#.utf8) && stub.requests.isEmpty)
        #expect(request.curlCommand().contains("https://api.example.com/v1/users/7"))
        await #expect(throws: NetworkError.self) { try await service.httpRequest(for: .url("http://[")) }
    }

    /// A subclass with a stored property. It calls each initializer of `NetworkService`. Each of those initializers
    /// must be designated, because a subclass that calls a convenience initializer compiles but does not link.
    private final class Tagged: NetworkService, @unchecked Sendable {
        let tag: String

        init(_ tag: String, _ configure: (inout NetworkConfiguration) -> Void) {
            self.tag = tag
            super.init(environment: Fixture.environment, configure: configure)
        }

        init(_ tag: String, of configuration: NetworkConfiguration) {
            self.tag = tag
            super.init(configuration: configuration)
        }

        init(_ tag: String, _ handler: any ErrorHandler) {
            self.tag = tag
            super.init(
                environment: Fixture.environment, requestAdaptingService: RequestAdaptingService(),
                errorHandlingService: ErrorHandlingService([handler]))
        }

        init(_ tag: String, client: NetworkClient) {
            self.tag = tag
            super.init(client: client)
        }
    }

    @Test("A subclass with a stored property can call each initializer, and all initializers add the same parts")
    func subclasses() {
        let services = [
            Tagged("a") { _ in }, Tagged("b", of: NetworkConfiguration(environment: Fixture.environment)),
            Tagged("c", AdHocErrorHandler { .next($0.error) }), Tagged("d", client: NetworkService().client),
        ]
        #expect(services.map(\.tag) == ["a", "b", "c", "d"])
        for service in services {
            #expect(service.client.admission.policies.count == 2)
            #expect(service.client.errorHandlingService.handlers.last is GeneralErrorHandler)
        }
    }

    @Test("If a request cannot be created, the error names the call, and nothing is sent")
    func mistakes() async throws {
        let stub = StubTransport { _ in .text("ok") }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let nowhere = NetworkService { $0.transport = stub }
        let mistakes: [(NetworkService, Item, String)] = [
            (service, Item(path: "a/\("")"), "path: an interpolated segment is empty (Item, GET /a/{})"),
            (
                service, Item(path: "https://other.example/x"),
                "is a URL, expected a path; to use another server, set `baseURL`"
            ),
            (
                service, Item(method: .post, idempotencyKey: .value("")),
                "idempotency key: expected a text, found an empty one"
            ),
            (nowhere, Item(), "check whether URL(string:) has returned nil (Item, GET /item)"),
        ]
        for (service, item, words) in mistakes {
            let error = await Fixture.failure { try await service.request(item) } as? NetworkError
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        }
        #expect(stub.requests.isEmpty)
    }
}
