import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Redirects on real sockets", .timeLimit(.minutes(1)))
    struct RedirectTests {
        private let transport = RedirectFollowingTransport(PlatformTransport.shared)

        /// Tells what arrives, as text.
        private static func echo(_ request: LoopbackRequest) async throws -> LoopbackAnswer {
            let body = String(decoding: try await request.data(), as: UTF8.self)
            let credentials = ["Authorization", "Cookie", "X-Api-Key", "X-Secret", "X-Plain"]
                .filter { request.headers.contains(HTTPHeaderName($0)) }
            return .text("\(request.method) \(request.target) [\(body)] \(credentials.joined(separator: " "))")
        }

        private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            try await transport.send(request, answering: .whenComplete(limit: 1 << 20))
        }

        private func text(_ request: HTTPRequest) async throws -> String {
            String(decoding: try await send(request).data, as: UTF8.self)
        }

        private func dressed(_ url: URL, _ method: HTTPMethod = .get, body: HTTPBody = .empty) -> HTTPRequest {
            var request = HTTPRequest(method, url, body: body)
            request.headers = [.authorization: "Bearer secret", .cookie: "a=1", "X-Api-Key": "secret", "X-Plain": "1"]
            request.headers.set(HTTPHeader("X-Secret", "1", isSensitive: true))
            return request
        }

        @Test("L2: a redirect to another port carries no credentials; within the origin it does")
        func otherOrigin() async throws {
            let other = try LoopbackServer(Self.echo)
            let server = try LoopbackServer(Self.echo)
            server.route(.get, "/away") { _ in .redirect(to: "\(other.url)/target") }
            server.route(.get, "/stay") { _ in .redirect(to: "/target") }
            #expect(try await text(dressed(server.url.appendingPathComponent("away"))) == "GET /target [] X-Plain")
            #expect(
                try await text(dressed(server.url.appendingPathComponent("stay")))
                    == "GET /target [] Authorization Cookie X-Api-Key X-Secret X-Plain")
        }

        @Test("L3: 307 and 308 keep method and body", arguments: [307, 308])
        func keepsBody(code: Int) async throws {
            let server = try LoopbackServer(Self.echo)
            server.route(.post, "/from") { _ in .redirect(to: "/to", HTTPStatus(code)) }
            let request = HTTPRequest(.post, server.url.appendingPathComponent("from"), body: .string("text"))
            #expect(try await text(request) == "POST /to [text] ")
        }

        @Test("301, 302 and 303 turn a POST into a GET without its body", arguments: [301, 302, 303])
        func becomesGet(code: Int) async throws {
            let server = try LoopbackServer(Self.echo)
            server.route(.post, "/from") { _ in .redirect(to: "/to", HTTPStatus(code)) }
            let request = HTTPRequest(.post, server.url.appendingPathComponent("from"), body: .string("text"))
            #expect(try await text(request) == "GET /to [] ")
        }

        @Test(
            "L3: relative Locations resolve against the URL that answered",
            arguments: [("../b?c=1", "/x/b?c=1"), ("b", "/x/y/b"), ("?q=2", "/x/y/from?q=2"), ("/z", "/z")])
        func relative(location: String, target: String) async throws {
            let server = try LoopbackServer(Self.echo)
            server.route(.get, "/x/y/from") { request in
                request.query == nil ? .redirect(to: location) : try await Self.echo(request)
            }
            #expect(
                try await text(HTTPRequest(.get, server.url.appendingPathComponent("x/y/from"))) == "GET \(target) [] ")
        }

        @Test("A loop ends after 20 hops")
        func loop() async throws {
            let server = try LoopbackServer { _ in .redirect(to: "/again") }
            let error = await #expect(throws: NetworkError.self) { _ = try await send(HTTPRequest(.get, server.url)) }
            #expect(error?.kind == .tooManyRedirects)
            #expect(server.requestCount == 21)
        }

        @Test("A 307 with a body that cannot be sent again is refused with its reason")
        func notReplayable() async throws {
            let server = try LoopbackServer { _ in .redirect(to: "/to", .temporaryRedirect) }
            let body = HTTPBody.source(length: 4, isReplayable: false) { try HTTPBody.string("text").open() }
            let error = await #expect(throws: NetworkError.self) {
                _ = try await send(HTTPRequest(.post, server.url, body: body))
            }
            #expect(error?.kind == .redirectRefused)
            #expect(error?.description.contains("second time") == true)
        }

        @Test("The response tells the last URL")
        func lastURL() async throws {
            let server = try LoopbackServer(Self.echo)
            server.route(.get, "/from") { _ in .redirect(to: "/to") }
            #expect(try await send(HTTPRequest(.get, server.url.appendingPathComponent("from"))).url.path == "/to")
        }
    }
}
