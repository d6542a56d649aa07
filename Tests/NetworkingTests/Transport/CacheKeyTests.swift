import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Which requests share a cached response", .endsInTime)
struct CacheKeyTests {
    private struct Get: Endpoint {
        var path: EndpointPath = "items"
        var method: HTTPMethod = .get
        var headers: HTTPHeaders = []
        var authorizationType: AuthorizationType = .none
    }

    private let clock = ManualClock()
    private let stub = StubTransport()
    private let cache: ResponseCache

    init() {
        cache = ResponseCache(clock: clock.networkClock)
    }

    private func service(_ session: AccessTokenSupervisor? = nil, _ transport: StubTransport? = nil) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.cache = cache
            $0.transport = transport ?? stub
        }
    }

    private func responses(_ headers: HTTPHeaders, _ text: String = "one") {
        stub.on(nil, nil) { request in
            if let tag = headers[.eTag], request.headers[.ifNoneMatch] == tag {
                return StubResponse(.notModified, headers: headers)
            }
            return StubResponse(.ok, headers: headers, body: Data(text.utf8))
        }
    }

    @Test("Users never share a response: a request with other credentials or Vary values gets its own response")
    func users() async throws {
        responses([.cacheControl: "max-age=60", .vary: "Accept-Language"])
        let session = AccessTokenSupervisor(token: AccessToken("a"), clock: Fixture.stillClock) { _ in AccessToken("x")
        }
        let service = service(session)
        let call = Get(authorizationType: .bearer)
        for _ in 0..<2 { let _: String = try await service.request(call) }
        #expect(stub.requests.count == 1)
        #expect(service.cachedResponse(call, as: .string)?.value == "one")
        session.accessToken = AccessToken("b")
        #expect(service.cachedResponse(call, as: .string) == nil)
        let _: String = try await service.request(call)
        #expect(stub.requests.count == 2)
        session.accessToken = nil
        #expect(service.cachedResponse(call, as: .string) == nil)
        var german = Get(authorizationType: .bearer)
        german.headers[.acceptLanguage] = "de"
        session.accessToken = AccessToken("b")
        #expect(service.cachedResponse(call, as: .string)?.value == "one")
        #expect(service.cachedResponse(german, as: .string) == nil)
    }

    @Test("A refreshed token gets the responses that its session has stored, unless Vary names Authorization")
    func sessions() async throws {
        for (headers, requests) in [([.cacheControl: "max-age=60"], 1), ([.vary: "Authorization"], 2)]
            as [(HTTPHeaders, Int)]
        {
            cache.removeAll()
            let stub = StubTransport()
            stub.on(nil, nil) { request in
                if request.url.path.hasSuffix("refused"), request.headers[.authorization] == "Bearer a" {
                    return StubResponse(.unauthorized)
                }
                return StubResponse(.ok, headers: headers.merging([.cacheControl: "max-age=60"]))
            }
            let first = AccessTokenSupervisor(token: AccessToken("a", session: UUID()), clock: Fixture.stillClock) {
                _ in AccessToken("b")
            }
            let call = Get(authorizationType: .bearer)
            try await service(first, stub).request(call)
            try await service(first, stub).request(Get(path: "refused", authorizationType: .bearer))
            #expect(first.accessToken?.value == "b")
            try await service(first, stub).request(call)
            #expect(stub.requests.count == requests + 2, "\(headers)")
            let second = AccessTokenSupervisor(token: AccessToken("b", session: UUID()), clock: Fixture.stillClock) {
                _ in AccessToken("x")
            }
            second.accessToken = AccessToken("c")
            try await service(second, stub).request(call)
            #expect(stub.requests.count == requests + 3, "another session")
        }
    }

    @Test("If other credentials replace those of the session, only requests with equal credentials share responses")
    func foreignCredentials() async throws {
        responses([.cacheControl: "max-age=60"])
        let session = AccessTokenSupervisor(token: AccessToken("a", session: UUID()), clock: Fixture.stillClock) {
            _ in AccessToken("x")
        }
        let user = Box("ann")
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.cache = cache
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([
                session.adapter, AdHocAdapter { request, _ in request.headers[.authorization] = user.value },
            ])
        }
        for (name, requests) in [("ann", 1), ("bob", 2), ("ann", 2)] {
            user.change { $0 = name }
            try await service.request(Get(authorizationType: .bearer))
            #expect(stub.requests.count == requests)
        }
        session.accessToken = nil
        // Without a session, even equal credentials are those of another user: the app decides what they mean.
        for (name, requests) in [("ann", 3), ("eve", 4)] {
            try await self.service(session).request(
                Get(headers: [.authorization: name], authorizationType: .bearer))
            #expect(stub.requests.count == requests)
        }
    }

    @Test("On disk, a session that is continued after a restart finds the responses of its earlier tokens")
    func sessionOnDisk() async throws {
        responses([.cacheControl: "max-age=60"])
        let folder = try TemporaryFolder()
        let id = UUID()
        for (token, owner, requests) in [("a", id, 1), ("b", id, 1), ("b", UUID(), 2)] {
            let stored = try ResponseCache(
                directory: folder.url, storesCredentials: true, clock: clock.networkClock)
            let session = AccessTokenSupervisor(token: AccessToken(token, session: owner), clock: Fixture.stillClock) {
                _ in AccessToken("x")
            }
            let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
                $0.cache = stored
                $0.transport = stub
            }
            try await service.request(Get(authorizationType: .bearer))
            #expect(stub.requests.count == requests)
        }
    }

    @Test("Different stored tokens without a session id share no responses")
    func unnamedSessions() async throws {
        responses([.cacheControl: "max-age=60"])
        for (token, requests) in [("a", 1), ("a", 1), ("b", 2)] {
            let store = MemoryTokenStore(AccessToken(token))
            let session = AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in AccessToken("x") }
            try await service(session).request(Get(authorizationType: .bearer))
            #expect(stub.requests.count == requests)
        }
    }

    @Test("A cookie is set by the response from the server, not by the stored response")
    func cookies() async throws {
        responses([.cacheControl: "max-age=60", .setCookie: "session=abc"])
        let jar = CookieJar()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.cookies = jar
            $0.cache = cache
        }
        try await service.request(Get())
        #expect(jar.cookies.count == 1)
        jar.removeAll()
        try await service.request(Get())
        #expect(stub.requests.count == 1)
        #expect(jar.cookies.isEmpty)
    }

    @Test("A response is not stored if the cached responses of its URL were removed after its request was sent")
    func change() async throws {
        let manual = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = manual
            $0.cache = cache
        }
        let old = service.task(Get(), as: .string)
        await manual.waitForRequests()
        cache.removeResponses(from: try #require(URL(string: "https://api.example.com/v1/items")))
        manual.answer(.ok, "old")
        _ = try await old.value
        #expect(cache.count == 0)
    }

    @Test("Custom headers, which can identify users, are part of the key; headers that differ for each request are not")
    func ownFields() async throws {
        stub.on(nil, nil) { request in
            StubResponse(
                .ok, headers: [.cacheControl: "max-age=60"], body: Data((request.headers["X-User"] ?? "").utf8))
        }
        let service = service()
        for user in ["ada", "eve", "ada"] {
            let text = try await service.request(Get(headers: ["X-User": user]), as: .string)
            #expect(text == user)
        }
        #expect(stub.requests.count == 2)
        for id in ["1", "2"] {
            _ = try await service.request(Get(headers: ["X-Request-Id": id, "tracestate": id]), as: .string)
        }
        #expect(stub.requests.count == 3)
    }

    @Test("A GET with a body does not get the response that is stored for another body")
    func cachedSearch() async throws {
        let stub = StubTransport { request in
            StubResponse(.ok, headers: ["Cache-Control": "max-age=60"], body: request.body.data ?? Data())
        }
        let transport = CachingTransport(base: stub, cache: ResponseCache(clock: clock.networkClock))
        let url = try #require(URL(string: "https://api.example.com/_search"))
        for text in ["one", "two"] {
            let request = HTTPRequest(.get, url, body: .string(text))
            #expect(try await transport.send(request, delivering: .buffered(limit: 99)).data == Data(text.utf8))
        }
    }
}
