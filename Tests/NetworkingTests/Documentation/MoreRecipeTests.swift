// The Swift blocks of Recipes.md on authorization, GraphQL and bridges to other libraries, and some blocks of
// Security.md, Connectivity.md and EventStreams.md, unchanged. `DocumentationTests` compares them with the articles.

import Foundation
import Networking
import NetworkingTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// snippet.clientCredentials
struct MachineGrant: Decodable, Sendable {
    let access_token: String
    let expires_in: Int
}

func makeMachineSession(
    _ auth: NetworkService, id: String, secret: String
) -> AccessTokenSupervisor {
    let basic = HTTPAuthorization.basic(username: id, password: secret)
    return AccessTokenSupervisor(token: nil) { _ in
        let grant: MachineGrant = try await auth.request(
            .post("oauth/token").headers([.authorization(basic)])
                .body(.form(["grant_type": "client_credentials"])))
        return AccessToken(
            grant.access_token, expiresIn: .seconds(grant.expires_in))
    }
}
// snippet.end

// snippet.workers
/// Processes with the same file share a session. Only one at a time refreshes.
func makeWorkerSession(
    _ file: URL, _ auth: NetworkService
) -> AccessTokenSupervisor {
    AccessTokenSupervisor(store: AccessTokenFile(file)) { old in
        guard let text = old?.refreshToken else {
            throw AccessToken.Rejected()  // the session is over
        }
        let grant: TrackGrant = try await auth.request(
            .post("token").body(.json(["refresh": text])))
        return AccessToken(grant.token, refreshToken: grant.refreshToken)
    }
}
// snippet.end

// snippet.basic
func makeBasic(
    _ api: URL, _ name: String, _ password: String
) -> NetworkService {
    let basic = HTTPAuthorization.basic(username: name, password: password)
    return NetworkService(
        environment: NetworkEnvironment(
            baseURL: api, headers: [.authorization(basic)]))
}
// snippet.end

// snippet.queryKey
func makeWeather(_ api: URL, key: String) -> NetworkService {
    // Every call to this server has the key. Logs hide query values.
    NetworkService(
        environment: NetworkEnvironment(baseURL: api, query: ["appid": key]))
}
// snippet.end

// snippet.csrf
struct CSRFAdapter: SynchronousRequestAdapter {
    let jar: CookieJar

    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        guard !request.method.isSafe else { return }
        let cookie = jar.cookies(for: request.url).first { $0.name == "csrf" }
        request.headers["X-CSRF-Token"] = cookie?.value
    }
}

func makeShop(
    _ api: NetworkEnvironment, _ transport: any Transport
) -> NetworkService {
    let jar = CookieJar()
    return NetworkService(environment: api) {
        $0.transport = transport
        $0.cookies = jar
        $0.requestAdaptingService = RequestAdaptingService([
            HeadersAdapter(.standard, .keepExisting), CSRFAdapter(jar: jar),
        ])
    }
}
// snippet.end

// snippet.graphQL
struct GraphQLError: Error, Decodable, Equatable {
    let message: String
}

struct GraphQLBody: Encodable, Sendable {
    let query: String
    let variables: [String: String]
}

struct GraphQLAnswer<Value: Decodable & Sendable>: Decodable, Sendable {
    let data: Value?
    let errors: [GraphQLError]?
}

func graphQL<Value: Decodable & Sendable>(
    _ query: String, _ variables: [String: String], on service: NetworkService
) async throws -> Value {
    let body = GraphQLBody(query: query, variables: variables)
    let converter = ResponseConverter<Value> { response in
        let answer = try response.read(as: .json(GraphQLAnswer<Value>.self))
        guard let data = answer.data else {
            throw answer.errors?.first ?? GraphQLError(message: "no data")
        }
        return data
    }
    do {
        return try await service.request(
            .post("graphql").body(.json(body)), as: converter)
    } catch let error as NetworkError {
        // The underlying error is the error that the converter has thrown.
        if let error = error.underlying as? GraphQLError { throw error }
        throw error
    }
}
// snippet.end

// snippet.swiftLog
/// `log` calls swift-log: `logger.log(level: level, "\(message)")`.
func makeLog(
    _ log: @escaping @Sendable (_ level: String, _ message: String) -> Void
) -> LogObserver {
    LogObserver { line in log("\(line.level)", line.message) }
}
// snippet.end

