// Runs the Swift blocks of Recipes.md unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.logIn
struct TokenGrant: Codable, Sendable {
    let token: String
    let refreshToken: String

    var accessToken: AccessToken {
        AccessToken(token, refreshToken: refreshToken)
    }
}

final class AuthService: NetworkService, @unchecked Sendable {
    func logIn(
        _ name: String, _ password: String, into session: AccessTokenSupervisor
    ) async throws {
        let endpoint = AdHocEndpoint(.post, "login").body(
            .json(["name": name, "password": password]))
        _ = try await request(
            endpoint,
            as: .json(TokenGrant.self).storingToken(in: session, \.accessToken))
    }

    func refresh(_ old: AccessToken?) async throws -> AccessToken {
        guard let refreshToken = old?.refreshToken else {
            throw AccessToken.Rejected()  // the session is over
        }
        let grant: TokenGrant = try await request(
            .post("token").body(.json(["refresh_token": refreshToken])))
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

func makeMedia(_ media: URL, beside profiles: ProfileService) -> MediaService {
    MediaService(
        client: profiles.client.with {
            $0.environment = NetworkEnvironment(baseURL: media)
        })
}
// snippet.end

// snippet.secondServer
enum CatalogEndpoint: Endpoint {
    case item(Int)
    case image(Int)

    private static let images = URL(string: "https://images.example.com")

    var baseURL: URL {
        if case .image = self, let images = Self.images {
            images
        } else {
            NetworkEnvironment.noBaseURL
        }
    }

    var path: EndpointPath {
        switch self {
        case .item(let id): "items/\(id)"
        case .image(let id): "\(id).png"
        }
    }
}
// snippet.end

// snippet.apiKey
struct APIKeyAdapter: SynchronousRequestAdapter {
    let key: String

    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        // Adapters also see the requests of endpoints with another base URL.
        guard !request.isForeign else { return }
        // A sensitive field is redacted, and lost with a redirect elsewhere.
        request.headers.set(HTTPHeader("X-Service-Key", key, isSensitive: true))
    }
}
// snippet.end

#if os(Linux)
    // snippet.pin
    func makePinned(_ pin: String) throws -> CurlTransport {
        guard let pin = TLSConfiguration.Pin(pin) else {
            throw URLError(.badServerResponse)
        }
        return try CurlTransport(
            CurlTransport.Configuration(tls: TLSConfiguration(pins: [pin])))
    }
// snippet.end
#endif

extension Loopback {
    @Suite("Recipes for sessions and services")
    struct SessionRecipeTests {
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
            #expect(stub.requests.map { $0.headers["X-Service-Key"] } == ["secret", nil])
            #expect(!"\(stub.requests[0].headers)".contains("secret"))
        }

        @Test("Log out")
        func loggingOut() async throws {
            let session = AccessTokenSupervisor(token: AccessToken("a")) { _ in throw AccessToken.Rejected() }
            let (service, jar) = (NetworkService(environment: api) { $0.transport = stub }, CookieJar())
            // snippet.logOut
            session.accessToken = nil  // also ends a refresh in progress
            // Ends every call with `.resetting`, and waits until all have ended.
            await service.reset()
            jar.removeAll()
            // snippet.end
            #expect(session.accessToken == nil)
        }

        #if os(Linux)
            @Test("Pin a key")
            func pinning() throws {
                let transport = try makePinned("sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
                #expect("\(transport)".hasPrefix("CurlTransport"))
                #expect(throws: URLError.self) { _ = try makePinned("no pin") }
            }
        #endif

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
                    TraceContext.Adapter()
                ])
                $0.observers = [LogObserver { print($0) }]
            }
            // The `traceparent` field of the request that the server handles.
            let incoming = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            try await TraceContext.$current.withValue(TraceContext(traceparent: incoming)) {
                try await service.request(.get("stock"))
            }
            // snippet.end
            #expect(lines.value.first?.hasPrefix("GET 127.0.0.1:\(server.port)/stock: 200 OK") == true)
            #expect(parents.value.first?.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736") == true)
        }
    }
}
