// Runs the Swift blocks of Recipes.md on authorization, unchanged.
// `DocumentationTests` compares them with the articles.

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
    return AccessTokenSupervisor(fetchingFirst: true) { _ in
        let grant: MachineGrant = try await auth.request(
            .post("oauth/token").headers([.authorization(basic)])
                .body(.form(["grant_type": "client_credentials"])))
        return AccessToken(
            grant.access_token, expiresIn: .seconds(grant.expires_in))
    }
}
// snippet.end

/// Processes that use the same file share a session. Only one process
/// refreshes at a time.
func makeWorkerSession(
    _ file: URL, _ auth: NetworkService,
    clock: NetworkClock = .continuous
) -> AccessTokenSupervisor {
    AccessTokenSupervisor(
        store: AccessTokenFile(file), clock: clock
    ) { old in
        guard let text = old?.refreshToken else {
            throw AccessToken.Rejected()  // the session is over
        }
        let grant: TrackGrant = try await auth.request(
            .post("token").body(.json(["refresh": text])))
        return AccessToken(grant.token, refreshToken: grant.refreshToken)
    }
}

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
            CSRFAdapter(jar: jar)
        ])
    }
}
// snippet.end

@Suite("Recipes for authorization", .endsInTime)
struct AuthorizationRecipeTests {
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
        #expect(stub.requests.count == 2, "the first call waits for the token")
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
        let one = makeWorkerSession(file, auth, clock: Fixture.stillClock)
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

    @Test("The CSRF token from the cookie is sent only with unsafe methods")
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
}