// snippet.metrics
/// `record` calls swift-metrics, such as `Timer.recordSeconds(_:)`.
func measure(
    _ service: NetworkService,
    record: @escaping @Sendable (_ status: Int, _ seconds: Double) -> Void
) -> ObservationToken {
    service.observers.onFinish { _, report in
        record(report.status?.code ?? 0, report.duration / .seconds(1))
    }
}
// snippet.end

// snippet.background
/// Returns a request for a background session that the app creates.
func backgroundRequest(
    for endpoint: some Endpoint, of service: NetworkService
) async throws -> URLRequest {
    // The adapters run, and the current token is added. Nothing is sent.
    let request = try await service.httpRequest(for: endpoint)
    var copy = URLRequest(url: request.url)
    copy.httpMethod = request.method.rawValue
    for field in request.allHeaders {
        copy.addValue(field.value, forHTTPHeaderField: field.name.rawValue)
    }
    return copy
}
// snippet.end

// snippet.redaction
func makeAudited(
    _ api: NetworkEnvironment, write: @escaping @Sendable (String) -> Void
) -> NetworkService {
    let redaction = Redaction.standard.allowing(
        headers: ["X-Tenant"], query: ["page", "sort"])
    return NetworkService(environment: api) {
        // At this level, the lines contain queries and header fields.
        $0.observers = [
            LogObserver(level: .debug, redaction: redaction) { write("\($0)") }
        ]
    }
}
// snippet.end

// snippet.offline
func makeOfflineFirst(
    _ api: NetworkEnvironment, _ reachability: ReachabilityService
) -> NetworkService {
    NetworkService(environment: api) {
        $0.cache = ResponseCache()
        $0.settings.caching = .staleIfOffline  // use stored responses offline
        $0.settings.timeouts.total = .seconds(90)  // includes the wait
        $0.errorHandlingService = ErrorHandlingService([
            ConnectivityErrorHandler(reachability, waitingAtMost: .seconds(60))
        ])
    }
}
// snippet.end

// snippet.banner
func watchNetwork(
    _ reachability: ReachabilityService,
    show: @escaping @MainActor @Sendable (_ isOffline: Bool) -> Void
) -> ObservationToken {
    let token = reachability.statuses.observe(replayingCurrent: true) {
        show(!$0.isReachable)
    }
    reachability.startMonitoring()
    return token
}
// snippet.end

// snippet.access
struct FilmDownload: Endpoint {
    let path: EndpointPath = "film"
    var settings: RequestSettings {
        RequestSettings { $0.networkAccess = [] }  // not over cellular networks
    }
}
// snippet.end

// snippet.lines
func readLog(_ service: NetworkService) async throws -> Int {
    var errors = 0
    for try await line in try await service.request(.get("log"), as: .lines)
    where line.contains("ERROR") { errors += 1 }
    return errors
}
// snippet.end

// snippet.resumeEvents
func followNews(
    _ service: NetworkService, after last: String,
    store: (_ id: String) -> Void
) async throws {
    let rule = ServerSentEvent.Reconnection(
        maximumFailures: 10, statuses: [.badGateway, .serviceUnavailable],
        after: last)
    for try await event in service.events(.get("news"), reconnecting: rule) {
        print(event.data)
        store(event.id)
    }
}
// snippet.end

