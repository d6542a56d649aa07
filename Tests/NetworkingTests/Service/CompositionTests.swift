import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Composition of a service")
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

    @Test("I-37: a closure can replace each request before it is sent, and a decorator observes each attempt")
    func hooks() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .down, .text("ok"))
        let count = Box(0)
        let willRequest = ClosureAdapter { request, _ in
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
        "P-15, P-13, P-19: adapters can change every request, and decorators run in the order of their nesting")
    func decorators() async throws {
        let stub = StubTransport { _ in .text("ok") }
        let chain = Decorator(name: "outer", log: log, base: Decorator(name: "inner", log: log, base: stub))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = chain
            $0.requestAdaptingService = RequestAdaptingService([
                ClosureAdapter { request, _ in request.headers["X-Rewritten"] = "yes" }
            ])
        }
        try await service.request(Item())
        #expect(log.value == ["outer will", "inner will", "inner did", "outer did"])
        #expect(stub.requests[0].headers["X-Rewritten"] == "yes")
    }

    @Test("Policies, handlers and transports have a fixed order, in whichever order they are set")
    func order() throws {
        struct Own: AdmissionPolicy {
            func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? { AdmissionPermit() }
            func enter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit { AdmissionPermit() }
            func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}
        }
        let session = AccessTokenSupervisor(token: nil, clock: Fixture.stillClock) { _ in AccessToken("x") }
        let client = NetworkClient(environment: Fixture.environment, authorizedBy: session) {
            $0.admissionPolicies = [Own()]
            $0.cookies = CookieJar()
            $0.duplicates = .join
            $0.retry = .standard
            $0.circuitBreaker = CircuitBreaker()
        }
        #expect(
            client.admission.map { "\(type(of: $0))" }
                == ["CircuitBreaker", "BackoffGate", "Own", "ConcurrencyLimit", "TokenGate"])
        #expect(
            client.errorHandlingService.handlers.map { "\(type(of: $0))" }
                == ["UnauthorizedErrorHandler", "RetryErrorHandler", "GeneralErrorHandler"])
        var chain: [String] = []
        var next: Any? = client.transport
        while let transport = next {
            chain.append("\(type(of: transport))")
            next = Mirror(reflecting: transport).children.first { $0.label == "base" }?.value
        }
        #expect(
            chain.prefix(3) == ["DuplicateHandlingTransport", "RedirectFollowingTransport", "CookieTransport"])
    }

    @Test("By default there are a back-off gate and a limit of 64, but no retries, cookies or duplicate handling")
    func outOfTheBox() async throws {
        let client = NetworkService().client
        #expect(client.admission.map { "\(type(of: $0))" } == ["BackoffGate", "ConcurrencyLimit"])
        #expect((client.admission.last as? ConcurrencyLimit)?.limit == 64)
        let stub = StubTransport { _ in .down }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        _ = await Fixture.failure { try await service.request(Item()) }
        #expect(stub.requests.count == 1)
    }

    @Test("The policies of an endpoint also apply if the service has none")
    func ownPolicies() async throws {
        struct Own: Endpoint {
            let path: EndpointPath = "own"
            var settings: RequestSettings {
                RequestSettings {
                    $0.retry = RetryPolicy(retries: 2)
                    $0.duplicates = .keepFirst
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

    @Test("A part that a list already contains is not added again, and one part of a session adds its other parts")
    func partsOnce() throws {
        let session = AccessTokenSupervisor(token: AccessToken("a"), clock: Fixture.stillClock) { _ in AccessToken("b")
        }
        let handlers = [
            "RetryErrorHandler", "UnauthorizedErrorHandler", "GeneralErrorHandler", "ClosureErrorHandler",
        ]
        let client = NetworkClient(environment: Fixture.environment) {
            $0.retry = .standard
            $0.errorHandlingService = ErrorHandlingService([
                RetryErrorHandler(.standard), session.handler, GeneralErrorHandler(),
                ClosureErrorHandler { .next($0.error) },
            ])
        }
        #expect(client.errorHandlingService.handlers.map { "\(type(of: $0))" } == handlers)
        #expect(client.requestAdaptingService.adapters.last is TokenRequestAdapter)
        #expect(client.admission.last is TokenGate)
        let whole = NetworkClient(environment: Fixture.environment, authorizedBy: session) {
            $0.admissionPolicies = [session.gate]
            $0.requestAdaptingService = RequestAdaptingService([session.adapter])
        }
        #expect(whole.admission.filter { $0 is TokenGate }.count == 1)
        #expect(whole.requestAdaptingService.adapters.count == 1)
    }

    @Test("N-38: the adapted request of a call, with its token, can be created without sending it")
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

    @Test("A derived client differs in the changed settings and shares the rest")
    func derived() async throws {
        let stub = StubTransport { _ in .text("ok") }
        let client = NetworkClient(environment: Fixture.environment) {
            $0.transport = stub
            $0.cookies = CookieJar()
        }
        let other = client.with {
            $0.environment = NetworkEnvironment(baseURL: URL(string: "https://media.example.com"))
        }
        try await NetworkService(client: other).request(.get("film"))
        #expect(stub.requests.last?.url.absoluteString == "https://media.example.com/film")
        #expect(other.configuration.cookies === client.configuration.cookies)
        #expect(other.configuration.concurrencyLimit === client.configuration.concurrencyLimit)
        #expect(other.configuration.backoffGate === client.configuration.backoffGate)
        try await NetworkService(client: client).request(.get("film"))
        #expect(stub.requests.last?.url.host() == "api.example.com")
    }

    @Test("The default gate of a configuration uses its clock, and a gate that was set is kept")
    func gateClock() {
        let clock = ManualClock()
        var configuration = NetworkConfiguration()
        let first = configuration.backoffGate
        configuration.clock = clock.networkClock
        #expect(configuration.backoffGate !== first)
        let own = BackoffGate()
        configuration.backoffGate = own
        configuration.clock = .continuous
        #expect(configuration.backoffGate === own)
        configuration.backoffGate = nil
        configuration.clock = clock.networkClock
        #expect(configuration.backoffGate == nil)
    }

    /// A subclass with a stored property that calls each initializer of `NetworkService`. Each of them must be
    /// designated, because a call of a convenience initializer compiles but does not link.
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

    @Test("A subclass with a stored property can use each initializer, and all of them create the same service")
    func subclasses() {
        let services = [
            Tagged("a") { _ in }, Tagged("b", of: NetworkConfiguration(environment: Fixture.environment)),
            Tagged("c", ClosureErrorHandler { .next($0.error) }), Tagged("d", client: NetworkService().client),
        ]
        #expect(services.map(\.tag) == ["a", "b", "c", "d"])
        for service in services {
            #expect(service.client.admission.count == 2)
            #expect(service.client.errorHandlingService.handlers.last is GeneralErrorHandler)
        }
    }

    @Test("Services of one configuration share its limit and its gate")
    func shared() async throws {
        let configuration = NetworkConfiguration(environment: Fixture.environment)
        let identities = (0..<2).map { _ in
            let client = NetworkClient(configuration: configuration)
            let limit = client.admission.compactMap { $0 as? ConcurrencyLimit }.first
            let gate = client.admission.compactMap { $0 as? BackoffGate }.first
            return [limit.map(ObjectIdentifier.init), gate.map(ObjectIdentifier.init)]
        }
        #expect(identities[0] == identities[1])
        #expect(!identities[0].contains(nil))
    }

    @Test("A request that cannot be sent is an error that names its call, before anything is sent")
    func mistakes() async throws {
        let stub = StubTransport { _ in .text("ok") }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let nowhere = NetworkService { $0.transport = stub }
        let mistakes: [(NetworkService, Item, String)] = [
            (service, Item(path: "a/\("")"), "path: an interpolated segment is empty (Item, GET /a/{})"),
            (service, Item(path: "https://other.example/x"), "path: expected a path, found a URL; set `baseURL`"),
            (service, Item(method: .post, idempotencyKey: .value("")), "idempotency key: it is empty"),
            (nowhere, Item(), "was given nil (Item, GET /item)"),
        ]
        for (service, item, words) in mistakes {
            let error = await Fixture.failure { try await service.request(item) } as? NetworkError
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        }
        #expect(stub.requests.isEmpty)
    }

    @Test("P-06: an environment can be set as a whole for one call or one endpoint; the call's environment wins")
    func environments() async throws {
        let stub = StubTransport { _ in .text("ok") }
        func environment(_ host: String, _ header: String) -> NetworkEnvironment {
            NetworkEnvironment(
                baseURL: URL(string: "https://\(host).example"), pathPrefix: "v\(header)", headers: ["X-Env": header],
                query: ["env": header])
        }
        let service = NetworkService(environment: environment("service", "1")) { $0.transport = stub }
        let ofEndpoint = RequestSettings(environment: environment("endpoint", "2"))
        let ofCall = RequestSettings(environment: environment("call", "3"))
        try await service.request(Item())
        try await service.request(Item(settings: ofEndpoint))
        try await service.request(Item(settings: ofEndpoint), with: ofCall)
        #expect(
            stub.requests.map(\.url.absoluteString) == [
                "https://service.example/v1/item?env=1", "https://endpoint.example/v2/item?env=2",
                "https://call.example/v3/item?env=3",
            ])
        #expect(stub.requests.map { $0.headers["X-Env"] } == ["1", "2", "3"])
        #expect(service.client.configuration.environment.headers["X-Env"] == "1")
    }

    @Test("The headers of a request override the headers of the environment")
    func headers() async throws {
        let stub = StubTransport { _ in .text("ok") }
        let environment = NetworkEnvironment(baseURL: Fixture.environment.baseURL, headers: ["X-A": "environment"])
        let service = NetworkService(environment: environment) { $0.transport = stub }
        try await service.request(Item(headers: ["x-a": "own"]))
        #expect(stub.requests[0].headers.values(for: "X-A") == ["own"])
    }

    @Test("Two identical requests count twice, and both calls complete")
    func sameTwice() async throws {
        let transport = ManualTransport()
        let limit = ConcurrencyLimit(5)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
        }
        let item = Item()
        let tasks = (0..<2).map { _ in service.task(item, as: .string) }
        await transport.waitForRequests(2)
        #expect(limit.activeCount == 2)
        for _ in tasks { transport.answer(.ok, "x") }
        for task in tasks { #expect(try await task.value == "x") }
        #expect(limit.activeCount == 0)
    }

    @Test("The number of active calls never exceeds the limit")
    func neverTooMany() async throws {
        let limit = ConcurrencyLimit(3)
        let highest = Box((now: 0, most: 0))
        struct Counting: Transport {
            let highest: Box<(now: Int, most: Int)>
            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                highest.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                for _ in 0..<3 { await Task.yield() }
                highest.change { $0.now -= 1 }
                return HTTPResponse(.ok, to: request)
            }
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = Counting(highest: highest)
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
        }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<500 {
                let task = service.task(Item(), as: .void)
                group.addTask {
                    if index % 7 == 0 { task.cancel() }
                    _ = await Fixture.failure { try await task.value }
                }
            }
        }
        #expect(highest.value.most == 3)
    }

    @Test(
        "N-36: the statuses that refuse a token can be set, and a repeated 403 ends the call")
    func refusals() async throws {
        let refreshes = Box(0)
        let session = AccessTokenSupervisor(
            token: AccessToken("old"), unauthorizedStatuses: [.unauthorized, .forbidden], clock: Fixture.stillClock
        ) { _ in
            refreshes.change { $0 += 1 }
            return AccessToken("new \(refreshes.value)")
        }
        let stub = StubTransport { _ in .status(.forbidden) }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        let error = await Fixture.failure { try await service.request(Item(authorizationType: .bearer)) }
        #expect(error as? GeneralRequestError == .forbidden)
        #expect(refreshes.value == 1 && stub.requests.count == 2)
    }

    @Test(
        "An idempotency key is created once for each call and kept for retries; a key that is set is not changed")
    func idempotency() async throws {
        let stub = StubTransport { $0.headers[.authorization] == "Bearer old" ? .status(.unauthorized) : .text("ok") }
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        try await service.request(Item(method: .post, idempotencyKey: .unique, authorizationType: .bearer))
        let keys = stub.requests.map { $0.headers[.idempotencyKey] }
        #expect(keys.count == 2 && keys[0] == keys[1] && keys[0] != nil)
        try await service.request(Item(method: .post, idempotencyKey: .value("mine")))
        try await service.request(Item(method: .post, headers: [.idempotencyKey: "own"], idempotencyKey: .unique))
        try await service.request(Item(method: .post))
        #expect(stub.requests.suffix(3).map { $0.headers[.idempotencyKey] } == ["mine", "own", nil])
    }

    @Test("Generated keys come from the service's random source: the same seed creates the same keys")
    func seededKeys() async throws {
        var runs: [[String?]] = []
        for _ in 0..<2 {
            let stub = StubTransport { _ in .text("ok") }
            let service = NetworkService(environment: Fixture.environment) {
                $0.transport = stub
                $0.random = RandomSource(SeededGenerator(seed: 9))
            }
            for _ in 0..<3 { try await service.request(Item(method: .post, idempotencyKey: .unique)) }
            runs.append(stub.requests.map { $0.headers[.idempotencyKey] })
        }
        #expect(runs[0] == runs[1])
        #expect(Set(runs[0]).count == 3)
        #expect(runs[0].allSatisfy { UUID(uuidString: $0 ?? "") != nil && $0?.dropFirst(14).first == "4" })
    }
}
