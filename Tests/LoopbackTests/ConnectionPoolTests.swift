#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        /// What the engine remembers of its connections. (URLSession on Linux has no such settings.)
        @Suite("The pool of connections")
        struct ConnectionPoolTests {
            /// A server behind a tunnel, and a transport.
            struct Path: @unchecked Sendable {  // because its members are constants
                let nginx: Nginx
                let slow: LoopbackServer
                let tunnel: Tunnel
                let transport: CurlTransport

                init(isHTTP2: Bool = true, _ change: (inout CurlTransport.Configuration) -> Void = { _ in })
                    async throws
                {
                    // The response to "/slow" comes after 1.5 s. The response to "/events" begins at once.
                    slow = try LoopbackServer { request in
                        guard request.path == "/events" else {
                            return .text("slow").delayed(by: .milliseconds(1_500))
                        }
                        return LoopbackResponse(
                            content: .written(length: nil) { writer in
                                try writer.write(Data("event".utf8))
                                usleep(2_000_000)
                            })
                    }
                    nginx = try await Nginx(
                        isHTTP2: isHTTP2,
                        locations: "location / { return 200 $server_protocol; } "
                            + "location /slow { proxy_pass \(slow.url)/slow; } "
                            + "location /events { proxy_pass \(slow.url)/events; proxy_buffering off; }")
                    tunnel = try Tunnel(to: nginx.url)
                    transport = try nginx.transport(change)
                }

                func request(
                    _ method: HTTPMethod = .get, _ path: String = "", idle: Duration = .seconds(15)
                ) -> HTTPRequest {
                    HTTPRequest(method, tunnel.url.appendingPathComponent(path), timeouts: .init(idle: idle))
                }

                @discardableResult
                func send(
                    _ method: HTTPMethod = .get, _ path: String = "", idle: Duration = .seconds(15)
                ) async throws -> String {
                    try await transport.send(request(method, path, idle: idle), delivering: .buffered(limit: 1 << 10))
                        .text
                }

                /// Returns the kind of the error with which a request fails.
                func failure(
                    _ method: HTTPMethod = .get, _ path: String = "", idle: Duration
                ) async -> NetworkError.Kind? {
                    do { try await send(method, path, idle: idle) } catch { return (error as? NetworkError)?.kind }
                    return nil
                }
            }

            @Test(
                "A connection on which nothing came before a timeout is not used again",
                arguments: [HTTPMethod.get, .post], [true, false])
            func silent(method: HTTPMethod, isHTTP2: Bool) async throws {
                guard Tool.nginx.isExpected else { return }
                let path = try await Path(isHTTP2: isHTTP2)
                try await path.send()
                path.tunnel.silence()
                #expect(await path.failure(method, idle: .milliseconds(300)) == .idleTimedOut)
                try await path.send(method)
                #expect(path.tunnel.acceptedConnections == 2)
            }

            @Test("After a timeout, no idle connection to the host is used that is as old")
            func silentPool() async throws {
                guard Tool.nginx.isExpected else { return }
                let path = try await Path(isHTTP2: false) { $0.httpVersions = .http1 }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<5 { group.addTask { try await path.send(.get, "slow") } }
                    try await group.waitForAll()
                }
                #expect(path.tunnel.acceptedConnections == 5)
                path.tunnel.silence()
                #expect(await path.failure(idle: .milliseconds(300)) == .idleTimedOut)
                for _ in 0..<3 { try await path.send() }
                #expect(path.tunnel.acceptedConnections == 6)
            }

            @Test("A call that is cancelled while its connection is silent gives the connection up")
            func cancelled() async throws {
                guard Tool.nginx.isExpected else { return }
                let path = try await Path()
                try await path.send()
                path.tunnel.silence()
                let call = Task { try await path.send() }
                try await Task.sleep(for: .milliseconds(1_200))
                call.cancel()
                await #expect(throws: (any Error).self) { try await call.value }
                try await path.send()
                #expect(path.tunnel.acceptedConnections == 2)
            }

            @Test("A stream that falls silent after its first bytes gives its connection up")
            func silentStream() async throws {
                guard Tool.nginx.isExpected else { return }
                let path = try await Path()
                for number in 1...2 {
                    let request = path.request(.get, "events", idle: .milliseconds(400))
                    let response = try await path.transport.send(request, delivering: .streamed)
                    guard case .stream(let stream) = response.content else { throw NetworkError(.unknown) }
                    var pieces = stream.makeAsyncIterator()
                    #expect(try await pieces.next() == Data("event".utf8))
                    #expect(path.tunnel.acceptedConnections == number)
                    path.tunnel.silence()
                    let error = await #expect(throws: NetworkError.self) { _ = try await pieces.next() }
                    #expect(error?.kind == .idleTimedOut)
                }
            }

            @Test("Other streams of a connection that has been given up go on")
            func otherStreams() async throws {
                guard Tool.nginx.isExpected, try !Engine.hasLossyHTTP2() else { return }
                let path = try await Path()
                try await path.send()
                async let slow = path.send(.get, "slow")
                try await Task.sleep(for: .milliseconds(100))
                #expect(await path.failure(.get, "slow", idle: .milliseconds(300)) == .idleTimedOut)
                try await path.send()
                #expect(path.tunnel.acceptedConnections == 2)
                #expect(try await slow == "slow")
            }

            @Test("A slow response does not give up a connection on which other responses come")
            func healthy() async throws {
                guard Tool.nginx.isExpected, try !Engine.hasLossyHTTP2() else { return }
                let path = try await Path()
                try await path.send()
                async let slow = path.failure(.get, "slow", idle: .milliseconds(400))
                for _ in 0..<20 {
                    try await path.send()
                    try await Task.sleep(for: .milliseconds(30))
                }
                #expect(await slow == .idleTimedOut)
                try await path.send()
                #expect(path.tunnel.acceptedConnections == 1)
            }

            @Test("An idle connection is closed when it reaches its age", arguments: [true, false])
            func idleAge(isHTTP2: Bool) async throws {
                guard Tool.nginx.isExpected else { return }
                let path = try await Path(isHTTP2: isHTTP2) { $0.limits.idleAge = .milliseconds(200) }
                for number in 1...2 {
                    try await path.send()
                    #expect(path.tunnel.acceptedConnections == number)
                    try await Task.sleep(for: .milliseconds(400))
                }
            }

            @Test("A connection takes no requests after its life time", arguments: [true, false])
            func lifetime(isHTTP2: Bool) async throws {
                guard Tool.nginx.isExpected else { return }
                let path = try await Path(isHTTP2: isHTTP2) { $0.limits.lifetime = .milliseconds(400) }
                // The connection is never idle over HTTP/2.
                async let slow = path.send(.get, "slow")
                for _ in 0..<12 {
                    try await path.send()
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(path.tunnel.acceptedConnections >= 3)
                #expect(try await slow == "slow")
            }

            @Test("A connection is closed before the time that the server has announced")
            func keepAlive() async throws {
                for (field, isClosed) in [("timeout=1", true), ("max=5, Timeout=1 ", true), ("timeout=x", false)] {
                    let exchange = try Exchange(CurlTransport()) { _ in
                        LoopbackResponse(.ok, headers: ["Keep-Alive": field], body: Data())
                    }
                    _ = try await exchange.send(exchange.request())
                    try await Task.sleep(for: .milliseconds(800))
                    #expect((exchange.server.openConnections == 0) == isClosed, "\(field)")
                }
            }

            @Test("A POST does not use an HTTP/2 connection that has been silent for long, a GET does")
            func silence() async throws {
                guard Tool.nginx.isExpected, try !Engine.hasLossyHTTP2() else { return }
                let path = try await Path { $0.limits.silence = .milliseconds(200) }
                for (method, count) in [(HTTPMethod.get, 1), (.get, 1), (.post, 2), (.get, 2), (.put, 2)] {
                    try await path.send(method)
                    #expect(path.tunnel.acceptedConnections == count)
                    try await Task.sleep(for: .milliseconds(400))
                }
            }
        }
    }
#endif
