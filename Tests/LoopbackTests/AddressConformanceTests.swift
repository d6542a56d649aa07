import Foundation
import NetworkingTesting
import Testing

@testable import Networking

extension Loopback {
    @Suite("Addresses and proxies on each engine")
    struct AddressConformanceTests {
        @Test(
            "Requests reach a server on IPv6", .row("L25"), .enabled(if: RawServer.hasV6, "this machine has no IPv6"),
            arguments: Engine.curlOnly)
        func v6(engine: Engine) async throws {
            let server = try RawServer(family: AF_INET6) { connection in
                while connection.readHead() { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nv6") }
            }
            let exchange = try Exchange(LoopbackServer(), engine.make())
            for _ in 0..<2 { #expect(try await exchange.send(HTTPRequest(.get, server.url)).text == "v6") }
        }

        @Test("Schemes are case-insensitive", .row("L47"), arguments: Engine.allCases)
        func upperCaseScheme(engine: Engine) async throws {
            let exchange = try Exchange(engine.make())
            let url = try #require(URL(string: "HTTP://127.0.0.1:\(exchange.server.port)/"))
            #expect(try await exchange.send(HTTPRequest(.get, url)).text == "hello")
        }

        @Test(
            "An out-of-range port or a bracketed host name fails before the request is sent",
            arguments: Engine.allCases)
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
            @Test("International host names are sent as punycode", arguments: Engine.allCases)
            func internationalName(engine: Engine) async throws {
                // Since version 7.78, libcurl resolves names that end in .localhost.
                guard try Engine.curlVersion() >= CurlVersion(7, 78) else { return }
                let server = try LoopbackServer()
                let port = server.port
                server.route(.get, "/redirect") { _ in
                    LoopbackResponse(.found, headers: ["Location": "http://münchen.localhost:\(port)/end"])
                }
                server.route(.get, "/api/a") { request in .text(request.headers[.host] ?? "") }
                server.route(.get, "/end") { request in .text(request.headers[.host] ?? "") }
                let transport = RedirectFollowingTransport(base: try engine.make())
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

        #if os(Linux)
            @Test("A configured proxy is used; with the setting .direct no proxy is used", .row("L33"))
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

            @Test("A proxy that is unreachable or refuses a tunnel causes a cannotConnect error")
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

            @Test("A proxy that refuses the password is not asked again, and the error says so")
            func proxyPassword() async throws {
                let proxy = try LoopbackServer { _ in .text("no", status: .proxyAuthenticationRequired) }
                let url = try #require(URL(string: "http://user:wrong@127.0.0.1:\(proxy.port)"))
                let transport = try CurlTransport(CurlTransport.Configuration(proxy: .url(url)))
                let service = NetworkService(environment: NetworkEnvironment()) {
                    $0.transport = transport
                    $0.retry = RetryPolicy(retries: 2)
                    $0.errorMapping = .unmapped
                }
                let error = await #expect(throws: NetworkError.self) {
                    _ = try await service.request(.url("https://nowhere.invalid/"), as: .data)
                }
                #expect(error?.kind == .invalidRequest)
                #expect(error?.reason?.contains("refuses the user or the password") == true)
                #expect(error?.description.contains("wrong") == false)
                #expect(proxy.requestCount == 1)
            }

            @Test("The connection limit is respected, and waiting for a connection does not count as idle time")
            func bounded() async throws {
                var configuration = CurlTransport.Configuration()
                configuration.limits.connectionsPerHost = 2
                let limited = configuration
                let failures = try await Exchange.atMostThreeTimes(until: \.isEmpty) {
                    let exchange = try Exchange(try CurlTransport(limited)) { _ in
                        .text("hello").delayed(by: .milliseconds(150))
                    }
                    var request = try exchange.request()
                    request.timeouts.idle = .milliseconds(400)
                    let call = request
                    let failures = await withTaskGroup(of: NetworkError?.self) { group in
                        for _ in 0..<10 { group.addTask { await exchange.failure(call) } }
                        return await group.reduce(into: [NetworkError]()) { if let error = $1 { $0.append(error) } }
                    }
                    #expect(!failures.isEmpty || exchange.server.acceptedConnections == 2)
                    return failures
                }
                #expect(failures.isEmpty, "\(failures)")
            }
        #endif
    }
}
