import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if os(Linux)
    extension Loopback {
        @Suite("WebSockets through nginx and a proxy", .enabled(if: Tool.nginx.isExpected, Tool.nginx.comment))
        struct WebSocketRouteTests {
            private func echo() throws -> LoopbackServer {
                try LoopbackServer { _ in
                    .webSocket { socket in while let message = try socket.receive() { try socket.send(message) } }
                }
            }

            private func expectEcho(_ url: URL, _ configuration: CurlTransport.Configuration) async throws {
                let transport = try CurlTransport(configuration)
                let socket = NetworkService(environment: NetworkEnvironment(baseURL: url)) { $0.transport = transport }
                    .webSocket(.get("chat"), reconnecting: .never)
                var reader = socket.makeAsyncIterator()
                for size in [5, 70_000, 3 << 20] {
                    let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                    try await socket.send(bytes)
                    #expect(try await reader.next() == .binary(bytes))
                }
                await socket.close()
                #expect(try await reader.next() == nil)
                transport.shutDown()
            }

            @Test("nginx passes a socket on: over TLS, where it prefers HTTP/2, and over a Unix socket")
            func nginx() async throws {
                let server = try echo()
                let nginx = try await Nginx(
                    isHTTP2: true,
                    locations: """
                        location / {
                            proxy_pass \(server.url.absoluteString); proxy_http_version 1.1;
                            proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;
                        }
                        """)
                let trust = TLSConfiguration(trust: .file(try nginx.authority.certificate))
                try await expectEcho(nginx.url, CurlTransport.Configuration(tls: trust))
                var overSocket = CurlTransport.Configuration()
                overSocket.unixSocketPath = nginx.socket.path
                try await expectEcho(try #require(URL(string: "http://localhost/")), overSocket)
                let error = await #expect(throws: (any Error).self) {
                    try await expectEcho(nginx.url, CurlTransport.Configuration())
                }
                #expect(HostileWebSocketTests.kind(of: error) == .tlsUntrusted)
            }

            @Test("A proxy that wants a password gets it, and one that refuses it is an error that says so")
            func proxy() async throws {
                let server = try echo()
                let port = try #require(server.url.port)
                let proxy = try RawServer { connection in
                    guard let text = connection.head() else { return }
                    guard text.hasPrefix("CONNECT"),
                        text.contains("Basic \(Data("user:right".utf8).base64EncodedString())")
                    else {
                        return connection.write(
                            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
                    }
                    connection.write("HTTP/1.1 200 OK\r\n\r\n")
                    Tunnel.relay(connection.socket, to: port) { false }
                }
                for (password, isRight) in [("right", true), ("wrong", false)] {
                    var configuration = CurlTransport.Configuration()
                    configuration.proxy = .url(
                        try #require(URL(string: "http://user:\(password)@127.0.0.1:\(proxy.url.port ?? 0)")))
                    guard !isRight else {
                        try await expectEcho(server.url, configuration)
                        continue
                    }
                    let error = await #expect(throws: (any Error).self) {
                        try await expectEcho(server.url, configuration)
                    }
                    #expect("\(error as Any)".contains("refuses the user or the password"))
                    #expect(!"\(error as Any)".contains("wrong"))
                }
            }
        }
    }
#endif
