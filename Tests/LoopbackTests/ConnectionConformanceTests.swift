import Foundation
import NetworkingTesting
import Testing

@testable import Networking

extension Loopback {
    @Suite("Conformance: connections", .timeLimit(.minutes(5)))
    struct ConnectionConformanceTests {
        @Test("Connections are used again", arguments: Engine.allCases)
        func reuse(engine: Engine) async throws {
            let exchange = try Exchange(engine.make())
            for _ in 0..<10 { _ = try await exchange.send(exchange.request()) }
            #expect(exchange.server.acceptedConnections == 1)
        }

        @Test("A connection that the server closed while it was idle is not used again", arguments: Engine.allCases)
        func idleClosed(engine: Engine) async throws {
            let exchange = try Exchange(engine.make()) { _ in
                // Closed without a word after the answer.
                LoopbackResponse(content: .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8)))
            }
            for method in [HTTPMethod.get, .post, .get, .put, .patch, .get] {
                let body: HTTPBody = method == .get ? .empty : .string("text")
                #expect(try await exchange.send(exchange.request(method, "/", body: body)).text == "hi")
                #expect(try await Exchange.eventually { exchange.server.openConnections == 0 })
                try await Task.sleep(for: .milliseconds(5))
            }
        }

        @Test("A connection that the server half-closed is not used again", arguments: Engine.allCases)
        func halfClosed(engine: Engine) async throws {
            let server = try RawServer { connection in
                guard connection.readHead() else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(connection.number)")
                connection.closeWriting()
                // Reads on, and would swallow whatever came.
                _ = connection.readHead()
            }
            let transport = try engine.make()
            for number in 0..<5 {
                let request = HTTPRequest(.post, server.url, body: .string("x"), timeouts: .init(idle: .seconds(4)))
                let response = try await transport.send(request, delivering: .buffered(limit: 1 << 10))
                #expect(response.text == "\(number)")
                try await Task.sleep(for: .milliseconds(20))
            }
        }

        @Test("A body without a length ends when the server half-closes", arguments: Engine.allCases)
        func endedByHalfClose(engine: Engine) async throws {
            let server = try RawServer { connection in
                guard connection.readHead() else { return }
                connection.write("HTTP/1.1 200 OK\r\n\r\nall of it")
                connection.closeWriting()
                _ = connection.readHead()
            }
            let request = HTTPRequest(.get, server.url, timeouts: .init(idle: .seconds(4)))
            let response = try await engine.make().send(request, delivering: .buffered(limit: 1 << 10))
            #expect(response.text == "all of it")
        }

        @Test(
            "L25: a server on IPv6 answers", .enabled(if: RawServer.hasV6, "this machine has no IPv6"),
            arguments: Engine.curlOnly)
        func v6(engine: Engine) async throws {
            let server = try RawServer(family: AF_INET6) { connection in
                while connection.readHead() { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nv6") }
            }
            let exchange = try Exchange(LoopbackServer(), engine.make())
            for _ in 0..<2 { #expect(try await exchange.send(HTTPRequest(.get, server.url)).text == "v6") }
        }

        /// A server that answers the first request of a connection, and drops the connection at the second.
        private func dropping(_ engine: Engine) throws -> Exchange {
            let seen = Seen()
            return try Exchange(engine.make()) { request in
                _ = try await request.data()
                return seen.isFirst(on: request.connection)
                    ? .text("\(request.method)") : .text("").failing(.closeBeforeHead)
            }
        }

        private final class Seen: @unchecked Sendable {  // because of the lock
            private let lock = NSLock()
            private var connections: Set<Int> = []

            func isFirst(on connection: Int) -> Bool { lock.withLock { connections.insert(connection).inserted } }
        }

        @Test(
            "L17: on a dead connection, an idempotent request is sent again, with its body", arguments: Engine.curlOnly)
        func resent(engine: Engine) async throws {
            let exchange = try dropping(engine)
            for method in [HTTPMethod.get, .put, .delete, .put] {
                let body: HTTPBody = method == .put ? .string("text") : .empty
                #expect(try await exchange.send(exchange.request(method, "/", body: body)).text == "\(method)")
            }
        }

        @Test(
            "L17: on a dead connection, a POST with a body is not sent a second time: a clear error",
            arguments: Engine.curlOnly)
        func notResent(engine: Engine) async throws {
            let exchange = try dropping(engine)
            _ = try await exchange.send(exchange.request())
            let error = await exchange.failure(try exchange.request(.post, "/", body: .string("text")))
            #expect(error?.kind == .connectionLostBeforeHead)
            #expect(exchange.server.requestCount == 2)
        }

        @Test(
            "L17: on a dead connection, a body that cannot be read twice is not sent a second time",
            arguments: Engine.curlOnly)
        func notReplayed(engine: Engine) async throws {
            let exchange = try dropping(engine)
            _ = try await exchange.send(exchange.request())
            let body = HTTPBody.source(length: 4, isReplayable: false) { try HTTPBody.string("text").open() }
            #expect(
                await exchange.failure(try exchange.request(.put, "/", body: body))?.kind == .connectionLostBeforeHead)
            #expect(exchange.server.requestCount == 2)
        }

        @Test("L17: on a dead connection, a POST without a body is not sent a second time", arguments: Engine.curlOnly)
        func emptyNotResent(engine: Engine) async throws {
            let exchange = try dropping(engine)
            _ = try await exchange.send(exchange.request())
            #expect(await exchange.failure(try exchange.request(.post))?.kind == .connectionLostBeforeHead)
            #expect(exchange.server.requestCount == 2)
        }

        @Test(
            "F4, L17, L46: URLSession sends a POST and a body on connections that cannot be dead",
            arguments: Engine.only(.urlSessionOnLinux))
        func ownConnections(engine: Engine) async throws {
            let exchange = try dropping(engine)
            for method in [HTTPMethod.get, .post, .put, .post] {
                let body: HTTPBody = method == .get ? .empty : .string("text")
                #expect(try await exchange.send(exchange.request(method, "/", body: body)).text == "\(method)")
            }
            #expect(exchange.server.requestCount == 4)
            #expect(exchange.server.acceptedConnections == 4)
        }

        @Test(
            "L47: URLSession refuses what Foundation would send in another form",
            arguments: Engine.only(.urlSessionOnLinux))
        func refused(engine: Engine) async throws {
            let exchange = try Exchange(engine.make())
            let url = exchange.server.url
            let port = exchange.server.port
            let requests = try [
                HTTPRequest(HTTPMethod("get"), url),
                HTTPRequest(.get, #require(URL(string: "http://127.0.0.1:\(port)/a/../b"))),
                HTTPRequest(.get, #require(URL(string: "http://[::1]:\(port)/"))),
            ]
            for request in requests { #expect(await exchange.failure(request)?.kind == .invalidRequest) }
            #expect(exchange.server.requestCount == 0)
        }

        @Test("L47: schemes are read in any case", arguments: Engine.allCases)
        func upperCaseScheme(engine: Engine) async throws {
            let exchange = try Exchange(engine.make())
            let url = try #require(URL(string: "HTTP://127.0.0.1:\(exchange.server.port)/"))
            #expect(try await exchange.send(HTTPRequest(.get, url)).text == "hello")
        }

        @Test("U1: ports out of range and brackets around a name are errors before sending", arguments: Engine.allCases)
        func badAuthority(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared())
            for text in [
                "http://127.0.0.1:18446744073709551697/", "http://127.0.0.1:65536/", "http://[google.com]/",
                "http://[::1",
                "http://[1::2::3]/",
            ] {
                guard let url = URL(string: text) else { continue }
                #expect(await exchange.failure(HTTPRequest(.get, url))?.kind == .invalidRequest, "\(text)")
            }
        }

        #if os(Linux)
            @Test("International host names reach the wire as punycode", arguments: Engine.allCases)
            func internationalName(engine: Engine) async throws {
                // libcurl knows names that end in .localhost since 7.78.
                guard try Engine.curlVersion() >= CurlVersion(7, 78) else { return }
                let server = try LoopbackServer()
                let port = server.port
                server.route(.get, "/redirect") { _ in
                    LoopbackResponse(.found, headers: ["Location": "http://münchen.localhost:\(port)/end"])
                }
                server.route(.get, "/api/a") { request in .text(request.headers[.host] ?? "") }
                server.route(.get, "/end") { request in .text(request.headers[.host] ?? "") }
                let transport = RedirectFollowingTransport(try engine.make())
                let base = try #require(URL(string: "http://bücher.localhost:\(port)/api/"))
                let service = NetworkService(environment: NetworkEnvironment(baseURL: base)) {
                    $0.transport = transport
                }
                #expect(try await service.request(.get("a"), as: .string) == "xn--bcher-kva.localhost:\(port)")
                let absolute = "http://日本語.localhost:\(port)/end"
                #expect(
                    try await service.request(.url(absolute), as: .string) == "xn--wgv71a119e.localhost:\(port)")
                let redirect = "http://127.0.0.1:\(port)/redirect"
                #expect(
                    try await service.request(.url(redirect), as: .string) == "xn--mnchen-3ya.localhost:\(port)")
            }
        #endif

        @Test("A POST that gets no response ends with its idle timeout", arguments: Engine.allCases)
        func idlePost(engine: Engine) async throws {
            let exchange = try Exchange(engine.make()) { _ in .text("never").failing(.stallBeforeHead) }
            var request = try exchange.request(.post, "/", body: .string("text"))
            request.timeouts.idle = .milliseconds(300)
            let start = ContinuousClock.now
            #expect(await exchange.failure(request)?.kind == .idleTimedOut)
            #expect(ContinuousClock.now - start < .seconds(3))
        }

        @Test(
            "L41: many calls in flight, and others go on beside them",
            arguments: Engine.allCases)
        func manyInFlight(engine: Engine) async throws {
            let server = try LoopbackServer()
            server.route(.get, "/hang") { _ in .text("never").failing(.stallBeforeHead) }
            server.route(.get, "/quick") { _ in .text("hello") }
            let exchange = Exchange(server, try engine.make())
            let descriptors = sysconf(Int32(_SC_OPEN_MAX))
            let count = min(engine == .curl ? 1_000 : 100, max(descriptors, 300) / 3)
            var request = HTTPRequest(.get, server.url.appendingPathComponent("hang"))
            request.timeouts.idle = .seconds(30)
            let hang = request
            let calls = (0..<count).map { _ in Task { await exchange.failure(hang) } }
            #expect(try await Exchange.eventually(within: .seconds(20)) { server.openConnections == count })
            let quick = HTTPRequest(.get, server.url.appendingPathComponent("quick"))
            #expect(try await exchange.send(quick).text == "hello")
            let start = ContinuousClock.now
            for call in calls { call.cancel() }
            for call in calls { #expect(await call.value?.kind == .cancelled) }
            #expect(ContinuousClock.now - start < .seconds(5))
        }

        #if os(Linux)
            @Test("L33: the proxy of the environment is taken when the transport is made, and a setting wins over it")
            func proxy() async throws {
                let proxy = try LoopbackServer { request in .text("proxied \(request.target)") }
                let url = try #require(URL(string: "http://nowhere.invalid/path?x=1"))
                let set = try CurlTransport(CurlTransport.Configuration(proxy: .url(proxy.url)))
                let response = try await set.send(HTTPRequest(.get, url), delivering: .buffered(limit: 1 << 20))
                #expect(response.text == "proxied http://nowhere.invalid/path?x=1")
                let direct = try CurlTransport(CurlTransport.Configuration(proxy: .direct))
                let error = await Exchange(proxy, direct).failure(HTTPRequest(.get, url))
                #expect(error?.kind == .cannotResolveHost)
            }

            @Test("A proxy that cannot be reached, or refuses a tunnel, is reported as cannotConnect")
            func badProxy() async throws {
                let proxy = try LoopbackServer { _ in .text("no", status: .forbidden) }
                let transport = try CurlTransport(CurlTransport.Configuration(proxy: .url(proxy.url)))
                let secure = HTTPRequest(.get, try #require(URL(string: "https://nowhere.invalid/")))
                let refused = await Exchange(proxy, transport).failure(secure)
                #expect(refused?.kind == .cannotConnect)
                #expect(refused?.response == nil)
                proxy.stop()
                let dead = await Exchange(proxy, transport).failure(secure)
                #expect(dead?.kind == .cannotConnect)
                #expect(dead?.description.contains("the proxy http://127.0.0.1") == true)
            }

            @Test("A bound on connections holds, and waiting for one does not count as idle")
            func bounded() async throws {
                var configuration = CurlTransport.Configuration()
                configuration.limits.connectionsPerHost = 2
                let exchange = try Exchange(try CurlTransport(configuration)) { _ in
                    .text("hello").delayed(by: .milliseconds(150))
                }
                var request = try exchange.request()
                request.timeouts.idle = .milliseconds(400)
                let call = request
                let failures = await withTaskGroup(of: NetworkError?.self) { group in
                    for _ in 0..<10 { group.addTask { await exchange.failure(call) } }
                    return await group.reduce(into: [NetworkError]()) { if let error = $1 { $0.append(error) } }
                }
                #expect(failures.isEmpty, "\(failures)")
                #expect(exchange.server.acceptedConnections == 2)
            }
        #endif
    }
}
