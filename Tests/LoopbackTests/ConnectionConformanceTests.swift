import Foundation
import NetworkingTesting
import Testing

@testable import Networking

extension Loopback {
    @Suite("Conformance: connections")
    struct ConnectionConformanceTests {
        @Test("Connections are reused", arguments: Engine.allCases)
        func reuse(engine: Engine) async throws {
            let exchange = try Exchange(engine.make())
            for _ in 0..<10 { _ = try await exchange.send(exchange.request()) }
            #expect(exchange.server.acceptedConnections == 1)
        }

        @Test("A connection that the server closed while it was idle is not reused", arguments: Engine.allCases)
        func idleClosed(engine: Engine) async throws {
            let exchange = try Exchange(engine.make()) { _ in
                // The server closes the connection after the response, without a `Connection: close` field.
                LoopbackResponse(content: .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8)))
            }
            for method in [HTTPMethod.get, .post, .get, .put, .patch, .get] {
                let body: HTTPBody = method == .get ? .empty : .string("text")
                #expect(try await exchange.send(exchange.request(method, "/", body: body)).text == "hi")
                #expect(try await Exchange.eventually { exchange.server.openConnections == 0 })
                try await Task.sleep(for: .milliseconds(5))
            }
        }

        @Test("A connection that the server half-closed is not reused", arguments: Engine.allCases)
        func halfClosed(engine: Engine) async throws {
            let halfClosed = Box(0)
            let server = try RawServer { connection in
                guard connection.readHead() else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(connection.number)")
                connection.closeWriting()
                halfClosed.change { $0 += 1 }
                // The server continues to read, and would discard a second request.
                _ = connection.readHead()
            }
            let transport = try engine.make()
            for number in 0..<5 {
                let request = HTTPRequest(.post, server.url, body: .string("x"), timeouts: .init(idle: .seconds(15)))
                let response = try await transport.send(request, delivering: .buffered(limit: 1 << 10))
                #expect(response.text == "\(number)")
                #expect(try await Exchange.eventually { halfClosed.value == number + 1 })
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
            let request = HTTPRequest(.get, server.url, timeouts: .init(idle: .seconds(15)))
            let response = try await engine.make().send(request, delivering: .buffered(limit: 1 << 10))
            #expect(response.text == "all of it")
        }

        /// Returns an exchange. Its server responds to the first request on each connection, and closes the connection
        /// when it receives the second request.
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
            "On a dead connection, an idempotent request is sent again, with its body", .row("L17"),
            arguments: Engine.curlOnly)
        func resent(engine: Engine) async throws {
            let exchange = try dropping(engine)
            for method in [HTTPMethod.get, .put, .delete, .put] {
                let body: HTTPBody = method == .put ? .string("text") : .empty
                #expect(try await exchange.send(exchange.request(method, "/", body: body)).text == "\(method)")
            }
        }

        @Test(
            "On a dead connection, a POST with a body fails with a clear error and is not sent again", .row("L17"),
            arguments: Engine.curlOnly)
        func notResent(engine: Engine) async throws {
            let exchange = try dropping(engine)
            _ = try await exchange.send(exchange.request())
            let error = await exchange.failure(try exchange.request(.post, "/", body: .string("text")))
            #expect(error?.kind == .connectionLostBeforeHead)
            #expect(exchange.server.requestCount == 2)
        }

        @Test(
            "On a dead connection, a body that cannot be read twice is not sent again", .row("L17"),
            arguments: Engine.curlOnly)
        func notReplayed(engine: Engine) async throws {
            let exchange = try dropping(engine)
            _ = try await exchange.send(exchange.request())
            let body = HTTPBody.source(length: 4, isReplayable: false) { try HTTPBody.string("text").open() }
            #expect(
                await exchange.failure(try exchange.request(.put, "/", body: body))?.kind == .connectionLostBeforeHead)
            #expect(exchange.server.requestCount == 2)
        }

        @Test("On a dead connection, a POST without a body is not sent again", .row("L17"), arguments: Engine.curlOnly)
        func emptyNotResent(engine: Engine) async throws {
            let exchange = try dropping(engine)
            _ = try await exchange.send(exchange.request())
            #expect(await exchange.failure(try exchange.request(.post))?.kind == .connectionLostBeforeHead)
            #expect(exchange.server.requestCount == 2)
        }

        @Test(
            "URLSession sends each POST, and each request with a body, on a new connection", .row("L17", "L46"),
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
            "The URLSession transport rejects requests that Foundation would change before sending", .row("L47"),
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

        @Test("A POST without a response ends when the idle timeout expires", arguments: Engine.allCases)
        func idlePost(engine: Engine) async throws {
            let exchange = try Exchange(engine.make()) { _ in .text("never").failing(.stallBeforeHead) }
            var request = try exchange.request(.post, "/", body: .string("text"))
            request.timeouts.idle = .milliseconds(300)
            let start = ContinuousClock.now
            #expect(await exchange.failure(request)?.kind == .idleTimedOut)
            #expect(ContinuousClock.now - start < .seconds(5))
        }

        @Test(
            "Many calls in progress do not block other calls", .row("L41"),
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
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }
}
