import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Faults of a cache's directory, and users in URLs", .endsInTime)
struct CacheFaultTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let stub = StubTransport()

    init() throws {
        folder = try TemporaryFolder()
        stub.on(nil, nil) { request in
            StubResponse(
                .ok, headers: [.cacheControl: "max-age=60", .eTag: "\"a\"", .vary: "Accept-Language"],
                body: Data((request.url.user() ?? "text").utf8))
        }
    }

    private func disk() throws -> ResponseCache {
        try ResponseCache(directory: folder.url, clock: clock.networkClock)
    }

    private func send(
        _ url: String, _ cache: ResponseCache, _ method: HTTPMethod = .get, _ headers: HTTPHeaders = [],
        _ rule: ResponseCache.Rule? = nil, _ delivery: BodyDelivery = .buffered(limit: 1 << 20)
    ) async throws -> HTTPResponse {
        let base = try #require(URL(string: "https://api.example.com/"))
        let target = try #require(URL(string: url, relativeTo: base)).absoluteURL
        var request = HTTPRequest(method, target, headers: headers)
        request.parts.order(caching: rule)
        let response = try await CachingTransport(base: stub, cache: cache).send(request, delivering: delivery)
        if case .stream(let body) = response.content { for try await _ in body {} }
        return response
    }

    private var removals: URL { folder.url.appendingPathComponent("removals") }

    /// The files of responses, without their folders.
    private var files: [URL] {
        folder.files.keys.filter { $0.contains("/") }.sorted().map(folder.url.appendingPathComponent)
    }

    @Test(
        "URLs with different users do not share responses, and no response to a URL with a user is written to the disk",
        arguments: CachePlace.allCases)
    func usersOfURLs(place: CachePlace) async throws {
        let cache = try place == .disk ? disk() : ResponseCache(clock: clock.networkClock)
        for user in ["ada:one@", "eve:two@", ""] {
            let response = try await send("https://\(user)api.example.com/me", cache)
            #expect(response.source == .network, "\(user)")
        }
        #expect(try await send("https://ada:one@api.example.com/me", cache).data == Data("ada".utf8))
        #expect(stub.requests.count == 3)
        #expect(try await send("https://ada:other@api.example.com/me", cache).source == .network)
        #expect(!folder.files.values.contains { String(decoding: $0, as: UTF8.self).contains("ada") })
    }

    @Test("A record of removals with a damaged end is repaired, so that responses are stored again")
    func damagedRecord() async throws {
        _ = try disk()
        try Data(count: 37).write(to: removals)
        _ = try await send("a", disk())
        _ = try await send("a", disk())
        #expect(try await send("a", disk()).source == .cache)
    }

    @Test("A damaged line of a record of removals stands for the removal of every response, also after its repair")
    func damagedLine() throws {
        try Data(count: 37).write(to: removals)
        let file = open(removals.path, O_RDWR)
        defer { close(file) }
        let (record, before) = (CacheRemovals(file: file), CacheRemovals.now())
        for url in UInt64(7)...8 { #expect(record.contains(url, since: before)) }
    }

    @Test(
        "If a removal fails, the cache does not use the responses that it should have removed",
        arguments: [true, false])
    func failedRemoval(ofOneURL: Bool) async throws {
        let cache = try disk()
        _ = try await send("a", cache)
        try FileManager.default.removeItem(at: removals)
        try FileManager.default.createDirectory(at: removals, withIntermediateDirectories: false)
        if ofOneURL { _ = try await send("a", cache, .post) } else { cache.removeAll() }
        #expect(try await send("a", cache).source == .network)
        try FileManager.default.removeItem(at: removals)
        #expect(try await send("a", cache).source == .network)
        #expect(try await send("a", cache).source == .cache)
    }

    @Test("A response is not stored if its URL was removed during the request, even if the record is lost")
    func lostRecord() async throws {
        let cache = try disk()
        let (record, base) = (removals, try #require(URL(string: "https://api.example.com/a")))
        stub.on(nil, nil) { _ in
            cache.removeResponses(from: base)
            try? Data().write(to: record)
            return StubResponse(.ok, headers: [.cacheControl: "max-age=60"])
        }
        _ = try await send("a", cache)
        #expect(cache.count == 0)
    }

    @Test("Files of another version of the library remain when a response of their URL is stored")
    func otherVersion() async throws {
        _ = try await send("a", disk(), .get, [.acceptLanguage: "de"])
        let file = try #require(files.first)
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(0..<18, with: Data("networking-cache 9".utf8))
        try bytes.write(to: file)
        _ = try await send("a", disk(), .get, [.acceptLanguage: "en"])
        #expect(try Data(contentsOf: file) == bytes)
        #expect(files.count == 2)
    }

    @Test("A confirmed response remains if its new header fields cannot be written")
    func unwritableConfirmation() async throws {
        let cache = try disk()
        _ = try await send("a", cache)
        clock.advance(by: .seconds(61))
        let long = String(repeating: "x", count: 200_000)
        stub.on(nil, nil, StubResponse(.notModified, headers: [.eTag: "\"a\"", "X-Long": long]))
        #expect(try await send("a", cache).source == .revalidated)
        #expect(try await send("a", cache, .get, [], .only).data == Data("text".utf8))
    }

    @Test("Two responses whose requests were sent at the same time do not overwrite each other")
    func sameTime() throws {
        let directory = try CacheDirectory(folder.url, capacity: 1 << 20, heuristicFreshness: 0.1)
        let url = try #require(URL(string: "https://api.example.com/a"))
        let key = CachePages.key(url)
        for language in ["de", "en", "de"] {
            let request = HTTPRequest(.get, url, headers: [.acceptLanguage: language])
            let headers: HTTPHeaders = [.cacheControl: "max-age=60", .vary: "Accept-Language"]
            let asked = try #require(CacheRequest(request, .fresh, .buffered(limit: 9)))
            let freshness = CacheFreshness(.ok, headers, requested: clock.date, received: clock.date, heuristic: 0)
            let response = HTTPResponse(.ok, headers: headers, content: .data(Data(language.utf8)), to: request)
            directory.keep(CachedResponse(response, to: asked, freshness), to: request, at: key, order: 5)
        }
        #expect(directory.count == 2)
        for language in ["de", "en"] {
            let request = HTTPRequest(.get, url, headers: [.acceptLanguage: language])
            let body = directory.response(at: key, to: request)?.body
            #expect(body?.bytes(0..<2) == Data(language.utf8))
        }
    }

    @Test("`removeAll` removes abandoned temporary files")
    func remains() throws {
        let cache = try disk()
        let file = folder.url.appendingPathComponent("new-dead")
        try Data("secret".utf8).write(to: file)
        cache.removeAll()
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("The folder of a host that begins with a dot is not hidden")
    func dottedHost() async throws {
        let cache = try disk()
        _ = try await send("https://.example.com/a", cache)
        #expect(cache.count == 1)
        cache.removeAll()
        #expect(try await send("https://.example.com/a", cache).source == .network)
    }

    @Test("The use of one variant does not count as a use of the URL's other variants")
    func usesOfOthers() async throws {
        let old = Date(timeIntervalSinceNow: -7_200)
        for language in ["de", "en", "fr"] { _ = try await send("a", disk(), .get, [.acceptLanguage: language]) }
        for file in files {
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: file.path)
        }
        #expect(try await send("a", disk(), .get, [.acceptLanguage: "en"]).source == .cache)
        let used = try files.filter { file in
            let date = try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
            return date.map { $0 > old + 3_600 } ?? false
        }
        #expect(used.count == 1)
    }

    @Test("A file that is too large is not read")
    func hugeFile() async throws {
        // The capacity is larger than the file, so that counting the files in the background does not remove it.
        func disk() throws -> ResponseCache {
            try ResponseCache(directory: folder.url, capacity: 1 << 42, clock: clock.networkClock)
        }
        _ = try await send("a", disk())
        let file = try #require(files.first)
        try FileHandle(forWritingTo: file).truncate(atOffset: 1 << 40)
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int64
        try #require(size == 1 << 40)
        #expect(try await send("a", disk()).source == .network)
    }
}
