#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        /// Calls through SOCKS proxies. (URLSession on Linux has no such setting.)
        @Suite("SOCKS proxies")
        struct SOCKSTests {
            static let schemes = ["socks4", "socks4a", "socks5", "socks5h"]

            private func transport(
                _ proxy: SOCKSProxy, _ scheme: String, user: String = ""
            ) throws -> CurlTransport {
                try CurlTransport(CurlTransport.Configuration(proxy: .url(proxy.url(scheme, user: user))))
            }

            private func failure(_ request: HTTPRequest, _ transport: CurlTransport) async -> NetworkError? {
                do { _ = try await transport.send(request, delivering: .buffered(limit: 1 << 10)) } catch {
                    return error as? NetworkError
                }
                return nil
            }

            @Test("A failure names the proxy, and never its password", arguments: schemes)
            func refusals(scheme: String) async throws {
                let isOld = scheme.hasPrefix("socks4")
                let codes: [UInt8] = isOld ? [91, 92, 93, 255] : [1, 2, 3, 4, 5, 6, 7, 8, 255]
                for refusal in codes.map(SOCKSProxy.Refusal.reply) + [.close, .garbage] {
                    let proxy = try SOCKSProxy(refusal)
                    let transport = try transport(proxy, scheme, user: isOld ? "me@" : "me:secret@")
                    let url = try #require(URL(string: "http://localhost:1/"))
                    let error = await failure(HTTPRequest(.post, url), transport)
                    #expect(error?.kind == .cannotConnect, "\(refusal): \(String(describing: error))")
                    let text = String(describing: error)
                    #expect(text.contains("\(scheme)://127.0.0.1:"), "\(refusal): \(text)")
                    #expect(!text.contains("secret"), "\(refusal): \(text)")
                }
            }

            @Test("A refused or missing password is not tried again", arguments: ["me:secret@", ""])
            func password(user: String) async throws {
                let proxy = try SOCKSProxy(user.isEmpty ? .methods : .password)
                let transport = try transport(proxy, "socks5h", user: user)
                let url = try #require(URL(string: "http://localhost:1/"))
                let error = try #require(await failure(HTTPRequest(.get, url), transport))
                #expect(error.kind == .invalidRequest)
                #expect("\(error)".contains("refuses the user or the password"), "\(error)")
                #expect(!"\(error)".contains("secret"), "\(error)")
            }

            @Test("A silent proxy causes a connect timeout", arguments: schemes)
            func silence(scheme: String) async throws {
                let proxy = try SOCKSProxy(.silence)
                let transport = try transport(proxy, scheme)
                let url = try #require(URL(string: "http://localhost:1/"))
                let timeouts = HTTPRequest.Timeouts(idle: .seconds(4), connect: .milliseconds(300))
                let start = ContinuousClock.now
                let error = await failure(HTTPRequest(.get, url, timeouts: timeouts), transport)
                #expect(error?.kind == .connectTimedOut)
                #expect(start.duration(to: .now) < .seconds(3))
                withExtendedLifetime(proxy) {}
            }

            @Test("Version 4a and socks5h let the proxy resolve names; connections are kept", arguments: schemes)
            func targets(scheme: String) async throws {
                let server = try LoopbackServer { .text($0.headers["Host"] ?? "") }
                let port = try #require(server.url.port)
                let isRemote = ["socks4a", "socks5h"].contains(scheme)
                let host = isRemote ? "service.example" : "127.0.0.1"
                let proxy = try SOCKSProxy()
                let transport = try transport(proxy, scheme)
                let url = try #require(URL(string: "http://\(host):\(port)/"))
                for method in [HTTPMethod.get, .post, .get] {
                    let response = try await transport.send(
                        HTTPRequest(method, url), delivering: .buffered(limit: 1 << 10))
                    #expect(response.text == "\(host):\(port)")
                }
                #expect(proxy.targets == ["\(host):\(port)"])
            }

            @Test("HTTP/2 with TLS goes through the proxy on one connection; no text has the password")
            func secure() async throws {
                guard Tool.nginx.isExpected, try !Engine.hasLossyHTTP2() else { return }
                let nginx = try await Nginx(isHTTP2: true, locations: "location / { return 200 $server_protocol; }")
                let proxy = try SOCKSProxy()
                let proxyURL = try proxy.url("socks5", user: "me:secret@")
                let transport = try nginx.transport { $0.proxy = .url(proxyURL) }
                let request = HTTPRequest(.get, nginx.url)
                try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<10 {
                        group.addTask {
                            try await transport.send(request, delivering: .buffered(limit: 1 << 10)).text
                        }
                    }
                    for try await text in group { #expect(text == "HTTP/2.0") }
                }
                let port = try #require(nginx.url.port)
                #expect(proxy.targets == ["127.0.0.1:\(port)"])
                #expect(!"\(transport)".contains("secret"))
            }
        }
    }
#endif
