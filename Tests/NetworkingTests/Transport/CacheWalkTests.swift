import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Sends requests with random fields through a cache whose server responds with random fields.
@Suite("Random walks through the cache", .endsInTime)
struct CacheWalkTests {
    private static let numbers = [
        "0", "1", "59", "60", "-1", "2147483648", "9223372036854775807", "9223372036854775808", "", "a", "1.5",
        "\"60\"",
        "60, 1", " 60 ", "é",
    ]
    private static let tags = ["\"a\"", "\"b\"", "W/\"a\"", "a", "", "*", "\"a\", \"b\"", "\"a,b\"", "W/", "\""]
    private static let dates = [
        "Tue, 14 Nov 2023 22:13:20 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "0", "",
        "Tue, 14 Nov 2023 22:14:20 GMT",
    ]
    private static let ranges = [
        "bytes=0-1", "bytes=1-", "bytes=-1", "bytes=-0", "bytes=-9223372036854775808", "bytes=5-2", "bytes=0-1,2-3",
        "bytes=9223372036854775807-", "bytes=0-9223372036854775807", "bytes=", "items=0-1", "bytes=a-b", "bytes = 0-1",
    ]
    private static let contentRanges = [
        "bytes 0-2/10", "bytes 3-5/10", "bytes 7-9/10", "bytes 0-2/*", "bytes */10", "bytes 2-0/10", "bytes 0-2/3",
        "bytes 0-9223372036854775806/9223372036854775807",
        "bytes 9223372036854775804-9223372036854775806/9223372036854775807",
        "", "bytes",
    ]
    private static let directives = [
        "max-age", "s-maxage", "min-fresh", "max-stale", "no-cache", "no-store", "must-revalidate", "private", "public",
        "only-if-cached", "stale-while-revalidate", "stale-if-error", "must-understand", "immutable", "x",
    ]
    private static let statuses = [200, 200, 200, 206, 206, 304, 304, 204, 301, 302, 404, 410, 412, 416, 500, 503]

    private struct Fields {
        var random: SeededGenerator

        mutating func pick<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: 0..<values.count, using: &random)]
        }

        mutating func add(_ name: HTTPHeader.Name, _ values: [String], oneIn chance: Int, to headers: inout HTTPHeaders)
        {
            guard Int.random(in: 0..<chance, using: &random) == 0 else { return }
            headers.append(HTTPHeader(name, pick(values)))
        }

        mutating func cacheControl() -> String {
            (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                pick(CacheWalkTests.directives)
                    + (Bool.random(using: &random) ? "=" + pick(CacheWalkTests.numbers) : "")
            }.joined(separator: pick([",", ", ", " , ", ";", ",,"]))
        }

        mutating func request() -> HTTPHeaders {
            var headers: HTTPHeaders = []
            if Bool.random(using: &random) { headers[.cacheControl] = cacheControl() }
            add(.range, CacheWalkTests.ranges, oneIn: 3, to: &headers)
            add(.ifRange, CacheWalkTests.tags + CacheWalkTests.dates, oneIn: 6, to: &headers)
            add(.ifNoneMatch, CacheWalkTests.tags, oneIn: 6, to: &headers)
            add(.ifModifiedSince, CacheWalkTests.dates, oneIn: 6, to: &headers)
            add(.acceptLanguage, ["en", "de, en", ""], oneIn: 2, to: &headers)
            add(.authorization, ["Bearer one", "Bearer two"], oneIn: 2, to: &headers)
            return headers
        }

        mutating func response() -> HTTPHeaders {
            var headers: HTTPHeaders = []
            if Int.random(in: 0..<4, using: &random) > 0 { headers[.cacheControl] = cacheControl() }
            add(.age, CacheWalkTests.numbers, oneIn: 3, to: &headers)
            add(.date, CacheWalkTests.dates, oneIn: 3, to: &headers)
            add(.expires, CacheWalkTests.dates, oneIn: 3, to: &headers)
            add(.lastModified, CacheWalkTests.dates, oneIn: 3, to: &headers)
            add(.eTag, CacheWalkTests.tags, oneIn: 2, to: &headers)
            add(.vary, ["Accept-Language", "*", ",", "accept-language, X", ""], oneIn: 3, to: &headers)
            add(.contentRange, CacheWalkTests.contentRanges, oneIn: 2, to: &headers)
            add(.contentLength, CacheWalkTests.numbers, oneIn: 4, to: &headers)
            add("Connection", ["Age, ETag", "close", ","], oneIn: 6, to: &headers)
            return headers
        }
    }

    /// A server whose bodies contain the user, so that the test detects a response of another user.
    private final class Server: Transport, @unchecked Sendable {  // because a lock protects its fields
        private let lock = NSLock()
        private var fields: Fields

        init(seed: UInt64) {
            fields = Fields(random: SeededGenerator(seed: seed))
        }

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            let (headers, status, isLost) = lock.withLock {
                (
                    fields.response(), fields.pick(CacheWalkTests.statuses),
                    Int.random(in: 0..<12, using: &fields.random) == 0
                )
            }
            if isLost { throw NetworkError(.notConnected) }
            let user = request.headers[.authorization].map { $0.hasSuffix("one") ? "1" : "2" } ?? "0"
            let body = status == 304 || status == 204 ? "" : String(repeating: user, count: status == 206 ? 3 : 10)
            return HTTPResponse(HTTPStatus(status), headers: headers, content: .data(Data(body.utf8)), to: request)
        }
    }

    @Test("No fields crash the cache, and no user gets the bytes of another user", arguments: 0..<8)
    func walk(seed: Int) async throws {
        let clock = ManualClock()
        let folder = try TemporaryFolder()
        let cache = try (seed < 6 ? CachePlace.memory : .disk).cache(in: folder, capacity: 100_000, clock)
        let transport = CachingTransport(base: Server(seed: UInt64(seed)), cache: cache)
        var fields = Fields(random: SeededGenerator(seed: UInt64(seed) + 100))
        let rules: [ResponseCache.Rule?] = [nil, nil, nil, .staleIfOffline, .only, .reload, .off]
        let methods: [HTTPMethod] = [.get, .get, .get, .get, .get, .get, .head, .post, .delete]
        var fromCache = 0
        for _ in 0..<5_000 {
            clock.advance(by: .seconds(fields.pick([0, 0, 1, 30, 61, 100_000])))
            let url = try #require(URL(string: "https://api.example.com/\(fields.pick(["a", "b", "c?x", "a#f"]))"))
            var request = HTTPRequest(fields.pick(methods), url, headers: fields.request())
            request.parts.order(caching: fields.pick(rules))
            guard let response = try? await transport.send(request, delivering: .buffered(limit: 1 << 20)) else {
                continue
            }
            if response.source != .network { fromCache += 1 }
            let user = request.headers[.authorization].map { $0.hasSuffix("one") ? "1" : "2" } ?? "0"
            #expect(Set(String(decoding: response.data, as: UTF8.self)).isSubset(of: Set(user)))
        }
        #expect(fromCache > 100, "the walk must reach stored responses")
    }
}
