// The Swift blocks of Recipes.md, as they stand there, run. `DocumentationTests` compares them.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.logIn
struct TokenGrant: Codable, Sendable {
    let token: String
    let refreshToken: String

    var accessToken: AccessToken { AccessToken(token, refreshToken: refreshToken) }
}

final class AuthService: NetworkService, @unchecked Sendable {
    func logIn(_ name: String, _ password: String, into session: AccessTokenSupervisor) async throws {
        let endpoint = AdHocEndpoint(.post, "login").body(.json(["name": name, "password": password]))
        _ = try await request(endpoint, as: .json(TokenGrant.self).storingToken(in: session, \.accessToken))
    }

    func refresh(_ old: AccessToken?) async throws -> AccessToken {
        guard let refreshToken = old?.refreshToken else { throw AccessToken.Rejected() }  // the session is over
        let grant: TokenGrant = try await request(.post("token").body(.json(["refresh_token": refreshToken])))
        return grant.accessToken
    }
}

func makeSession(_ auth: AuthService) -> AccessTokenSupervisor {
    AccessTokenSupervisor(token: nil) { old in try await auth.refresh(old) }
}
// snippet.end

// snippet.manyServices
final class ProfileService: NetworkService, @unchecked Sendable {}
final class MediaService: NetworkService, @unchecked Sendable {}

/// Services that share a session share its token and its one refresh.
func makeMedia(_ media: URL, beside profiles: ProfileService) -> MediaService {
    MediaService(client: profiles.client.with { $0.environment = NetworkEnvironment(baseURL: media) })
}
// snippet.end

// snippet.upload
func upload(_ photo: URL, with service: NetworkService, show: @escaping @Sendable (Double) -> Void) async throws {
    let form = HTTPBody.multipart([.field("album", "holidays"), .file("photo", at: photo)])
    let task = service.task(.post("photos").body(form), as: .void)
    for await progress in task.progressValues { show(progress.upload.fraction ?? 0) }  // ends with the call
    try await task.value
}
// snippet.end

// snippet.resume
func download(_ film: URL, with service: NetworkService) async throws {
    let converter = ResponseConverter.file(at: film, overwriting: .replace, resuming: .sameAddress)
    // What was there by the time the app ended is not asked for again.
    _ = try await service.request(.get("film"), as: converter)
}
// snippet.end

// snippet.search
func search(_ text: String, with service: NetworkService) async throws -> [String] {
    try await service.request(
        .get("search").query("q", text).settings {
            $0.duplicateGroup = "search"  // different requests, of which only the last counts
            $0.duplicates = .replace  // a search that was overtaken ends with `.cancelled`
        })
}
// snippet.end

// snippet.poll
func waitForExport(_ id: Int, with service: NetworkService) async throws -> URL {
    struct NotReady: Error {}
    let ready = ResponseConverter<URL> { response in
        guard response.status == .ok else { throw NotReady() }  // 202: not yet
        return try response.read(as: .json(URL.self))
    }
    var polling = RequestSettings(timeouts: HTTPRequest.Timeouts(total: .seconds(120)), maximumAttempts: 20)
    polling.retry = RetryPolicy(retries: 19, backoff: .exponential(first: .seconds(1)), on: .error(NotReady.self))
    return try await service.request(.get("exports/\(id)"), as: ready, with: polling)
}
// snippet.end

#if os(Linux)
    // snippet.pin
    func makePinned(_ pin: String) throws -> CurlTransport {
        guard let pin = TLSConfiguration.Pin(pin) else { throw URLError(.badServerResponse) }
        return try CurlTransport(CurlTransport.Configuration(tls: TLSConfiguration(pins: [pin])))
    }
// snippet.end
#endif

// snippet.events
func follow(_ service: NetworkService, show: (String) -> Void) async throws {
    for try await event in service.events(.get("news")) {  // goes on over lost connections
        show(event.data)
        if event.type == "over" { break }  // closes the connection
    }
}
// snippet.end

// snippet.secondServer
enum CatalogEndpoint: Endpoint {
    case item(Int)
    case image(Int)

    private static let images = URL(string: "https://images.example.com")

    var baseURL: URL {
        if case .image = self, let images = Self.images { images } else { NetworkEnvironment.noBaseURL }
    }

    var path: EndpointPath {
        switch self {
        case .item(let id): "items/\(id)"
        case .image(let id): "\(id).png"
        }
    }
}
// snippet.end

