import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    /// The behaviour required of every engine. The L rows of URLSessionOnLinux.md are limitations. If URLSession on
    /// Linux cannot meet a requirement, the test expects the limitation that the L row describes.
    @Suite("Conformance: responses and failures")
    struct ResponseConformanceTests {
        @Test("A response has a status, headers, a body and timing", arguments: Engine.allCases)
        func response(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { request in
                .text("\(request.method) \(request.target)", status: .created, headers: ["X-Kind": "test"])
            }
            let response = try await exchange.send(exchange.request(.get, "/a%20b?x=1"))
            #expect(response.status == .created)
            #expect(response.headers["x-kind"] == "test")
            #expect(response.text == "GET /a%20b?x=1")
            let total = try #require(response.timing.total)
            #expect(try #require(response.timing.firstByte) <= total)
        }

        @Test(
            "A 401 response is returned unchanged, with any challenge", .row("L1"),
            arguments: Engine.allCases, ["Basic realm=\"x\"", "Digest realm=\"x\"", "Bearer", "Negotiate", ""])
        func challenge(engine: Engine, value: String) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                .text("who?", status: .unauthorized, headers: value.isEmpty ? [] : [.wwwAuthenticate: value])
            }
            for method in [HTTPMethod.get, .post] {
                let body: HTTPBody = method == .post ? .string("text") : .empty
                let response = try await exchange.send(exchange.request(method, "/", body: body))
                #expect(response.status == .unauthorized)
                #expect(response.text == "who?")
            }
        }

        @Test("A 407 response is returned unchanged", .row("L1"), arguments: Engine.allCases)
        func proxyChallenge(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                .text(
                    "who?", status: .proxyAuthenticationRequired, headers: ["Proxy-Authenticate": "Basic realm=\"x\""])
            }
            #expect(try await exchange.send(exchange.request()).status == .proxyAuthenticationRequired)
        }

        @Test("An engine does not follow redirects itself", .row("L3", "L4"), arguments: Engine.allCases)
        func noRedirect(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in .redirect(to: "/elsewhere") }
            let response = try await exchange.send(exchange.request())
            #expect(response.status == .found)
            #expect(response.headers[.location] == "/elsewhere")
            #expect(exchange.server.requestCount == 1)
        }

        @Test("An engine caches no responses and stores no cookies", .row("L5"), arguments: Engine.allCases)
        func noCacheNoCookies(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { request in
                .text(
                    request.headers[.cookie] ?? "none",
                    headers: [.cacheControl: "max-age=3600", .setCookie: "session=1; Path=/"])
            }
            for _ in 0..<3 { #expect(try await exchange.send(exchange.request()).text == "none") }
            #expect(exchange.server.requestCount == 3)
        }

        @Test(
            "Failures have distinct kinds", .row("L7"),
            arguments: Engine.allCases,
            [
                (LoopbackFault.closeBeforeHead, NetworkError.Kind.connectionLostBeforeHead, false),
                (.resetBeforeHead, .connectionLostBeforeHead, false), (.malformedStatusLine, .malformedResponse, false),
                (.truncate(after: 3), .truncatedBody, true), (.resetMidBody(after: 3), .connectionLostAfterHead, true),
            ])
        func kinds(engine: Engine, failure: (fault: LoopbackFault, kind: NetworkError.Kind, hasHead: Bool)) async throws
        {
            let exchange = try Exchange(engine.shared()) { _ in .text("hello world").failing(failure.fault) }
            let error = await exchange.failure(try exchange.request())
            #expect(error?.kind == failure.kind)
            #expect((error?.response != nil) == failure.hasHead)
        }

        @Test(
            "A bad chunk or a malformed header field causes a malformedResponse error", .row("L7"),
            arguments: Engine.allCases, ["Transfer-Encoding: chunked\r\n\r\nzz\r\nabc", "no colon\r\n\r\n"])
        func malformed(engine: Engine, rest: String) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                LoopbackResponse(content: .raw(Data("HTTP/1.1 200 OK\r\n\(rest)".utf8)))
            }
            let error = await exchange.failure(try exchange.request())
            // CFNetwork may ignore a line without a colon.
            let isIgnored = engine == .urlSessionOnApple && rest.hasPrefix("no colon") && error == nil
            #expect(isIgnored || error?.kind == .malformedResponse)
        }

        @Test(
            "A control character in a header value, header name or method causes an error before any byte is sent",
            .row("L10", "L11"),
            arguments: Engine.allCases, ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "a\u{7F}b"])
        func injection(engine: Engine, text: String) async throws {
            let exchange = try Exchange(engine.shared())
            var byValue = try exchange.request()
            byValue.headers["X-Test"] = text
            var byName = try exchange.request()
            byName.headers.set(HTTPHeader(HTTPHeader.Name(text), "1"))
            let byMethod = try exchange.request(HTTPMethod(text))
            for request in [byValue, byName, byMethod] {
                #expect(await exchange.failure(request)?.kind == .invalidRequest)
            }
            #expect(exchange.server.acceptedConnections == 0)
        }

        @Test(
            "libcurl sends a GET with a body; URLSession fails with a clear error before it sends", .row("L12", "I-52"),
            arguments: Engine.allCases)
        func bodyOnGet(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { request in
                .text("\(request.method) \(String(decoding: try await request.data(), as: UTF8.self))")
            }
            let request = try exchange.request(.get, "/", body: .string("text"))
            switch engine {
            case .curl:
                #expect(try await exchange.send(request).text == "GET text")
            case .urlSessionOnLinux, .urlSessionOnApple:
                let error = await exchange.failure(request)
                #expect(error?.kind == .invalidRequest)
                #expect(error?.description.contains("body") == true)
                #expect(exchange.server.acceptedConnections == 0)
            }
        }

        @Test("Bytes without a media type are never labelled as a form", .row("L13"), arguments: Engine.allCases)
        func mediaType(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { request in .text(request.headers[.contentType] ?? "none") }
            let bare = try exchange.request(.post, "/", body: .data(Data("x".utf8), contentType: nil))
            let announced = engine == .curl ? "none" : "application/octet-stream"
            #expect(try await exchange.send(bare).text == announced)
            let typed = try exchange.request(.post, "/", body: .string("x"))
            #expect(try await exchange.send(typed).text == "text/plain; charset=utf-8")
        }

        @Test("Informational responses are skipped", .row("L26"), arguments: Engine.allCases)
        func informational(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                var answer = LoopbackResponse.text("after")
                answer.informational = [102, 103]
                return answer
            }
            let response = try await exchange.send(exchange.request())
            #expect(response.status == .ok)
            #expect(response.text == "after")
        }

        @Test(
            "A 3xx response without Location is returned", .row("L32"), arguments: Engine.allCases,
            [300, 301, 302, 303, 304, 307, 308])
        func redirectWithoutLocation(engine: Engine, code: Int) async throws {
            let exchange = try Exchange(engine.shared()) { _ in LoopbackResponse(HTTPStatus(code)) }
            #expect(try await exchange.send(exchange.request()).status.code == code)
        }

        @Test(
            "The body of a 3xx without Location is returned, or the call fails", .row("L32"), arguments: Engine.allCases
        )
        func bodyOfRedirect(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                LoopbackResponse(.found, content: .fixed(Data("body".utf8)))
            }
            if engine == .urlSessionOnLinux {
                let error = await exchange.failure(try exchange.request())
                #expect(error?.kind == .malformedResponse)
                #expect(error?.description.contains("has lost the body of this redirect; use CurlTransport") == true)
            } else {
                #expect(try await exchange.send(exchange.request()).text == "body")
            }
            #expect(try await exchange.send(exchange.request(.head)).status == .found)
        }

        @Test(
            "Bytes on an idle connection are no response to the next request", .row("L50"), arguments: Engine.allCases)
        func idleBytes(engine: Engine) async throws {
            let wasWritten = Box(0)
            let server = try RawServer { connection in
                while connection.readHead() {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
                    usleep(30_000)
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
                    wasWritten.change { $0 += 1 }
                }
            }
            let transport = try engine.make()
            var texts: [String] = []
            for method in [HTTPMethod.get, .get, .post] {
                let request = HTTPRequest(method, server.url)
                let known = wasWritten.value
                texts.append(try await transport.send(request, delivering: .buffered(limit: 100)).text)
                _ = try await Exchange.eventually { wasWritten.value > known || engine != .curl }
                try await Task.sleep(for: .milliseconds(60))
            }
            #expect(texts[0] == "good" && texts[2] == "good")
            // With libcurl 7.88, URLSession on Linux reads the bytes; with 8.14, it does not.
            #expect(texts[1] == "good" || engine == .urlSessionOnLinux && texts[1] == "evil")
        }

        @Test("A response body larger than the limit causes a responseTooLarge error", arguments: Engine.allCases)
        func bound(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in .text(String(repeating: "x", count: 10_000)) }
            #expect(await exchange.failure(try exchange.request(), limit: 9_999)?.kind == .responseTooLarge)
            #expect(try await exchange.send(exchange.request(), limit: 10_000).data.count == 10_000)
        }

        @Test("Responses to HEAD and responses with status 204 have no body", arguments: Engine.allCases)
        func bodiless(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { request in
                request.path == "/204" ? LoopbackResponse(.noContent) : .text("hello")
            }
            #expect(try await exchange.send(exchange.request(.head)).data.isEmpty)
            #expect(try await exchange.send(exchange.request(.get, "/204")).data.isEmpty)
        }
    }
}
