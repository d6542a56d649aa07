// Runs the Swift blocks of Recipes.md unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Recipes for tests")
    struct TestingRecipeTests {
        private let stub = StubTransport()
        private let api = NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))

        @Test("A stub in a test")
        func stubbing() async throws {
            // snippet.stub
            let stub = StubTransport()
            stub.on(.get, "/users/7", .status(.serviceUnavailable), .json(["name": "Ada"]))
            let environment = NetworkEnvironment(
                baseURL: URL(string: "https://api.example.com"))
            let service = NetworkService(environment: environment) {
                $0.retry = RetryPolicy(retries: 1)
                $0.transport = stub
            }

            let user: [String: String] = try await service.request(.get("users/7"))

            #expect(user["name"] == "Ada")
            #expect(stub.requests.count == 2)
            // snippet.end
        }

        @Test("Record and replay")
        func recording() async throws {
            stub.on(.get, "/users/7", .json(["name": "Ada"]))
            let service = NetworkService(environment: api) { $0.transport = stub }
            // snippet.record
            let recorder = HARRecorder(redaction: .revealed)
            let token = service.observers.register(recorder)
            _ = try await service.request(.get("users/7")) as Data
            token.cancel()
            let file = try recorder.archive.encoded()  // save it with your tests

            let replay = ReplayTransport(try HARArchive(data: file))
            let offline = NetworkService(environment: api) { $0.transport = replay }
            let user: [String: String] = try await offline.request(.get("users/7"))
            // snippet.end
            #expect(user["name"] == "Ada")
        }

        @Test("Server-sent events; a mock server in a parallel test")
        func server() async throws {
            // snippet.server
            let server = try LoopbackServer()  // each server has its own port
            server.route(.get, "/news") { _ in
                LoopbackResponse(
                    .ok, headers: [.contentType: "text/event-stream"],
                    content: .fixed(Data("data: one\n\nevent: over\ndata: two\n\n".utf8)))
            }
            let service = NetworkService(
                environment: NetworkEnvironment(baseURL: server.url))
            // snippet.end
            let shown = Box<[String]>([])
            try await follow(service) { text in shown.change { $0.append(text) } }
            #expect(shown.value == ["one", "two"])
        }

        @Test("A server breaks off, answers a range, and reads a body")
        func failing() async throws {
            let server = try LoopbackServer()
            // snippet.failingServer
            server.route(.get, "/film") { request in
                let film = Data("a long film".utf8)
                let response = LoopbackResponse.content(film, tag: "\"v1\"", for: request)
                // The first response breaks off after 2 bytes. The next request asks for
                // the rest.
                return request.headers[.range] == nil
                    ? response.failing(.resetMidBody(after: 2)) : response
            }
            server.route(.put, "/echo") { request in
                // `request.body` is a stream: `for try await chunk in request.body`.
                .text(String(decoding: try await request.data(), as: UTF8.self))
            }
            // snippet.end
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero), on: .any)
            }
            let scratch = try Scratch()
            let target = scratch.url.appendingPathComponent("film")
            let converter = ResponseConverter.file(at: target, resuming: .sameAddress)
            _ = try await service.request(.get("film"), as: converter)
            #expect(try String(contentsOf: target, encoding: .utf8) == "a long film")
            #expect(try await service.request(.put("echo").body(.string("said")), as: .string) == "said")
        }

        @Test("Wait for connectivity")
        func connectivity() async throws {
            stub.on(.get, "/x", .failure(.notConnected), .text("there"))
            let probe = StubProbe(.reachable(.wireless))
            // snippet.connectivity
            // Or ReachabilityService(host: "api.example.com").
            let reachability = ReachabilityService(probe: probe)
            let service = NetworkService(environment: api) {
                $0.errorHandlingService = ErrorHandlingService([
                    ConnectivityErrorHandler(reachability)
                ])
                $0.settings.timeouts.total = .seconds(90)
            }
            // snippet.end
            let stubbed = NetworkService(client: service.client.with { $0.transport = stub })
            #expect(try await stubbed.request(.get("x")) as String == "there")
        }

        @Test("Test that a call waits for the network")
        func testingConnectivity() async throws {
            // snippet.testConnectivity
            let (clock, probe, stub) = (
                ManualClock(), StubProbe(.notReachable), StubTransport()
            )
            stub.on(.get, "/users/7", .failure(.notConnected), .json(["name": "Ada"]))
            let reachability = ReachabilityService(probe: probe, clock: clock.networkClock)
            let service = NetworkService(environment: api) {
                $0.transport = stub
                $0.errorHandlingService = ErrorHandlingService([
                    ConnectivityErrorHandler(reachability)
                ])
                $0.clock = clock.networkClock
            }

            let task = service.task(.get("users/7"), as: .json([String: String].self))
            while stub.requests.isEmpty { await Task.yield() }
            probe.set(.reachable(.wireless))
            try await clock.advance(by: .seconds(1), until: { task.result != nil })

            #expect(try await task.value["name"] == "Ada")
            // snippet.end
        }

        @Test("Test that a token is refreshed before it expires")
        func testingExpiry() async throws {
            // snippet.testExpiry
            let (clock, stub) = (
                ManualClock(date: Date()), StubTransport { _ in .text("there") }
            )
            let session = AccessTokenSupervisor(
                token: AccessToken("old", expiresIn: .seconds(60)),
                clock: clock.networkClock
            ) { _ in AccessToken("new") }
            let service = NetworkService(environment: api, authorizedBy: session) {
                $0.transport = stub
            }
            clock.advance(by: .seconds(58))

            try await service.request(.get("x").authorized())

            #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer new"])
            // snippet.end
        }

        @Test("A call to a stub reports the progress of its upload")
        func stubbedUpload() async throws {
            stub.on(.post, "/photos", .status(.noContent))
            let scratch = try Scratch()
            try Data(repeating: 7, count: 100_000).write(to: scratch.file("photo.jpg"))
            let last = Box(0.0)
            let service = NetworkService(environment: api) { $0.transport = stub }
            try await upload(scratch.file("photo.jpg"), with: service) { fraction in last.change { $0 = fraction } }
            #expect(last.value == 1)
        }
    }
}
