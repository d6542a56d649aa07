import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// How a call uses the cache.
extension CacheTests {
    @Test("The settings and headers of a call decide how the call uses the cache", .row("N-21"))
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
        let _: String = try await service.request(Get(headers: [.ifMatch: "\"mine\""]))
        #expect(stub.requests.count == 5, "a request with If-Match is sent to the server")
        let plain = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        #expect(plain.cachedResponse(Get(), as: .string) == nil)
    }

    @Test("The source of a response is the network, the cache, or the cache after a validation")
    func sources() async throws {
        responses([.cacheControl: "max-age=60", .eTag: "\"a\""])
        let service = service()
        var sources: [HTTPResponse.Source] = []
        for _ in 0..<2 { sources.append((try await service.response(Get()) as Response<String>).http.source) }
        clock.advance(by: .seconds(61))
        let response: Response<String> = try await service.response(Get())
        #expect(sources + [response.http.source] == [.network, .cache, .revalidated])
        #expect(response.report.waterfall.hasSuffix("from the cache, confirmed by the server"))
        let entries = HARArchive.entries(of: response.report, redaction: .standard)
        #expect(entries.map(\.comment) == ["from the cache, confirmed by the server"])
    }

    @Test("A call that may only use the cache sends nothing, and fails if nothing is stored")
    func onlyCache() async throws {
        responses([.cacheControl: "max-age=60, no-cache"])
        let service = service()
        let settings = RequestSettings { $0.caching = .only }
        let error = await Fixture.failure { try await service.request(Get(), with: settings) } as? NetworkError
        #expect(error?.kind == .notCached && stub.requests.isEmpty)
        #expect(error?.description.contains("may use only the cache") == true)
        try await service.request(Get())
        clock.advance(by: .seconds(3_600))
        #expect(
            try await service.request(Get(), with: settings) == "one",
            "the response is stale, but the rule `only` accepts it")
        #expect(stub.requests.count == 1)
    }

    @Test("A call that only uses the cache needs no permit; a call with the rule `off` reads no stored response")
    func onlyCacheWithoutPermit() async throws {
        responses([.cacheControl: "max-age=60"])
        try await service().request(Get())
        let limit = ConcurrencyLimit(1)
        let held = limit.tryEnter(HTTPRequest(.get, try #require(stub.requests.first).url), for: Get())
        let busy = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.transport = stub
            $0.concurrencyLimit = limit
        }
        #expect(held != nil)
        #expect(try await busy.request(Get(), with: RequestSettings { $0.caching = .only }) == "one")
        #expect(busy.cachedResponse(Get(), as: .string, with: RequestSettings { $0.caching = .off }) == nil)
    }

    @Test("A call that only uses the cache fails without a cache, and nothing is sent")
    func onlyCacheWithoutCache() async throws {
        let plain = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let error = await Fixture.failure {
            try await plain.request(Get(), with: RequestSettings { $0.caching = .only })
        }
        #expect(
            (error as? GeneralRequestError)?.cause?.kind == .notCached || (error as? NetworkError)?.kind == .notCached)
        #expect(stub.requests.isEmpty)
    }

    @Test("A call that only uses the cache waits for the token store, and does not refresh the token")
    func onlyCacheWithStore() async throws {
        responses([.cacheControl: "max-age=60"])
        let get = Get(authorizationType: .bearer)
        let store = MemoryTokenStore(AccessToken("a", expiresIn: .seconds(30), now: clock.date))
        func session() -> AccessTokenSupervisor {
            AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in
                throw URLError(.notConnectedToInternet)
            }
        }
        let _: String = try await service(session()).request(get)
        clock.advance(by: .seconds(600))
        let barrier = Settlement<Void>()
        store.barrier.change { $0 = barrier }
        let offline = service(session())
        let call = Task { try await offline.request(get, with: RequestSettings { $0.caching = .only }) as String }
        barrier.settle(.success(()))
        #expect(try await call.value == "one")
        #expect(stub.requests.count == 1)
    }

    @Test("The stored response comes first, then the server's response; a fresh stored response is the only response")
    func cachedThenFresh() async throws {
        func texts() async throws -> [String] {
            var texts: [String] = []
            for try await response in service().cachedThenFresh(Get(), as: .string) { texts.append(response.value) }
            return texts
        }
        responses([.cacheControl: "max-age=60"], "one")
        #expect(try await texts() == ["one"], "nothing is stored")
        #expect(try await texts() == ["one"], "the stored response is fresh")
        #expect(stub.requests.count == 1)
        clock.advance(by: .seconds(61))
        responses([.cacheControl: "max-age=60"], "two")
        #expect(try await texts() == ["one", "two"])
        clock.advance(by: .seconds(61))
        stub.on(nil, nil, .failure(.notConnected))
        var seen: [String] = []
        await #expect(throws: GeneralRequestError.noInternetConnection) {
            for try await response in service().cachedThenFresh(Get(), as: .string) { seen.append(response.value) }
        }
        #expect(seen == ["two"])
    }

    @Test("The server's response also comes if stale-while-revalidate permits the use of the stored response")
    func cachedThenFreshWhileRevalidating() async throws {
        let service = service()
        var texts: [String] = []
        for text in ["one", "two"] {
            responses([.cacheControl: "max-age=60, stale-while-revalidate=600"], text)
            texts = []
            for try await response in service.cachedThenFresh(Get(), as: .string) { texts.append(response.value) }
            clock.advance(by: .seconds(61))
        }
        #expect(texts == ["one", "two"])
    }
}
