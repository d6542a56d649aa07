import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("LoopbackServer")
    struct ServerTests {
        @Test("Fixed and chunked bodies arrive unchanged, and routes match path segments")
        func routes() async throws {
            let server = try LoopbackServer()
            server.route(.get, "/users/:id/files/:name") { request in .json(request.parameters) }
            server.route(nil, "/chunks") { _ in
                LoopbackResponse(content: .chunked([Data("a".utf8), Data(), Data("bc".utf8)]))
            }
            let exchange = try Exchange(PlatformTransport.shared)
            func text(_ path: String) async throws -> String {
                let url = try #require(URL(string: path, relativeTo: server.url)).absoluteURL
                return try await exchange.send(HTTPRequest(.get, url)).text
            }
            #expect(try await text("/users/7/files/a%2Fb") == #"{"id":"7","name":"a\/b"}"#)
            #expect(try await text("/chunks") == "abc")
            #expect(try await text("/nothing") == "no route for GET /nothing")
        }

        @Test("A response that is sent in small pieces is complete at its end")
        func drip() async throws {
            let exchange = try Exchange(Engine.preferred.make()) { _ in
                .text("hello").failing(.drip(bytes: 2, every: .milliseconds(1)))
            }
            #expect(try await exchange.send(exchange.request()).text == "hello")
        }

        @Test("If a handler throws, the server responds with 500; an unread body does not affect the next request")
        func unread() async throws {
            let exchange = try Exchange(Engine.preferred.make()) { request in
                if request.path == "/throw" { throw NetworkError(.unknown) }
                return .text(request.path)
            }
            let big = HTTPBody.data(Data(count: 300_000))
            #expect(
                try await exchange.send(exchange.request(.post, "/throw", body: big)).status == .internalServerError)
            #expect(try await exchange.send(exchange.request(.post, "/next", body: big)).text == "/next")
            #expect(try await exchange.send(exchange.request(.get, "/last")).text == "/last")
        }

        @Test("After the response was sent, the body of its request is empty; the next request loses no bytes")
        func lateReader() async throws {
            let (bodies, handOver) = AsyncStream.makeStream(of: IncomingBody.self)
            let exchange = try Exchange(Engine.preferred.make()) { request in
                if request.path == "/late" { handOver.yield(request.body) }
                return .text(
                    String(decoding: request.path == "/late" ? Data() : try await request.data(), as: UTF8.self))
            }
            _ = try await exchange.send(exchange.request(.post, "/late", body: .string("first")))
            for await body in bodies {
                #expect(try await body.collect(upTo: 100).isEmpty)
                break
            }
            #expect(try await exchange.send(exchange.request(.post, "/next", body: .string("second"))).text == "second")
        }

        @Test("A stopped server refuses and closes connections, and can restart on its port several times")
        func stopping() async throws {
            let exchange = try Exchange(PlatformTransport.shared)
            for _ in 0..<5 {
                #expect(try await exchange.send(exchange.request()).text == "hello")
                exchange.server.stop()
                exchange.server.stop()
                #expect(await exchange.failure(try exchange.request()) != nil)
                try exchange.server.restart()
            }
        }

        @Test("Clients that connect and send no request do not block other clients")
        func stalledClient() async throws {
            let exchange = try Exchange(PlatformTransport.shared) { request in
                .text(String(decoding: try await request.data(), as: UTF8.self))
            }
            let silent = ReachabilityService.TCPConnectionProbe(host: "127.0.0.1", port: exchange.server.port)
            for _ in 0..<20 { #expect(await silent.status().isReachable) }
            #expect(
                try await exchange.send(exchange.request(.post, "/", body: .string("still here"))).text == "still here")
        }
    }
}
