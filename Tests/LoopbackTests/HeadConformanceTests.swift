import Foundation
@testable import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Conformance: heads and framing")
    struct HeadConformanceTests {
        /// Returns an exchange whose server responds with exactly these bytes.
        private func exchange(_ engine: Engine, _ bytes: String) throws -> Exchange {
            try exchange(engine, Data(bytes.utf8))
        }

        private func exchange(_ engine: Engine, _ bytes: Data) throws -> Exchange {
            try Exchange(engine.shared()) { _ in LoopbackResponse(content: .raw(bytes)) }
        }

        @Test(
            "Unusual but unambiguous heads are parsed; URLSession rejects some as malformed", .row("L24"),
            arguments: Engine.allCases,
            [
                ("no blank", "HTTP/1.1 200 OK\r\nX:v\r\nContent-Length: 2\r\n\r\nhi", "v"),
                ("blank value", "HTTP/1.1 200 OK\r\nX:\r\nContent-Length: 2\r\n\r\nhi", ""),
                ("bare line feeds", "HTTP/1.1 200 OK\nX: v\nContent-Length: 2\n\nhi", "v"),
                ("no reason", "HTTP/1.1 200\r\nX: v\r\nContent-Length: 2\r\n\r\nhi", "v"),
                ("folded", "HTTP/1.1 200 OK\r\nX: a\r\n  b\r\nContent-Length: 2\r\n\r\nhi", "a b"),
                ("blanks around", "HTTP/1.1 200 OK\r\nX: \t v \t\r\nContent-Length: 2\r\n\r\nhi", "v"),
            ])
        func odd(engine: Engine, head: (name: String, bytes: String, value: String)) async throws {
            let exchange = try exchange(engine, head.bytes)
            switch engine {
            case .curl:
                let response = try await exchange.send(exchange.request())
                #expect(response.headers["X"] == head.value)
                #expect(response.text == "hi")
            case .urlSessionOnLinux, .urlSessionOnApple:
                let kind = await exchange.failure(try exchange.request())?.kind
                #expect(kind == nil || kind == .malformedResponse)
            }
        }

        @Test("Header values in Latin-1 and in UTF-8 are decoded correctly", .row("L24"), arguments: Engine.curlOnly)
        func latin1(engine: Engine) async throws {
            let head =
                Data("HTTP/1.1 200 OK\r\nX: caf".utf8) + Data([0xE9])
                + Data("\r\nY: café\r\nContent-Length: 0\r\n\r\n".utf8)
            let exchange = try exchange(engine, head)
            let response = try await exchange.send(exchange.request())
            #expect(response.headers["X"] == "café")
            #expect(response.headers["Y"] == "café")
        }

        @Test("Header fields retain their spelling, order and number", .row("L31"), arguments: Engine.curlOnly)
        func fields(engine: Engine) async throws {
            let exchange = try exchange(
                engine,
                "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nSet-Cookie: a=1\r\nx-a: 1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n"
            )
            let headers = try await exchange.send(exchange.request()).headers
            #expect(headers.map(\.name.rawValue) == ["ETag", "Set-Cookie", "x-a", "Set-Cookie", "Content-Length"])
            #expect(headers.values(for: .setCookie) == ["a=1", "b=2"])
        }

        @Test(
            "A cookie jar reads the cookies of a response, and an invalid cookie does not break later requests",
            arguments: Engine.allCases)
        func cookies(engine: Engine) async throws {
            let head = """
                HTTP/1.1 200 OK\r\nSet-Cookie: bad=x\u{1}y; Path=/\r\nSet-Cookie: b=1; Expires=Thu, 31-Dec-2099 0:00:00 GMT\r
                Set-Cookie: a=2\r\nContent-Length: 0\r\n\r\n
                """
            let sent = Box<[String?]>([])
            let exchange = try Exchange(engine.shared()) { request in
                sent.change { $0.append(request.headers[.cookie]) }
                return LoopbackResponse(content: .raw(Data(head.utf8)))
            }
            let jar = CookieJar(clock: ManualClock().networkClock)
            let transport = CookieTransport(base: SetCookieTransport(base: exchange.transport, jar: jar), jar: jar)
            for _ in 0..<2 { _ = try await transport.send(exchange.request(), delivering: .buffered(limit: 1)) }
            #expect(sent.value == [nil, "b=1; a=2"])
        }

        @Test(
            "A head of 4,000 fields is parsed quickly; a head over the limit causes a clear error", .row("L19"),
            arguments: Engine.curlOnly)
        func manyFields(engine: Engine) async throws {
            let fields = (0..<4_000).map { "X-\($0): v\r\n" }.joined()
            let exchange = try exchange(engine, "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nhi")
            let start = ContinuousClock.now
            let response = try await exchange.send(exchange.request())
            #expect(response.headers.count == 4_001)
            #expect(ContinuousClock.now - start < .seconds(5))
            let long = try self.exchange(engine, "HTTP/1.1 200 OK\r\n\(fields)\(fields)\r\n")
            let error = await long.failure(try long.request())
            #expect(error?.kind == .responseTooLarge)
            #expect(error?.description.contains("head") == true)
        }

        @Test("A header value of 90,000 bytes is parsed", arguments: Engine.curlOnly)
        func longValue(engine: Engine) async throws {
            let value = String(repeating: "v", count: 90_000)
            let exchange = try exchange(engine, "HTTP/1.1 200 OK\r\nX: \(value)\r\nContent-Length: 0\r\n\r\n")
            #expect(try await exchange.send(exchange.request()).headers["X"] == value)
        }

        @Test(
            "Trailers after a chunked body are ignored; a Content-Length of 2^63 - 1 is an error", .row("L18"),
            arguments: Engine.curlOnly)
        func trailers(engine: Engine) async throws {
            // Foundation on Linux crashes on both responses.
            let chunked = try exchange(
                engine,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n"
            )
            let response = try await chunked.send(chunked.request())
            #expect(response.text == "hi")
            #expect(response.headers["X-Sum"] == nil)
            let absurd = try exchange(engine, "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nhi")
            let kind = await absurd.failure(try absurd.request())?.kind
            #expect(kind == .truncatedBody || kind == .responseTooLarge)
        }

        @Test(
            "A stored response has no trailer fields among its header fields (RFC 9111 3.1)",
            arguments: Engine.curlOnly)
        func storedTrailers(engine: Engine) async throws {
            let exchange = try exchange(
                engine,
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                    + "2\r\nhi\r\n0\r\nX-Sum: 7\r\nCache-Control: max-age=0\r\n\r\n")
            let transport = CachingTransport(base: exchange.transport, cache: ResponseCache())
            for source in [HTTPResponse.Source.network, .cache] {
                let request = try exchange.request()
                let response = try await transport.send(request, delivering: .buffered(limit: 100))
                #expect(response.source == source)
                #expect(response.text == "hi")
                #expect(response.headers["X-Sum"] == nil)
                #expect(response.headers[.cacheControl] == "max-age=60")
            }
        }

        @Test("Two Cookie fields of a request arrive as two cookies", arguments: Engine.allCases)
        func requestCookies(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { request in
                .text(request.headers.values(for: .cookie).joined(separator: "; "))
            }
            var request = try exchange.request()
            for value in ["a=1", "b=2"] { request.headers.append(HTTPHeader(.cookie, value)) }
            #expect(try await exchange.send(request).text == "a=1; b=2")
        }

        @Test("The chunks of a chunked body are joined", arguments: Engine.allCases)
        func chunked(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                LoopbackResponse(content: .chunked((0..<50).map { Data("\($0) ".utf8) }))
            }
            #expect(try await exchange.send(exchange.request()).text == (0..<50).map { "\($0) " }.joined())
        }

        @Test("A body without a length ends when its connection closes", arguments: Engine.allCases)
        func untilClose(engine: Engine) async throws {
            let exchange = try exchange(engine, "HTTP/1.1 200 OK\r\n\r\nhello")
            #expect(try await exchange.send(exchange.request()).text == "hello")
        }

        @Test(
            "Compressed bodies are decompressed, and the head retains the fields as received", .row("L20", "L30"),
            arguments: Engine.allCases)
        func compressed(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { request in
                LoopbackResponse(headers: ["Content-Encoding": "gzip"], content: .fixed(Gzip.hello))
            }
            let response = try await exchange.send(exchange.request())
            #expect(response.text == "hello hello hello")
            #expect(response.headers[.contentEncoding] == "gzip")
            #expect(response.headers.contentLength == Gzip.hello.count)
        }

        @Test(
            "An uppercase scheme and an IPv6 address work on libcurl; URLSession may report an error", .row("L25"),
            arguments: Engine.allCases)
        func spelling(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared())
            var request = try exchange.request()
            request.url = try #require(URL(string: "HTTP://127.0.0.1:\(exchange.server.port)/"))
            let capitals = await exchange.failure(request)
            #expect(engine == .curl ? capitals == nil : true)
            // No server listens on this port. A refused connection shows that the address was understood.
            request.url = try #require(URL(string: "http://[::1]:1/"))
            let kind = await exchange.failure(request)?.kind
            #expect(engine == .curl ? [.cannotConnect, .notConnected].contains(kind) : kind != nil)
        }
    }
}

enum Gzip {
    /// "hello hello hello".
    static let hello = Data([
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40,
        0x90, 0x00, 0x80, 0x88, 0xf9, 0xe5, 0x11, 0x00, 0x00, 0x00,
    ])
}
