import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("A cache on disk", .endsInTime)
struct CacheDirectoryTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let stub = StubTransport()

    init() throws {
        folder = try TemporaryFolder()
        stub.on(nil, nil) { request in
            StubResponse(
                .ok, headers: [.cacheControl: "max-age=60", .eTag: "\"a\""], body: Data(request.url.path.utf8))
        }
    }

    /// Creates a cache that uses the folder, like another process or the app after a restart.
    private func cache(capacity: Int = 1 << 20, storesCredentials: Bool = false) throws -> ResponseCache {
        try ResponseCache(
            directory: folder.url, capacity: capacity, storesCredentials: storesCredentials, clock: clock.networkClock)
    }

    private func send(
        _ path: String, _ cache: ResponseCache, _ method: HTTPMethod = .get, _ headers: HTTPHeaders = [],
        _ delivery: BodyDelivery = .buffered(limit: 1 << 24)
    ) async throws -> HTTPResponse {
        let url = try #require(URL(string: "https://api.example.com/\(path)"))
        return try await CachingTransport(base: stub, cache: cache).send(
            HTTPRequest(method, url, headers: headers), delivering: delivery)
    }

    @Test(
        "After a restart, a fresh response is used, a stale response is validated, and `cachedResponse` reads the disk")
    func restart() async throws {
        let first = try await send("a", cache())
        let second = try await send("a", cache())
        #expect(second.source == .cache)
        #expect(second.data == first.data && second.status == first.status)
        clock.advance(by: .seconds(61))
        stub.on(nil, nil) { request in
            #expect(request.headers[.ifNoneMatch] == "\"a\"")
            return StubResponse(.notModified, headers: [.cacheControl: "max-age=60", .eTag: "\"a\"", "X-New": "1"])
        }
        let third = try await send("a", cache())
        #expect(third.source == .revalidated && third.data == first.data)
        let fourth = try await send("a", cache())
        #expect(fourth.source == .cache && fourth.headers["X-New"] == "1" && fourth.data == first.data)
        let base = try #require(URL(string: "https://api.example.com/"))
        let service = NetworkService(environment: NetworkEnvironment(baseURL: base)) {
            $0.cache = try? cache()
            $0.transport = stub
        }
        #expect(service.cachedResponse(AdHocEndpoint.get("a"), as: .string)?.value == "/a")
    }

    @Test(
        "With no-store in a request or response, no file remains, even for a stream (RFC 9111 5.2.1.5, 5.2.2.5)",
        arguments: [HTTPHeaders(), [.cacheControl: "no-store"]], [true, false])
    func noStore(asked: HTTPHeaders, isStreamed: Bool) async throws {
        let control = asked.isEmpty ? "no-store, max-age=60" : "max-age=60"
        stub.on(nil, nil) { _ in StubResponse(.ok, headers: [.cacheControl: control], body: Data("secret".utf8)) }
        let response = try await send("a", cache(), .get, asked, isStreamed ? .streamed : .buffered(limit: 1 << 20))
        if case .stream(let body) = response.content { for try await _ in body {} }
        for file in folder.files {
            #expect(!String(decoding: file.value, as: UTF8.self).contains("secret"))
        }
    }

    @Test(
        "Responses to requests with credentials stay in memory, unless the app permits the cache to write them to disk")
    func credentials() async throws {
        let token: HTTPHeaders = [.authorization: "Bearer secret-one", "X-Session": "secret-two"]
        let memory = try cache()
        for _ in 0..<2 { _ = try await send("a", memory, .get, token) }
        #expect(stub.requests.count == 1, "a hit in memory")
        let texts = folder.files.values.map { String(decoding: $0, as: UTF8.self) }
        #expect(!texts.contains { $0.contains("secret") || $0.contains("/a") })
        #expect(try await send("a", cache(), .get, token).source == .network, "nothing is left after a restart")

        let disk = try cache(storesCredentials: true)
        _ = try await send("a", disk, .get, token)
        #expect(try await send("a", cache(storesCredentials: true), .get, token).source == .cache)
        #expect(
            try await send("a", cache(storesCredentials: true), .get, [.authorization: "Bearer other"]).source
                == .network)
        #expect(try await send("a", cache(storesCredentials: true)).source == .network)
        disk.removeAll()
        #expect(disk.count == 0)
    }

    @Test("Two processes share the directory: each process uses and removes the responses of the other process")
    func shared() async throws {
        let (one, two) = (try cache(), try cache())
        _ = try await send("a", one)
        #expect(try await send("a", two).source == .cache)
        _ = try await send("a", two, .post)
        #expect(try await send("a", one).source == .network, "the POST of the other process has removed the response")
        two.removeAll()
        #expect(one.count == 0)
    }

    @Test(
        "A response is not stored if another process removed or replaced its URL's responses during the request")
    func races() async throws {
        let (one, two) = (try cache(), try cache())
        let url = try #require(URL(string: "https://api.example.com/a"))
        let removals: [@Sendable () -> Void] = [{ two.removeResponses(from: url) }, { two.removeAll() }]
        for remove in removals {
            stub.on(nil, nil) { _ in
                remove()
                return StubResponse(.ok, headers: [.cacheControl: "max-age=60"], body: Data("old".utf8))
            }
            _ = try await send("a", one)
            #expect(one.count == 0)
        }
        let inner = StubTransport()
        inner.on(nil, nil, StubResponse(.ok, headers: [.cacheControl: "max-age=60"], body: Data("new".utf8)))
        stub.on(nil, nil) { request in
            _ = try await CachingTransport(base: inner, cache: two).send(request, delivering: .buffered(limit: 100))
            return StubResponse(.ok, headers: [.cacheControl: "max-age=60"], body: Data("old".utf8))
        }
        _ = try await send("a", one)
        #expect(try await send("a", one).data == Data("new".utf8))
    }

    @Test("The record of removals stays small, and a response is stored even if other URLs are removed meanwhile")
    func longRecord() async throws {
        let (one, two) = (try cache(), try cache())
        let record = folder.url.appendingPathComponent("removals")
        let others = (0..<1_500).map { URL(fileURLWithPath: "/\($0)") }
        let url = try #require(URL(string: "https://api.example.com/a"))
        // The record is shortened during some of these requests.
        for count in [0, 300, 300, 300, 300, 300] {
            for other in others[..<count] { two.removeResponses(from: other) }
            stub.on(nil, nil) { _ in
                for other in others[..<300] { two.removeResponses(from: other) }
                return StubResponse(.ok, headers: [.cacheControl: "max-age=60"])
            }
            _ = try await send("a", one)
            #expect(try await send("a", two).source == .cache)
            one.removeResponses(from: url)
            #expect(try Data(contentsOf: record).count < 40_000)
        }
        // After so many removals, the record no longer contains the removal of the request's URL.
        stub.on(nil, nil) { _ in
            two.removeResponses(from: url)
            for other in others { two.removeResponses(from: other) }
            return StubResponse(.ok, headers: [.cacheControl: "max-age=60"])
        }
        _ = try await send("a", one)
        #expect(one.count == 0)
    }

    @Test("At most eight variants of a URL are stored")
    func variants() async throws {
        stub.on(nil, nil) { request in
            StubResponse(
                .ok, headers: [.cacheControl: "max-age=60", .vary: "Accept-Language"],
                body: Data((request.headers[.acceptLanguage] ?? "").utf8))
        }
        let languages = (0..<10).map { "l\($0)" }
        for language in languages { _ = try await send("a", cache(), .get, [.acceptLanguage: language]) }
        #expect(try cache().count == 8)
        for language in languages.suffix(8) {
            let response = try await send("a", cache(), .get, [.acceptLanguage: language])
            #expect(response.data == Data(language.utf8) && response.source == .cache)
        }
    }

    @Test("If the capacity is exceeded, the least recently used responses and abandoned temporary files are removed")
    func capacity() async throws {
        let directory = try CacheDirectory(folder.url, capacity: 20 * 8_192, heuristicFreshness: 0)
        let cache = try cache(capacity: 1 << 30)
        for number in 0..<30 {
            _ = try await send("\(number)", cache)
            let name = try #require(directory.folders().first { directory.age($0) == nil })
            directory.setAge(name, days: 100 - number)
        }
        let remains = ["new-dead": 2.0, "new-alive": 0.1]
        for (name, hours) in remains {
            let url = folder.url.appendingPathComponent(name)
            try Data("x".utf8).write(to: url)
            try FileManager.default.setAttributes(
                [.modificationDate: Date().addingTimeInterval(-hours * 3_600)], ofItemAtPath: url.path)
        }
        _ = try await send("0", cache)  // uses the oldest response
        directory.makeRoom()
        #expect(cache.count == 17, "an eighth of the capacity is free")
        #expect(try await send("0", cache).source == .cache)
        #expect(try await send("1", cache).source == .network)
        #expect(try await send("29", cache).source == .cache)
        #expect(folder.files["new-dead"] == nil && folder.files["new-alive"] != nil)
    }

    @Test("A cache that exceeds its capacity makes room in the background while responses are stored")
    func background() async throws {
        let cache = try cache(capacity: 10 * 8_192)
        var number = 0
        while number < 30 || cache.count > 10, number < 2_000 {
            _ = try await send("\(number)", cache)
            number += 1
        }
        #expect(number < 2_000)
    }

    @Test("The first response that a process stores makes room, because other processes may have filled the directory")
    func firstOfProcess() async throws {
        for number in 0..<20 { _ = try await send("\(number)", try cache(capacity: 1 << 30)) }
        let cache = try cache(capacity: 10 * 8_192)
        _ = try await send("last", cache)
        while cache.count > 10 { await Task.yield() }
        #expect(cache.count > 0)
    }

    @Test("A response larger than an eighth of the capacity is not stored, and the older response is removed")
    func large() async throws {
        let cache = try cache(capacity: 80_000)
        _ = try await send("a", cache)
        #expect(cache.count == 1)
        stub.on(nil, nil, StubResponse(.ok, headers: [.cacheControl: "max-age=60"], body: Data(count: 20_000)))
        clock.advance(by: .seconds(61))
        _ = try await send("a", cache)
        #expect(cache.count == 0)
        #expect(folder.files.count == 1, "only the record of removals is left: \(folder.files.keys)")
    }
}

extension CacheDirectory {
    /// The age in days that ``setAge(_:days:)`` has set.
    fileprivate func age(_ folder: String) -> Int? {
        let dates = names(in: folder).compactMap {
            (try? FileManager.default.attributesOfItem(atPath: "\(folder)/\($0)"))?[.modificationDate] as? Date
        }
        guard let date = dates.first, date.timeIntervalSinceNow < -3_600 else { return nil }
        return Int(-date.timeIntervalSinceNow / 86_400)
    }

    /// Sets the time of the last use.
    fileprivate func setAge(_ folder: String, days: Int) {
        for name in names(in: folder) {
            try? FileManager.default.setAttributes(
                [.modificationDate: Date().addingTimeInterval(Double(-days) * 86_400)],
                ofItemAtPath: "\(folder)/\(name)")
        }
    }
}
