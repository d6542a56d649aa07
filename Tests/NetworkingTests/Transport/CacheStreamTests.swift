import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Where a cache stores its responses.
enum CachePlace: CaseIterable {
    case memory, disk

    /// Creates a cache. A cache on disk uses the folder, and also stores credentials.
    func cache(in folder: TemporaryFolder, capacity: Int = 16 << 20, _ clock: ManualClock) throws -> ResponseCache {
        switch self {
        case .memory: ResponseCache(capacity: capacity, clock: clock.networkClock)
        case .disk:
            try ResponseCache(
                directory: folder.url, capacity: capacity, storesCredentials: true, clock: clock.networkClock)
        }
    }
}

@Suite("Streamed responses and the cache", .serialized, .endsInTime)
struct CacheStreamTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let body = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A server that streams its body in chunks. If `failingAfter` is set, the stream fails after this number of bytes.
    private struct Server: Transport {
        let body: Data
        var headers: HTTPHeaders = [.cacheControl: "max-age=60"]
        var failingAfter: Int?
        let requests = Locked(0)

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            requests.withLock { $0 += 1 }
            let position = Locked(0)
            let stream = IncomingBody(pull: { [body, failingAfter] in
                try position.withLock { position in
                    if let failingAfter, position >= failingAfter { throw NetworkError(.connectionLostAfterHead) }
                    guard position < body.count else { return nil }
                    defer { position += 50_000 }
                    return Data(body[position..<min(position + 50_000, body.count)])
                }
            })
            return HTTPResponse(.ok, headers: headers, content: .stream(stream), to: request)
        }
    }

    /// A server whose body has no end. The transfer is over when the body is released.
    private struct Endless: Transport {
        let chunk: Data
        let size: Box<Int>
        let isReleased: Box<Bool>

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            let body = IncomingBody(
                pull: { [chunk, size] in
                    size.change { $0 += chunk.count }
                    return chunk
                }, abandon: { [isReleased] in isReleased.change { $0 = true } })
            return HTTPResponse(.ok, headers: [.cacheControl: "max-age=60"], content: .stream(body), to: request)
        }
    }

    private func request(_ path: String = "a") throws -> HTTPRequest {
        HTTPRequest(.get, try #require(URL(string: "https://api.example.com/\(path)")))
    }

    private func bytes(_ response: HTTPResponse) async throws -> Data {
        switch response.content {
        case .stream(let body): try await body.collect(upTo: .max)
        case .data(let data): data
        case .file(let url): try Data(contentsOf: url)
        }
    }

    @Test("Reading past the end of a stored stream does not remove the stored response", arguments: CachePlace.allCases)
    func readPastTheEnd(_ place: CachePlace) async throws {
        let server = Server(body: body)
        let transport = CachingTransport(base: server, cache: try place.cache(in: folder, clock))
        guard case .stream(let stream) = try await transport.send(request(), delivering: .streamed).content else {
            return #expect(Bool(false), "the body is a stream")
        }
        var chunks = stream.makeAsyncIterator()
        while try await chunks.next() != nil {}
        #expect(try await chunks.next() == nil)
        #expect(try await bytes(transport.send(request(), delivering: .streamed)) == body)
        #expect(server.requests.withLock { $0 } == 1)
    }

    @Test("A stream whose head is too large for the disk removes the older response, which is outdated")
    func unwritable() async throws {
        let cache = try CachePlace.disk.cache(in: folder, ManualClock())
        _ = try await bytes(
            CachingTransport(base: Server(body: body), cache: cache).send(request(), delivering: .streamed))
        let long: HTTPHeaders = [.cacheControl: "max-age=60", "X-Long": String(repeating: "x", count: 200_000)]
        var reloading = try request()
        reloading.parts.order(caching: .reload)
        let newer = CachingTransport(base: Server(body: Data("new".utf8), headers: long), cache: cache)
        #expect(try await bytes(newer.send(reloading, delivering: .streamed)) == Data("new".utf8))
        #expect(cache.count == 0)
    }

    @Test(
        "A streamed response is stored while it is read, and is used for streamed and buffered responses",
        arguments: CachePlace.allCases)
    func stored(place: CachePlace) async throws {
        let server = Server(body: body)
        let cache = try place.cache(in: folder, clock)
        let transport = CachingTransport(base: server, cache: cache)
        let first = try await transport.send(request(), delivering: .streamed)
        #expect(cache.count == 0)
        #expect(try await bytes(first) == body)
        #expect(cache.count == 1)
        for delivery in [BodyDelivery.streamed, .buffered(limit: 2_000_000)] {
            let hit = try await transport.send(request(), delivering: delivery)
            #expect(hit.source == .cache)
            if place == .disk, case .streamed = delivery {
                guard case .stream = hit.content else { throw NetworkError(.unknown, reason: "read into memory") }
            }
            #expect(try await bytes(hit) == body)
        }
        #expect(server.requests.withLock { $0 } == 1)
        let small = await #expect(throws: NetworkError.self) {
            try await transport.send(request(), delivering: .buffered(limit: 999_999))
        }
        #expect(small?.kind == .responseTooLarge)
        #expect(folder.files.keys.allSatisfy { !$0.hasPrefix("new-") })
    }

    @Test(
        "A stream that fails, is released early, or is too large is not stored, and leaves no file",
        arguments: CachePlace.allCases)
    func incomplete(place: CachePlace) async throws {
        let cache = try place.cache(in: folder, clock)
        let failing = try await CachingTransport(base: Server(body: body, failingAfter: 500_000), cache: cache)
            .send(request(), delivering: .streamed)
        await #expect(throws: NetworkError.self) { try await bytes(failing) }
        do {
            let left = try await CachingTransport(base: Server(body: body), cache: cache)
                .send(request(), delivering: .streamed)
            guard case .stream(let stream) = left.content else { throw NetworkError(.unknown) }
            for try await _ in stream { break }
        }
        let small = try place.cache(in: folder, capacity: 4_000_000, clock)
        let large = try await CachingTransport(base: Server(body: body), cache: small)
            .send(request(), delivering: .streamed)
        #expect(try await bytes(large) == body, "the reader gets the bytes that are not stored")
        let useless = try await CachingTransport(base: Server(body: body, headers: []), cache: cache)
            .send(request(), delivering: .streamed)
        #expect(try await bytes(useless) == body)
        #expect(cache.count == 0 && small.count == 0)
        #expect(Set(folder.files.keys).isSubset(of: ["removals"]))
    }

    @Test("A stored body remains readable while it is replaced and removed")
    func replaced() async throws {
        let cache = try CachePlace.disk.cache(in: folder, clock)
        let transport = CachingTransport(base: Server(body: body), cache: cache)
        _ = try await bytes(transport.send(request(), delivering: .streamed))
        let hit = try await transport.send(request(), delivering: .streamed)
        cache.removeAll()
        #expect(folder.files.count == 1)
        #expect(try await bytes(hit) == body)
    }

    @Test("After its validation, a stale response has its stored body and a new head", arguments: CachePlace.allCases)
    func validated(place: CachePlace) async throws {
        let cache = try place.cache(in: folder, clock)
        let tagged: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"a\""]
        let first = CachingTransport(base: Server(body: body, headers: tagged), cache: cache)
        _ = try await bytes(first.send(request(), delivering: .streamed))
        clock.advance(by: .seconds(61))
        let stub = StubTransport()
        stub.on(nil, nil, StubResponse(.notModified, headers: tagged))
        let response = try await CachingTransport(base: stub, cache: cache).send(request(), delivering: .streamed)
        #expect(response.source == .revalidated)
        #expect(try await bytes(response) == body)
        let hit = try await CachingTransport(base: stub, cache: cache).send(request(), delivering: .streamed)
        #expect(hit.source == .cache)
        #expect(try await bytes(hit) == body)
        #expect(stub.requests.count == 1)
    }

    @Test("A stale stream is validated in the background and stored again, although no caller reads the new stream")
    func background() async throws {
        let cache = try CachePlace.disk.cache(in: folder, clock)
        let headers: HTTPHeaders = [.cacheControl: "max-age=60, stale-while-revalidate=600"]
        let other = Data(body.reversed())
        let first = CachingTransport(base: Server(body: body, headers: headers), cache: cache)
        _ = try await bytes(first.send(request(), delivering: .streamed))
        clock.advance(by: .seconds(61))
        let server = Server(body: other, headers: headers)
        let stale = try await CachingTransport(base: server, cache: cache).send(request(), delivering: .streamed)
        #expect(try await bytes(stale) == body)
        while true {
            let hit = try await CachingTransport(base: server, cache: cache).send(request(), delivering: .streamed)
            if try await bytes(hit) == other { break }
            await Task.yield()
        }
    }

    @Test(
        "A background validation stops reading when the body is too large to be stored",
        arguments: CachePlace.allCases)
    func endless(place: CachePlace) async throws {
        let cache = try place.cache(in: folder, capacity: 1 << 20, clock)
        let headers: HTTPHeaders = [.cacheControl: "max-age=60, stale-while-revalidate=600"]
        let first = CachingTransport(base: Server(body: body.prefix(100), headers: headers), cache: cache)
        _ = try await bytes(first.send(request(), delivering: .streamed))
        clock.advance(by: .seconds(61))
        let (size, isReleased) = (Box(0), Box(false))
        let endless = Endless(chunk: body, size: size, isReleased: isReleased)
        let stale = try await CachingTransport(base: endless, cache: cache).send(request(), delivering: .streamed)
        #expect(try await bytes(stale) == body.prefix(100))
        while !isReleased.value { await Task.yield() }
        #expect(size.value == body.count)
    }

    @Test("A download into a file is neither stored in the cache nor taken from it")
    func download() async throws {
        let server = Server(body: body)
        let cache = try CachePlace.disk.cache(in: folder, clock)
        let service = NetworkService(environment: Fixture.environment) {
            $0.cache = cache
            $0.transport = server
        }
        let target = folder.url.appendingPathComponent("download")
        for _ in 0..<2 {
            _ = try await service.request(
                AdHocEndpoint.get("a"), as: .file(at: target, overwriting: .replace))
        }
        #expect(server.requests.withLock { $0 } == 2 && cache.count == 0)
        #expect(try Data(contentsOf: target) == body)
    }
}
