import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Response cache")
struct CacheTests {
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

    private func service(_ session: AccessTokenSupervisor? = nil) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.cache = cache
            $0.transport = stub
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

    @Test("A stored response can be read and decoded synchronously, and removed alone or with all others", .row("N-40"))
    func readAtOnce() async throws {
        responses([.cacheControl: "max-age=60"], #"{"id":"7"}"#)
        let service = service()
        #expect(service.cachedResponse(Get(), as: .json(User.self)) == nil)
        let _: User = try await service.request(Get())
        let kept = service.cachedResponse(Get(), as: .json(User.self))?.value
        #expect(kept == User(id: "7"))
        #expect(service.cachedResponse(Get(), as: .json([User].self)) == nil, "an undecodable response is nil")
        let response = try #require(service.cachedResponse(Get(), as: .string))
        #expect(response.headers["Age"] == "0")
        let _: User = try await service.request(Get(path: "other"))
        service.removeCached(Get())
        #expect(service.cachedResponse(Get(), as: .json(User.self)) == nil)
        #expect(cache.count == 1)
        cache.removeAll()
        #expect(cache.count == 0)
        let _: User = try await service.request(Get())
        await service.reset()
        #expect(cache.count == 0, "a reset empties the cache")
    }

    @Test("A fresh response is used without a request; a stale one only after the server has validated it")
    func freshness() async throws {
        responses([.cacheControl: "max-age=60", .eTag: "\"a\""])
        let service = service()
        for _ in 0..<3 { #expect(try await service.request(Get()) == "one") }
        #expect(stub.requests.count == 1)
        clock.advance(by: .seconds(61))
        #expect(try await service.request(Get()) == "one")
        #expect(stub.requests.count == 2)
        #expect(stub.requests[1].headers[.ifNoneMatch] == "\"a\"")
        #expect(try await service.request(Get()) == "one")
        #expect(stub.requests.count == 2, "the response is fresh again")
        let response = try await service.response(Get()) as Response<String>
        #expect(response.status == .ok && response.headers["Age"] == "0")
    }

    @Test(
        "A response that must not be used without validation is requested again",
        arguments: [
            [.cacheControl: "no-cache"], [.cacheControl: "max-age=0"], [:], [.cacheControl: "max-age=60", "Age": "60"],
            [.expires: "Sun, 06 Nov 1994 08:49:37 GMT"],
        ] as [HTTPHeaders])
    func stale(headers: HTTPHeaders) async throws {
        responses(headers)
        let service = service()
        for _ in 0..<2 { let _: String = try await service.request(Get()) }
        #expect(stub.requests.count == 2)
    }

    @Test(
        "A response that must not be stored is not stored",
        arguments: [[.cacheControl: "no-store"], [.cacheControl: "max-age=60", .vary: "*"]] as [HTTPHeaders])
    func notKept(headers: HTTPHeaders) async throws {
        responses(headers)
        try await service().request(Get())
        #expect(cache.count == 0)
    }

    @Test("Only successful responses to GET are stored; an unsafe request removes the responses of its URL")
    func methods() async throws {
        responses([.cacheControl: "max-age=60"])
        stub.on(.get, "/v1/missing", .status(.notFound, headers: [.cacheControl: "max-age=60"]))
        let service = service()
        _ = await Fixture.failure { try await service.request(Get(path: "missing")) }
        try await service.request(Get(method: .head))
        try await service.request(Get(path: "other", method: .post))
        #expect(cache.count == 0)
        try await service.request(Get())
        #expect(cache.count == 1)
        try await service.request(Get(method: .put))
        #expect(cache.count == 0)
    }

    @Test("The request to the target of a redirect does not have the conditional headers of the redirected request")
    func redirect() async throws {
        responses([.eTag: "\"a\""])
        let service = service()
        let _: String = try await service.request(Get())
        stub.on(nil, "/v1/items", StubResponse(.found, headers: [.location: "/v1/moved"]))
        stub.on(nil, "/v1/moved", .text("moved"))
        #expect(try await service.request(Get()) == "moved")
        #expect(stub.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"a\"", nil])
    }

    @Test(
        "A very large `Age` does not cause a crash, and a 304 with `no-store` removes the stored response")
    func oddities() async throws {
        responses([.cacheControl: "max-age=60", "Age": "9223372036854775807", .eTag: "\"a\""])
        let service = service()
        let _: String = try await service.request(Get())
        clock.advance(by: .seconds(5))
        #expect(service.cachedResponse(Get(), as: .string)?.value == "one")
        stub.on(nil, nil, StubResponse(.notModified, headers: [.cacheControl: "no-store"]))
        #expect(try await service.request(Get()) == "one")
        #expect(cache.count == 0)
    }

    @Test("Settings and headers of a call decide how it uses the cache", .row("N-21"))
    func rules() async throws {
        responses([.cacheControl: "max-age=60"])
        let service = service()
        let _: String = try await service.request(Get(), with: RequestSettings { $0.caching = .off })
        #expect(cache.count == 0)
        for _ in 0..<2 {
            let _: String = try await service.request(Get(), with: RequestSettings { $0.caching = .reload })
        }
        #expect(stub.requests.count == 3)
        let _: String = try await service.request(Get(headers: [.cacheControl: "no-cache"]))
        #expect(stub.requests.count == 4)
        let _: String = try await service.request(Get())
        #expect(stub.requests.count == 4)
        let _: String = try await service.request(Get(headers: [.ifNoneMatch: "\"mine\""]))
        #expect(stub.requests.count == 5, "a call with its own conditions gets the server's response")
        let plain = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        #expect(plain.cachedResponse(Get(), as: .string) == nil)
    }

    @Test("The cache respects its capacity, removes the least recently used response, and stores no large response")
    func capacity() async throws {
        let small = ResponseCache(capacity: 16_000, clock: clock.networkClock)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.cache = small
        }
        responses([.cacheControl: "max-age=60"], String(repeating: "x", count: 1_000))
        for number in 0..<30 {
            try await service.request(Get(path: "items/\(number)"))
            try await service.request(Get(path: "items/0"))
        }
        #expect(small.count <= 10)
        #expect(service.cachedResponse(Get(path: "items/0"), as: .string) != nil)
        #expect(service.cachedResponse(Get(path: "items/1"), as: .string) == nil)
        stub.on(nil, "/v1/big", StubResponse(.ok, headers: [.cacheControl: "max-age=60"], body: Data(count: 3_000)))
        try await service.request(Get(path: "big"))
        #expect(service.cachedResponse(Get(path: "big"), as: .data) == nil)
    }
}
