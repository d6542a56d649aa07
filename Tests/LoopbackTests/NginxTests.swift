#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        @Suite(
            "HTTP/2 and Unix sockets, on nginx",
            .enabled(if: Tool.nginx.isExpected, Tool.nginx.comment))
        struct NginxTests {
            private static func server(isHTTP2: Bool, hanging upstream: LoopbackServer) async throws -> Nginx {
                try await Nginx(
                    isHTTP2: isHTTP2,
                    locations: """
                        location /hang { proxy_pass \(upstream.url); }
                        location / { default_type text/plain; return 200 "$server_protocol $connection $http_x_test"; }
                        """)
            }

            private static func hanging() throws -> LoopbackServer {
                try LoopbackServer { _ in .text("never").failing(.stallBeforeHead) }
            }

            private func texts(_ url: URL, _ transport: CurlTransport, _ count: Int) async throws -> [String] {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for index in 0..<count {
                        group.addTask {
                            let request = HTTPRequest(.get, url, headers: ["X-Test": "\(index)"])
                            return try await transport.send(request, delivering: .buffered(limit: 1 << 20)).text
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }

            @Test("If TLS negotiates HTTP/2, many calls share one connection")
            func multiplexed() async throws {
                let server = try await Self.server(isHTTP2: true, hanging: Self.hanging())
                let texts = try await texts(server.url, server.transport(), 50)
                guard try !Engine.hasLossyHTTP2() else { return }
                #expect(Set(texts.map { $0.split(separator: " ")[0] }) == ["HTTP/2.0"])
                // In libcurl before 8.0, some calls do not wait for the first connection, which is a known fault
                // (#10456).
                let mostConnections = try Engine.curlVersion() < CurlVersion(8, 0) ? 2 : 1
                #expect(Set(texts.map { $0.split(separator: " ")[1] }).count <= mostConnections)
                #expect(Set(texts.map { $0.split(separator: " ")[2] }).count == 50)
            }

            @Test(
                "Cancelling hanging HTTP/2 streams does not affect other streams of the connection"
            )
            func streams() async throws {
                let upstream = try Self.hanging()
                let server = try await Self.server(isHTTP2: true, hanging: upstream)
                let transport = try server.transport()
                let hang = HTTPRequest(.get, server.url.appendingPathComponent("hang"))
                let hanging = (0..<5).map { _ in
                    Task { try await transport.send(hang, delivering: .buffered(limit: 1 << 20)) }
                }
                #expect(try await Exchange.eventually { upstream.requestCount == 5 })
                let connections = Set(try await texts(server.url, transport, 10).map { $0.split(separator: " ")[1] })
                for call in hanging { call.cancel() }
                for call in hanging { #expect((await call.result.error as? NetworkError)?.kind == .cancelled) }
                let later = Set(try await texts(server.url, transport, 10).map { $0.split(separator: " ")[1] })
                guard try !Engine.hasLossyHTTP2() else { return }
                #expect(connections == later)
                #expect(connections.count == 1)
            }

            @Test("Over TLS with HTTP/1.1, a hanging call does not block other calls")
            func hangingOverTLS() async throws {
                let upstream = try Self.hanging()
                let server = try await Self.server(isHTTP2: false, hanging: upstream)
                let transport = try server.transport()
                let hang = HTTPRequest(.get, server.url.appendingPathComponent("hang"))
                let hanging = Task { try await transport.send(hang, delivering: .buffered(limit: 1 << 20)) }
                #expect(try await Exchange.eventually { upstream.requestCount == 1 })
                let start = ContinuousClock.now
                let texts = try await texts(server.url, transport, 10)
                #expect(texts.count == 10)
                #expect(texts.allSatisfy { $0.hasPrefix("HTTP/1.1") })
                #expect(ContinuousClock.now - start < .seconds(5))
                hanging.cancel()
            }

            @Test("With a Unix socket path, requests to every host go to the socket")
            func unixSocket() async throws {
                let server = try await Self.server(isHTTP2: false, hanging: Self.hanging())
                let transport = try server.transport { $0.unixSocketPath = server.socket.path }
                let url = try #require(URL(string: "http://anything.invalid/"))
                #expect(try await texts(url, transport, 3).allSatisfy { $0.hasPrefix("HTTP/1.1") })
            }
        }
    }

    extension Result {
        var error: Failure? {
            if case .failure(let error) = self { error } else { nil }
        }
    }
#endif