// snippet.problem
struct Refused: Error, Equatable {
    let title: String
}

struct Order: Endpoint {
    let path: EndpointPath = "orders"
    let method = HTTPMethod.post

    func error(for problem: ProblemDetails) -> (any Error)? {
        problem.type == "https://example.com/out-of-stock" ? Refused(title: problem.title ?? "") : nil
    }
}
// snippet.end

// snippet.apiKey
struct APIKeyAdapter: SynchronousRequestAdapter {
    let key: String

    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        // Sensitive: never printed, and left behind when a redirect leads to another server.
        request.headers.set(HTTPHeader("X-Service-Key", key, isSensitive: true))
    }
}
// snippet.end

// snippet.pages
struct Page: Decodable, Sendable {
    let items: [String]
    let next: Int?
}

struct Pages: AsyncSequence {
    let service: NetworkService

    struct Iterator: AsyncIteratorProtocol {
        let service: NetworkService
        var number: Int? = 1

        mutating func next() async throws -> [String]? {
            guard let number else { return nil }
            let page: Page = try await service.request(.get("items").query("page", number))
            self.number = page.next
            return page.items
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(service: service) }
}
// snippet.end

@Suite("Recipes", .timeLimit(.minutes(5)))
struct RecipeTests {
    private let stub = StubTransport()
    private let api = NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))

    @Test("Log in and refresh; one session for many services")
    func session() async throws {
        stub.on(.post, "/login", .json(TokenGrant(token: "a", refreshToken: "r")))
        stub.on(.post, "/token", .json(TokenGrant(token: "b", refreshToken: "s")))
        stub.on(.get, "/x") { $0.headers[.authorization] == "Bearer b" ? .text("there") : .status(.unauthorized) }
        let auth = AuthService(environment: api) { $0.transport = stub }
        let session = makeSession(auth)
        try await auth.logIn("ada", "secret", into: session)
        #expect(session.accessToken?.value == "a")
        let service = NetworkService(environment: api, authorizedBy: session) { $0.transport = stub }
        #expect(try await service.request(.get("x").authorized()) as String == "there")
        let url = try #require(URL(string: "https://api.example.com"))
        #expect(
            makeMedia(url, beside: ProfileService(environment: api, authorizedBy: session)).client.configuration
                .environment.baseURL == url)
    }

    @Test("Upload with a progress bar; resume a download")
    func transfers() async throws {
        let scratch = try Scratch()
        let photo = scratch.file("photo.jpg")
        try Data(repeating: 7, count: 100_000).write(to: photo)
        let server = try LoopbackServer()
        server.route(.post, "/photos") { request in
            _ = try await request.data()
            return LoopbackResponse(.noContent)
        }
        server.route(.get, "/film") { .content(Data(repeating: 9, count: 100_000), tag: "\"1\"", for: $0) }
        let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url))
        let last = Box(0.0)
        try await upload(photo, with: service) { fraction in last.change { $0 = fraction } }
        #expect(last.value == 1)
        try await download(scratch.file("film"), with: service)
        #expect(try Data(contentsOf: scratch.file("film")).count == 100_000)
    }

    @Test("Search as you type")
    func typing() async throws {
        stub.on(.get, "/search") { request in
            if request.url.query == "q=s" { try await Task.sleep(for: .seconds(30)) }
            return .json([request.url.query ?? ""])
        }
        let service = NetworkService(environment: api) { $0.transport = stub }
        async let early = search("s", with: service)
        while stub.requests.isEmpty { await Task.yield() }
        #expect(try await search("sw", with: service) == ["q=sw"])
        do {
            _ = try await early
            #expect(Bool(false), "the first search was not overtaken")
        } catch { #expect(error as? GeneralRequestError == .cancelled) }
    }

    @Test("Poll with back-off")
    func polling() async throws {
        let clock = ManualClock()
        stub.on(.get, "/exports/7", .status(.accepted), .status(.accepted), .json("https://files.example.com/7"))
        let service = NetworkService(environment: api) {
            $0.transport = stub
            $0.clock = clock.networkClock
        }
        async let url = waitForExport(7, with: service)
        for _ in 0..<2 {
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(2))
            while clock.sleeperCount > 1 { await Task.yield() }
        }
        #expect(try await url.absoluteString == "https://files.example.com/7")
    }

    #if os(Linux)
        @Test("Pin a key")
        func pinning() throws {
            let transport = try makePinned("sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
            #expect("\(transport)".hasPrefix("CurlTransport"))
            #expect(throws: URLError.self) { _ = try makePinned("no pin") }
        }
    #endif

    @Test("A stub in a test")
    func stubbing() async throws {
        // snippet.stub
        let stub = StubTransport()
        stub.on(.get, "/users/7", .status(.serviceUnavailable), .json(["name": "Ada"]))
        let service = NetworkService(environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))) {
            $0.retry = RetryPolicy(retries: 1)
            $0.transport = stub
        }

        let user: [String: String] = try await service.request(.get("users/7"))

        #expect(user["name"] == "Ada")
        #expect(stub.requests.count == 2)
        // snippet.end
    }

    @Test("Record and replay")
    func recording() async throws {
        stub.on(.get, "/users/7", .json(["name": "Ada"]))
        let service = NetworkService(environment: api) { $0.transport = stub }
        // snippet.record
        let recorder = HARRecorder(redaction: .revealed)
        let token = service.observers.register(recorder)
        _ = try await service.request(.get("users/7")) as Data
        token.cancel()
        let file = try recorder.archive.encoded()  // write it beside your tests

        let replay = ReplayTransport(try HARArchive(data: file))
        let offline = NetworkService(environment: api) { $0.transport = replay }
        let user: [String: String] = try await offline.request(.get("users/7"))
        // snippet.end
        #expect(user["name"] == "Ada")
    }

    @Test("Server-sent events; a mock server in a parallel test")
    func server() async throws {
        // snippet.server
        let server = try LoopbackServer()  // a port of its own: tests run side by side
        server.route(.get, "/news") { _ in
            LoopbackResponse(
                .ok, headers: [.contentType: "text/event-stream"],
                content: .fixed(Data("data: one\n\nevent: over\ndata: two\n\n".utf8)))
        }
        let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url))
        // snippet.end
        let shown = Box<[String]>([])
        try await follow(service) { text in shown.change { $0.append(text) } }
        #expect(shown.value == ["one", "two"])
    }

    @Test("A second base URL; an API key")
    func requests() async throws {
        stub.on(nil, nil, .text("x"))
        let service = NetworkService(environment: api) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([APIKeyAdapter(key: "secret")])
        }
        _ = try await service.request(CatalogEndpoint.item(1)) as String
        _ = try await service.request(CatalogEndpoint.image(1)) as String
        #expect(
            stub.requests.map(\.url.absoluteString) == [
                "https://api.example.com/items/1", "https://images.example.com/1.png",
            ])
        #expect(stub.requests.allSatisfy { $0.headers["X-Service-Key"] == "secret" })
        #expect(!"\(stub.requests[0].headers)".contains("secret"))
    }

    @Test("Problem details")
    func problem() async throws {
        let body = #"{"type":"https://example.com/out-of-stock","title":"Sold out"}"#
        stub.on(
            .post, "/orders",
            StubResponse(.conflict, headers: [.contentType: "application/problem+json"], body: Data(body.utf8)))
        let service = NetworkService(environment: api) { $0.transport = stub }
        await #expect(throws: Refused(title: "Sold out")) { try await service.request(Order()) }
    }

    @Test("Wait for connectivity")
    func connectivity() async throws {
        stub.on(.get, "/x", .failure(.notConnected), .text("there"))
        let probe = StubProbe(.reachable(.wireless))
        // snippet.connectivity
        let reachability = ReachabilityService(probe: probe)  // or ReachabilityService(host: "api.example.com")
        let service = NetworkService(environment: api) {
            $0.errorHandlingService = ErrorHandlingService([ConnectivityErrorHandler(reachability)])
            $0.settings.timeouts.total = .seconds(90)
        }
        // snippet.end
        let stubbed = NetworkService(client: service.client.with { $0.transport = stub })
        #expect(try await stubbed.request(.get("x")) as String == "there")
    }

    @Test("Test that a call waits for the network")
    func testingConnectivity() async throws {
        // snippet.testConnectivity
        let (clock, probe, stub) = (ManualClock(), StubProbe(.notReachable), StubTransport())
        stub.on(.get, "/users/7", .failure(.notConnected), .json(["name": "Ada"]))
        let reachability = ReachabilityService(probe: probe, clock: clock.networkClock)
        let service = NetworkService(environment: api) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([ConnectivityErrorHandler(reachability)])
            $0.clock = clock.networkClock
        }

        let task = service.task(.get("users/7"), as: .json([String: String].self))
        while stub.requests.isEmpty { await Task.yield() }
        probe.set(.reachable(.wireless))
        try await clock.advance(by: .seconds(1), until: { task.result != nil })

        #expect(try await task.value["name"] == "Ada")
        // snippet.end
    }

    @Test("Test that a token is refreshed before it expires")
    func testingExpiry() async throws {
        // snippet.testExpiry
        let (clock, stub) = (ManualClock(date: Date()), StubTransport { _ in .text("there") })
        let session = AccessTokenSupervisor(
            token: AccessToken("old", expiresIn: .seconds(60)), clock: clock.networkClock
        ) { _ in AccessToken("new") }
        let service = NetworkService(environment: api, authorizedBy: session) { $0.transport = stub }
        clock.advance(by: .seconds(58))

        try await service.request(.get("x").authorized())

        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer new"])
        // snippet.end
    }

    @Test("A stub counts what is uploaded")
    func stubbedUpload() async throws {
        stub.on(.post, "/photos", .status(.noContent))
        let scratch = try Scratch()
        try Data(repeating: 7, count: 100_000).write(to: scratch.file("photo.jpg"))
        let last = Box(0.0)
        let service = NetworkService(environment: api) { $0.transport = stub }
        try await upload(scratch.file("photo.jpg"), with: service) { fraction in last.change { $0 = fraction } }
        #expect(last.value == 1)
    }

    @Test("Paginate as an async sequence")
    func paging() async throws {
        stub.on(
            .get, "/items", .json(text: #"{"items":["a","b"],"next":2}"#), .json(text: #"{"items":["c"],"next":null}"#))
        let service = NetworkService(environment: api) { $0.transport = stub }
        // snippet.usePages
        var all: [String] = []
        for try await items in Pages(service: service) { all += items }  // asks for a page when it is wanted
        // snippet.end
        #expect(all == ["a", "b", "c"])
        #expect(stub.requests.map(\.url.query) == ["page=1", "page=2"])
    }

    @Test("Repeat a POST safely; read one part of an answer")
    func posting() async throws {
        let (server, keys) = (try LoopbackServer(), Box<[String?]>([]))
        server.route(.post, "/payments") { request in
            keys.change { $0.append(request.headers[.idempotencyKey]) }
            return keys.value.count < 2 ? LoopbackResponse(.serviceUnavailable) : .text(#"{"data":{"id":"p1"}}"#)
        }
        let api = NetworkEnvironment(baseURL: server.url)
        // snippet.idempotent
        let service = NetworkService(environment: api) { $0.retry = .standard }
        let payment = AdHocEndpoint(.post, "payments").body(.json(["amount": 7])).idempotent()  // one key for all tries
        let id = try await service.request(payment, as: .keyPath("data.id", .json(String.self)))
        // snippet.end
        #expect(id == "p1")
        #expect(keys.value.count == 2 && Set(keys.value).count == 1)
    }

    @Test("Log out")
    func loggingOut() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("a")) { _ in throw AccessToken.Rejected() }
        let (service, jar) = (NetworkService(environment: api) { $0.transport = stub }, CookieJar())
        // snippet.logOut
        session.accessToken = nil  // wins over a refresh that is under way
        await service.reset()  // every call ends with `.resetting`; returns when all have returned
        jar.removeAll()
        // snippet.end
        #expect(session.accessToken == nil)
    }

    @Test("Log every call; take part in a trace")
    func watching() async throws {
        let (server, parents) = (try LoopbackServer(), Box<[String]>([]))
        server.route(nil, "/stock") { request in
            parents.change { $0.append(request.headers["traceparent"] ?? "") }
            return .text("x")
        }
        let api = NetworkEnvironment(baseURL: server.url)
        let lines = Box<[String]>([])
        let print: @Sendable (LogObserver.Line) -> Void = { line in lines.change { $0.append(line.message) } }
        // snippet.log
        let service = NetworkService(environment: api) {
            $0.requestAdaptingService = RequestAdaptingService([
                HeadersAdapter(.standard, .keepExisting), TraceContextAdapter(),
            ])
            $0.observers = [LogObserver { print($0) }]
        }
        let incoming = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"  // of the request that is being served
        try await TraceContext.$current.withValue(TraceContext(traceparent: incoming)) {
            try await service.request(.get("stock"))
        }
        // snippet.end
        #expect(lines.value.first?.hasPrefix("GET 127.0.0.1:\(server.port)/stock: 200 OK") == true)
        #expect(parents.value.first?.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736") == true)
    }
}