@Suite("More recipes")
struct MoreRecipeTests {
    @Test("A session gets its first token with OAuth 2 client credentials")
    func clientCredentials() async throws {
        let stub = StubTransport()
        stub.on(.post, "/v1/oauth/token", .json(text: #"{"access_token":"new","expires_in":60}"#))
        stub.on(.get, "/v1/stock") { request in
            request.headers[.authorization] == "Bearer new" ? .text("7") : .status(.unauthorized)
        }
        let auth = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let session = makeMachineSession(auth, id: "id", secret: "secret")
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        #expect(try await service.request(.get("stock").authorized(), as: .string) == "7")
        let call = try #require(stub.requests.first { $0.url.path == "/v1/oauth/token" })
        #expect(call.headers[.authorization]?.hasPrefix("Basic ") == true)
        #expect(call.body.data == Data("grant_type=client_credentials".utf8))
    }

    @Test("Workers share a session through a file")
    func workers() async throws {
        let stub = StubTransport()
        stub.on(.post, "/v1/token", .json(text: #"{"token":"new","refreshToken":"b"}"#))
        stub.on(.get, "/v1/stock") { request in
            request.headers[.authorization] == "Bearer new" ? .text("7") : .status(.unauthorized)
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let auth = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let one = makeWorkerSession(file, auth)
        one.accessToken = AccessToken("old", refreshToken: "a")
        let service = NetworkService(environment: Fixture.environment, authorizedBy: one) { $0.transport = stub }
        #expect(try await service.request(.get("stock").authorized(), as: .string) == "7")
        #expect(try await makeWorkerSession(file, auth).load()?.value == "new")
    }

    @Test("An environment can add Basic credentials, or an API key in the query")
    func basicAndKey() async throws {
        let api = try #require(URL(string: "https://api.example.com"))
        let basic = try await makeBasic(api, "ada", "secret").httpRequest(for: AdHocEndpoint(.get, "x"))
        #expect(basic.headers[.authorization]?.hasPrefix("Basic ") == true)
        let keyed = try await makeWeather(api, key: "k").httpRequest(for: AdHocEndpoint(.get, "x"))
        #expect(keyed.url.query() == "appid=k")
    }

    @Test("The CSRF token of a cookie is sent with unsafe methods only")
    func csrf() async throws {
        let stub = StubTransport()
        let cookies: HTTPHeaders = [HTTPHeader(.setCookie, "csrf=t; Secure")]
        stub.on(.get, "/v1/login", .status(.noContent, headers: cookies))
        stub.on(.post, "/v1/orders", .status(.noContent))
        let shop = makeShop(Fixture.environment, stub)
        try await shop.request(.get("login"))
        try await shop.request(.post("orders"))
        #expect(stub.requests.map { $0.headers["X-CSRF-Token"] } == [nil, "t"])
    }

    @Test("A GraphQL response is a value or an error")
    func graphql() async throws {
        let stub = StubTransport()
        stub.on(
            .post, "/v1/graphql", .json(text: #"{"data":{"name":"Ada"}}"#),
            .json(text: #"{"data":null,"errors":[{"message":"no such user"}]}"#))
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let user: [String: String] = try await graphQL("query { user }", ["id": "7"], on: service)
        #expect(user == ["name": "Ada"])
        await #expect(throws: GraphQLError(message: "no such user")) {
            let _: [String: String] = try await graphQL("query { user }", [:], on: service)
        }
    }

    @Test("Calls are passed to logging and metrics libraries, and a redaction can show more")
    func bridges() async throws {
        let lines = Box<[String]>([])
        let stub = StubTransport { _ in .text("there") }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.observers = [makeLog { level, message in lines.change { $0.append("\(level) \(message)") } }]
        }
        let statuses = Box<[Int]>([])
        let token = measure(service) { status, seconds in
            statuses.change { $0.append(status) }
            #expect(seconds >= 0)
        }
        _ = try await service.request(.get("stock"), as: .string)
        token.cancel()
        #expect(lines.value.first?.hasPrefix("info ") == true)
        #expect(statuses.value == [200])

        let audited = makeAudited(Fixture.environment) { line in lines.change { $0.append(line) } }
        let other = audited.client.with { $0.transport = stub }
        _ = try await NetworkService(client: other).request(.get("x").query(["page": 2, "name": "ada"]), as: .string)
        #expect(lines.value.contains { $0.contains("page=2") })
        #expect(!lines.value.contains { $0.contains("ada") })
    }

    @Test("A request for a background session carries the token")
    func background() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("t")) { _ in AccessToken("u") }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session)
        let request = try await backgroundRequest(for: AdHocEndpoint(.get, "film").authorized(), of: service)
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer t")
    }

    @Test("A stored response is used offline, a log is read line by line, and the network is observed")
    func offline() async throws {
        let stub = StubTransport()
        stub.on(
            .get, "/v1/stories", .text("one", headers: ["Cache-Control": "max-age=0", "ETag": "\"1\""]),
            .failure(.notConnected))
        stub.on(.get, "/v1/log", .text("INFO a\nERROR b\nERROR c\n"))
        let reachability = ReachabilityService(probe: StubProbe(.reachable(.wireless)))
        let made = makeOfflineFirst(Fixture.environment, reachability)
        let service = NetworkService(client: made.client.with { $0.transport = stub })
        #expect(try await service.request(.get("stories"), as: .string) == "one")
        #expect(try await service.request(.get("stories"), as: .string) == "one")
        #expect(try await readLog(service) == 2)
        let shown = Box<[Bool]>([])
        let token = watchNetwork(reachability) { isOffline in shown.change { $0.append(isOffline) } }
        await reachability.check()
        while shown.value.isEmpty { await Task.yield() }
        #expect(shown.value.first == false)
        token.cancel()
        reachability.stopMonitoring()
    }
}
