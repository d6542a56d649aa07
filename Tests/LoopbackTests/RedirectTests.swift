import Foundation
@testable import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Redirects on real sockets")
    struct RedirectTests {
        /// Returns the received request as text: method, target, body and the names of the fields that the tests check.
        private static func echo(_ request: LoopbackRequest) async throws -> LoopbackResponse {
            let body = String(decoding: try await request.data(), as: UTF8.self)
            let credentials = ["Authorization", "Cookie", "X-Api-Key", "X-Secret", "X-Plain"]
                .filter { request.headers.contains(HTTPHeader.Name($0)) }
            return .text("\(request.method) \(request.target) [\(body)] \(credentials.joined(separator: " "))")
        }

        private func send(_ request: HTTPRequest, on engine: Engine) async throws -> HTTPResponse {
            try await RedirectFollowingTransport(base: engine.shared()).send(
                request, delivering: .buffered(limit: 1 << 20))
        }

        private func text(_ request: HTTPRequest, on engine: Engine) async throws -> String {
            String(decoding: try await send(request, on: engine).data, as: UTF8.self)
        }

        private func dressed(_ url: URL, _ method: HTTPMethod = .get, body: HTTPBody = .empty) -> HTTPRequest {
            var request = HTTPRequest(method, url, body: body)
            request.headers = [.authorization: "Bearer secret", .cookie: "a=1", "X-Api-Key": "secret", "X-Plain": "1"]
            request.headers.set(HTTPHeader("X-Secret", "1", isSensitive: true))
            return request
        }

        @Test(
            "Credentials and unknown fields are removed on a redirect to another port, but not within the same origin",
            .row("L2"),
            arguments: Engine.allCases)
        func otherOrigin(engine: Engine) async throws {
            let other = try LoopbackServer(Self.echo)
            let server = try LoopbackServer(Self.echo)
            server.route(.get, "/away") { _ in .redirect(to: "\(other.url)/target") }
            server.route(.get, "/stay") { _ in .redirect(to: "/target") }
            #expect(
                try await text(dressed(server.url.appendingPathComponent("away")), on: engine)
                    == "GET /target [] ")
            #expect(
                try await text(dressed(server.url.appendingPathComponent("stay")), on: engine)
                    == "GET /target [] Authorization Cookie X-Api-Key X-Secret X-Plain")
        }

        @Test("307 and 308 retain the method and the body", .row("L3"), arguments: Engine.allCases, [307, 308])
        func keepsBody(engine: Engine, code: Int) async throws {
            let server = try LoopbackServer(Self.echo)
            server.route(.post, "/from") { _ in .redirect(to: "/to", HTTPStatus(code)) }
            let request = HTTPRequest(.post, server.url.appendingPathComponent("from"), body: .string("text"))
            #expect(try await text(request, on: engine) == "POST /to [text] ")
        }

        @Test("301, 302 and 303 change a POST into a GET without a body", arguments: Engine.allCases, [301, 302, 303])
        func becomesGet(engine: Engine, code: Int) async throws {
            let server = try LoopbackServer(Self.echo)
            server.route(.post, "/from") { _ in .redirect(to: "/to", HTTPStatus(code)) }
            let request = HTTPRequest(.post, server.url.appendingPathComponent("from"), body: .string("text"))
            #expect(try await text(request, on: engine) == "GET /to [] ")
        }

        @Test(
            "A relative Location is resolved against the URL of the response", .row("L3"),
            arguments: Engine.allCases,
            [("../b?c=1", "/x/b?c=1"), ("b", "/x/y/b"), ("?q=2", "/x/y/from?q=2"), ("/z", "/z")])
        func relative(engine: Engine, paths: (location: String, target: String)) async throws {
            let server = try LoopbackServer(Self.echo)
            server.route(.get, "/x/y/from") { request in
                request.query == nil ? .redirect(to: paths.location) : try await Self.echo(request)
            }
            #expect(
                try await text(HTTPRequest(.get, server.url.appendingPathComponent("x/y/from")), on: engine)
                    == "GET \(paths.target) [] ")
        }

        @Test("A redirect loop ends after 20 redirects", arguments: Engine.allCases)
        func loop(engine: Engine) async throws {
            let server = try LoopbackServer { _ in .redirect(to: "/again") }
            let error = await #expect(throws: NetworkError.self) {
                _ = try await send(HTTPRequest(.get, server.url), on: engine)
            }
            #expect(error?.kind == .tooManyRedirects)
            #expect(server.requestCount == 21)
        }

        @Test("A 307 for a body that cannot be sent again is refused with a clear error", arguments: Engine.allCases)
        func notReplayable(engine: Engine) async throws {
            let server = try LoopbackServer { _ in .redirect(to: "/to", .temporaryRedirect) }
            let body = HTTPBody.source(length: 4, isReplayable: false) { try HTTPBody.string("text").open() }
            let error = await #expect(throws: NetworkError.self) {
                _ = try await send(HTTPRequest(.post, server.url, body: body), on: engine)
            }
            #expect(error?.kind == .redirectRefused)
            #expect(error?.description.contains("second time") == true)
        }

        @Test("The response has the URL of the last request", arguments: Engine.allCases)
        func lastURL(engine: Engine) async throws {
            let server = try LoopbackServer(Self.echo)
            server.route(.get, "/from") { _ in .redirect(to: "/to") }
            #expect(
                try await send(HTTPRequest(.get, server.url.appendingPathComponent("from")), on: engine).url.path
                    == "/to")
        }

        @Test("303 retains HEAD and changes other methods into GET", arguments: Engine.allCases)
        func seeOther(engine: Engine) async throws {
            let server = try LoopbackServer(Self.echo)
            server.route(nil, "/from") { _ in .redirect(to: "/to", .seeOther) }
            let from = server.url.appendingPathComponent("from")
            #expect(try await text(HTTPRequest(.put, from, body: .string("text")), on: engine) == "GET /to [] ")
            #expect(try await send(HTTPRequest(.head, from), on: engine).request.method == .head)
        }

        @Test(
            "A Location that cannot be followed is refused with an error", arguments: Engine.allCases,
            ["ftp://127.0.0.1/", "javascript:alert(1)", "http://"])
        func unfollowable(engine: Engine, location: String) async throws {
            let server = try LoopbackServer { _ in .redirect(to: location) }
            let error = await #expect(throws: NetworkError.self) {
                _ = try await send(HTTPRequest(.get, server.url), on: engine)
            }
            #expect(error?.kind == .redirectRefused)
            #expect(error?.status == .found)
        }
    }
}
