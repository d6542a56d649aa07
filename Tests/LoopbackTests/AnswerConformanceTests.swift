import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    /// What every engine has to get right; the L numbers are the rows of LINUX-FOUNDATION.md. What URLSession on
    /// Linux cannot do stands as its expectation.
    @Suite("Conformance: answers and failures", .timeLimit(.minutes(5)))
    struct AnswerConformanceTests {
        @Test("A request is answered with status, headers, body and timing", arguments: Engine.allCases)
        func answer(engine: Engine) async throws {
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
            "L1: a 401 is answered as a 401, whatever it challenges with",
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

        @Test("L1: a 407 is answered as a 407", arguments: Engine.allCases)
        func proxyChallenge(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                .text(
                    "who?", status: .proxyAuthenticationRequired, headers: ["Proxy-Authenticate": "Basic realm=\"x\""])
            }
            #expect(try await exchange.send(exchange.request()).status == .proxyAuthenticationRequired)
        }

        @Test("L3, L4: the engine follows no redirect itself", arguments: Engine.allCases)
        func noRedirect(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in .redirect(to: "/elsewhere") }
            let response = try await exchange.send(exchange.request())
            #expect(response.status == .found)
            #expect(response.headers[.location] == "/elsewhere")
            #expect(exchange.server.requestCount == 1)
        }

        @Test("L5: nothing is cached, and no cookie is kept", arguments: Engine.allCases)
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
            "L7: failures are told apart by kind",
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
            "L7: a bad chunk and a malformed header are malformed responses",
            arguments: Engine.allCases, ["Transfer-Encoding: chunked\r\n\r\nzz\r\nabc", "no colon\r\n\r\n"])
        func malformed(engine: Engine, rest: String) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                LoopbackResponse(content: .raw(Data("HTTP/1.1 200 OK\r\n\(rest)".utf8)))
            }
            #expect(await exchange.failure(try exchange.request())?.kind == .malformedResponse)
        }

        @Test(
            "L7: a refused connection, an unknown host and a server without TLS are told apart",
            arguments: Engine.allCases)
        func connecting(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared())
            var refused = try exchange.request()
            exchange.server.stop()
            #expect(await exchange.failure(refused)?.kind == .cannotConnect)
            refused.url = try #require(URL(string: "http://no-such-host.invalid/"))
            #expect(await exchange.failure(refused)?.kind == .cannotResolveHost)
            let plain = try Exchange(engine.shared()) { _ in
                LoopbackResponse(content: .raw(Data("no TLS here\r\n\r\n".utf8)))
            }
            let silent = try LoopbackServer { _ in LoopbackResponse() }
            var secure = try plain.request()
            secure.url = try #require(URL(string: "https://127.0.0.1:\(silent.port)/"))
            #expect(await plain.failure(secure)?.kind == .tlsFailed)
        }

        @Test(
            "L10, L11: a line break or NUL in a header value, header name or method throws before any byte is sent",
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
            "L12: a GET with a body is sent by libcurl, and an early, clear error on URLSession",
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

        @Test("L13: bytes without a media type are never announced as a form", arguments: Engine.allCases)
        func mediaType(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { request in .text(request.headers[.contentType] ?? "none") }
            let bare = try exchange.request(.post, "/", body: .data(Data("x".utf8), contentType: nil))
            let announced = engine == .curl ? "none" : "application/octet-stream"
            #expect(try await exchange.send(bare).text == announced)
            let typed = try exchange.request(.post, "/", body: .string("x"))
            #expect(try await exchange.send(typed).text == "text/plain; charset=utf-8")
        }

        @Test(
            "L14: a cancelled call ends with one kind, promptly, and its connection is closed",
            arguments: Engine.allCases)
        func cancelling(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in .text("never").failing(.stallBeforeHead) }
            let request = try exchange.request()
            let task = Task { await exchange.failure(request) }
            #expect(try await Exchange.eventually { exchange.server.requestCount == 1 })
            let start = ContinuousClock.now
            task.cancel()
            #expect(await task.value?.kind == .cancelled)
            #expect(ContinuousClock.now - start < .seconds(1))
            #expect(try await Exchange.eventually { exchange.server.openConnections == 0 })
        }

        @Test(
            "L15: 64 calls of which half are cancelled near completion, 200 rounds: every call is answered",
            .timeLimit(.minutes(3)), arguments: Engine.allCases)
        func cancellingNearCompletion(engine: Engine) async throws {
            let isSanitized = ProcessInfo.processInfo.environment["SANITIZER"] != nil
            let rounds = isSanitized ? 40 : 200
            let exchange = try Exchange(engine.make()) { _ in
                try await Task.sleep(for: .milliseconds(1))
                return .text("hello")
            }
            let request = try exchange.request()
            var answered = 0
            var others: [NetworkError] = []
            for round in 0..<rounds {
                await withTaskGroup(of: NetworkError?.self) { group in
                    for index in 0..<64 {
                        group.addTask {
                            let call = Task { await exchange.failure(request) }
                            if index.isMultiple(of: 2) {
                                try? await Task.sleep(for: .microseconds(500 * (1 + (index + round) % 40)))
                                call.cancel()
                            }
                            return await call.value
                        }
                    }
                    for await error in group {
                        answered += 1
                        if let error, error.kind != .cancelled { others.append(error) }
                    }
                }
            }
            #expect(answered == 64 * rounds)
            // Under a sanitizer, which CI names, Foundation loses one of these calls now and then; our own timer answers it.
            let allowed = isSanitized && engine == .urlSessionOnLinux ? 63 : 0
            #expect(others.allSatisfy { $0.kind == .idleTimedOut } && others.count <= allowed, "\(others)")
        }

        @Test(
            "L16: hanging calls do not keep others from their server, beyond six connections",
            arguments: Engine.allCases)
        func manyConnections(engine: Engine) async throws {
            let server = try LoopbackServer()
            server.route(.get, "/hang") { _ in .text("never").failing(.stallBeforeHead) }
            server.route(.get, "/quick") { _ in .text("hello") }
            let exchange = try Exchange(engine.shared())
            let hang = HTTPRequest(.get, server.url.appendingPathComponent("hang"))
            let quick = HTTPRequest(.get, server.url.appendingPathComponent("quick"))
            let hanging = (0..<20).map { _ in Task { await exchange.failure(hang) } }
            #expect(try await Exchange.eventually { server.openConnections == 20 })
            #expect(try await exchange.send(quick).text == "hello")
            for task in hanging {
                task.cancel()
                #expect(await task.value?.kind == .cancelled)
            }
        }

        @Test(
            "L23: the idle timeout knows fractions of a second, before and after the head",
            arguments: Engine.allCases, [LoopbackFault.stallBeforeHead, .stallAfterHead])
        func idleTimeout(engine: Engine, fault: LoopbackFault) async throws {
            let exchange = try Exchange(engine.shared()) { _ in .text("hello").failing(fault) }
            var request = try exchange.request()
            request.timeouts.idle = .milliseconds(300)
            let start = ContinuousClock.now
            #expect(await exchange.failure(request)?.kind == .idleTimedOut)
            let time = ContinuousClock.now - start
            #expect(time >= .milliseconds(290) && time < .seconds(3))
        }

        @Test("L23: every byte begins the idle timeout anew", arguments: Engine.allCases)
        func idleTimeoutRestarts(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                .text("0123456789").failing(.drip(bytes: 1, every: .milliseconds(100)))
            }
            var request = try exchange.request()
            request.timeouts.idle = .milliseconds(700)
            #expect(try await exchange.send(request).text == "0123456789")
        }

        @Test(
            "L23: a timeout that is not positive is refused", arguments: Engine.allCases, [Duration.zero, .seconds(-1)])
        func badTimeout(engine: Engine, timeout: Duration) async throws {
            let exchange = try Exchange(engine.shared())
            var request = try exchange.request()
            request.timeouts.idle = timeout
            #expect(await exchange.failure(request)?.kind == .invalidRequest)
        }

        @Test("L26: informational answers are not the answer", arguments: Engine.allCases)
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
            "L32: a 3xx without Location is an answer", arguments: Engine.allCases, [300, 301, 302, 303, 304, 307, 308])
        func redirectWithoutLocation(engine: Engine, code: Int) async throws {
            let exchange = try Exchange(engine.shared()) { _ in LoopbackResponse(HTTPStatus(code)) }
            #expect(try await exchange.send(exchange.request()).status.code == code)
        }

        @Test("L36: after its shutdown a transport answers with an error", arguments: Engine.allCases)
        func shutDown(engine: Engine) async throws {
            let transport = try engine.make()
            let exchange = try Exchange(transport) { _ in .text("never").failing(.stallBeforeHead) }
            let request = try exchange.request()
            let running = Task { await exchange.failure(request) }
            #expect(try await Exchange.eventually { exchange.server.requestCount == 1 })
            for _ in 0..<2 {
                #if os(Linux)
                    (transport as? CurlTransport)?.shutDown()
                #endif
                (transport as? URLSessionTransport)?.shutDown()
            }
            #expect(await running.value?.kind == .transportShutDown)
            #expect(await exchange.failure(request)?.kind == .transportShutDown)
        }

        @Test(
            "A transport that nobody holds ends by itself; a body that is still read keeps it",
            arguments: Engine.allCases)
        func released(engine: Engine) async throws {
            let server = try LoopbackServer { _ in
                LoopbackResponse(
                    content: .written(length: nil) { writer in
                        for _ in 0..<20 {
                            try writer.write(Data(count: 1_000))
                            Thread.sleep(forTimeInterval: 0.01)
                        }
                    })
            }
            func body() async throws -> IncomingBody {
                let response = try await engine.make().send(HTTPRequest(.get, server.url), delivering: .streamed)
                guard case .stream(let body) = response.content else { throw NetworkError(.unknown) }
                return body
            }
            #expect(try await body().collect(upTo: 1 << 20).count == 20_000)
            server.route(.get, "/") { _ in .text(String(repeating: "x", count: 9_999)).failing(.truncate(after: 500)) }
            let cut = try await body()
            let error = await #expect(throws: NetworkError.self) { try await cut.collect(upTo: 1 << 20) }
            #expect(error?.kind == .truncatedBody || error?.kind == .connectionLostAfterHead, "\(error as Any)")
            #expect(try await Exchange.eventually { server.openConnections == 0 })
        }

        @Test("An answer that passes the bound ends with a clear error", arguments: Engine.allCases)
        func bound(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in .text(String(repeating: "x", count: 10_000)) }
            #expect(await exchange.failure(try exchange.request(), limit: 9_999)?.kind == .responseTooLarge)
            #expect(try await exchange.send(exchange.request(), limit: 10_000).data.count == 10_000)
        }

        @Test("HEAD, 204 and 304 have no body", arguments: Engine.allCases)
        func bodiless(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { request in
                request.path == "/204" ? LoopbackResponse(.noContent) : .text("hello")
            }
            #expect(try await exchange.send(exchange.request(.head)).data.isEmpty)
            #expect(try await exchange.send(exchange.request(.get, "/204")).data.isEmpty)
        }

        @Test("Connections are reused", arguments: Engine.allCases)
        func reuse(engine: Engine) async throws {
            let exchange = try Exchange(engine.make())
            for _ in 0..<10 { _ = try await exchange.send(exchange.request()) }
            #expect(exchange.server.acceptedConnections == 1)
        }
    }
}
