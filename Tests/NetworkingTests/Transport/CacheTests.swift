import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Response cache", .endsInTime)
struct CacheTests {
    struct Get: Endpoint {
        var path: EndpointPath = "items"
        var method: HTTPMethod = .get
        var headers: HTTPHeaders = []
        var authorizationType: AuthorizationType = .none
    }

    let clock = ManualClock()
    let stub = StubTransport()
    let cache: ResponseCache

    init() {
        cache = ResponseCache(clock: clock.networkClock)
    }

    func service(_ session: AccessTokenSupervisor? = nil) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.cache = cache
            $0.transport = stub
        }
    }

    func responses(_ headers: HTTPHeaders, _ text: String = "one") {
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
        #expect(response.http.headers["Age"] == "0")
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

    @Test("A fresh response is used without a request; a stale response is used only after the server has validated it")
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
        #expect(response.http.status == .ok && response.http.headers["Age"] == "0")
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

    @Test("Responses to other methods and error responses without freshness are not stored")
    func methods() async throws {
        responses([.cacheControl: "max-age=60"])
        stub.on(.get, "/v1/missing", .status(.notFound))
        let service = service()
        _ = await Fixture.failure { try await service.request(Get(path: "missing")) }
        try await service.request(Get(method: .head))
        try await service.request(Get(path: "other", method: .post))
        #expect(cache.count == 0)
    }

    @Test("A response in progress is stored, even if an unsafe request changes another URL meanwhile")
    func otherURLs() async throws {
        let service = service()
        stub.on(.get, nil) { _ in
            try await service.request(Get(path: "other", method: .post))
            return StubResponse(.ok, headers: [.cacheControl: "max-age=60"])
        }
        stub.on(.post, nil, .status(.noContent))
        try await service.request(Get())
        #expect(cache.count == 1)
    }

    @Test("A response is not stored if its URL received an unsafe request or the cache was reset during its request")
    func changedMeanwhile() async throws {
        let service = service()
        stub.on(.put, nil, .status(.noContent))
        stub.on(.get, nil) { _ in
            try await service.request(Get(method: .put))
            return StubResponse(.ok, headers: [.cacheControl: "max-age=60"])
        }
        try await service.request(Get())
        #expect(cache.count == 0)
        stub.on(.get, nil) { _ in
            cache.reset()
            return StubResponse(.ok, headers: [.cacheControl: "max-age=60"])
        }
        try await service.request(Get())
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
        small.removeAll()
        for number in 0..<5 { try await service.request(Get(path: "items/\(number)")) }
        #expect(small.count == 5, "removed responses take no room")
        stub.on(nil, "/v1/big", StubResponse(.ok, headers: [.cacheControl: "max-age=60"], body: Data(count: 3_000)))
        try await service.request(Get(path: "big"))
        #expect(service.cachedResponse(Get(path: "big"), as: .data) == nil)
    }

    @Test("If a stale response replaces an error, admission policies and the retry budget still count the error")
    func failureBehindStale() async throws {
        responses([.cacheControl: "max-age=60, stale-if-error=600"])
        let gate = BackoffGate(clock: clock.networkClock)
        let budget = RetryPolicy.Budget(reserve: 0)
        let service = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.backoffGate = gate
            $0.retry = .standard
            $0.retry?.budget = budget
        }
        try await service.request(Get())
        let earned = budget.balance
        clock.advance(by: .seconds(61))
        stub.on(nil, nil) { _ in StubResponse(.serviceUnavailable, headers: [.retryAfter: "30"]) }
        #expect(try await service.request(Get()) == "one")
        let origin = try #require(stub.requests.first?.origin)
        #expect(gate.wait(for: origin) == .seconds(30))
        #expect(earned > 0 && budget.balance == earned, "a stored response earns no retry")
    }

    @Test("Without a heuristic, a response without explicit freshness is validated before each use")
    func noHeuristic() async throws {
        let strict = ResponseCache(heuristicFreshness: 0, clock: clock.networkClock)
        let service = NetworkService(environment: Fixture.environment) {
            $0.cache = strict
            $0.transport = stub
        }
        responses([.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"])
        for _ in 0..<2 { let _: String = try await service.request(Get()) }
        #expect(stub.requests.count == 2)
    }

    @Test("If a 304 has another entity tag than the stored response, the request is sent again")
    func foreignConfirmation() async throws {
        responses([.cacheControl: "max-age=60", .eTag: "\"a\""])
        let service = service()
        let _: String = try await service.request(Get())
        clock.advance(by: .seconds(61))
        stub.on(nil, nil) { request in
            request.headers.contains(.ifNoneMatch)
                ? StubResponse(.notModified, headers: [.eTag: "\"b\""])
                : StubResponse(.ok, headers: [.eTag: "\"b\""], body: Data("two".utf8))
        }
        #expect(try await service.request(Get()) == "two")
        #expect(stub.requests.count == 3)
    }
}
