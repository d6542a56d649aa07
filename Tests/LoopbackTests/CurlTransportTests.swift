#if os(Linux)
    import Foundation
    import Networking
    import NetworkingTesting
    import Testing

    extension Loopback {
        /// The features that only `CurlTransport` has.
        @Suite("CurlTransport")
        struct CurlTransportTests {
            @Test("Services use CurlTransport by default, and its description contains the libcurl version")
            func platform() async throws {
                #expect(PlatformTransport.shared is CurlTransport)
                let name = "\(PlatformTransport.shared)"
                #expect(name.hasPrefix("CurlTransport (libcurl/"))
            }

            @Test("The times of a transfer are reported; the connect time of a reused connection is zero", .row("L6"))
            func timing() async throws {
                let exchange = try Exchange(CurlTransport()) { _ in .text("hello").delayed(by: .milliseconds(50)) }
                let first = try await exchange.send(exchange.request()).timing
                let second = try await exchange.send(exchange.request()).timing
                #expect(try #require(first.connect) > .zero)
                #expect(try #require(first.nameLookup) <= first.connect ?? .zero)
                #expect(try #require(first.firstByte) >= .milliseconds(50))
                #expect(try #require(first.total) >= first.firstByte ?? .zero)
                #expect(first.tls == nil)
                #expect(second.connect == .zero)
                #expect(try #require(second.total) >= .milliseconds(50))
            }

            @Test(
                "A small body arrives together with the head, without fields that the app did not set",
                arguments: [HTTPMethod.post, .put, .patch, .delete, .get])
            func smallBody(method: HTTPMethod) async throws {
                let received = Box<[String]>([])
                let server = try RawServer { connection in
                    var bytes = [UInt8](repeating: 0, count: 16_384)
                    while case let count = recv(connection.socket, &bytes, bytes.count, 0), count > 0 {
                        received.change { $0.append(String(decoding: bytes.prefix(count), as: UTF8.self)) }
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    }
                }
                let transport = try CurlTransport(CurlTransport.Configuration(threads: 1))
                let body = String(repeating: "x", count: 4_000)
                let request = HTTPRequest(method, server.url, body: .data(Data(body.utf8), contentType: nil))
                for _ in 0..<20 { _ = try await transport.send(request, delivering: .buffered(limit: 1_024)) }
                #expect(received.value.count == 20)
                for text in received.value {
                    #expect(text.hasPrefix("\(method) ") && text.hasSuffix("\r\n\r\n" + body))
                    #expect(text.contains("Content-Length: 4000\r\n"))
                    #expect(!text.contains("Content-Type") && !text.contains("Expect"))
                }
            }

            @Test("A body that decodes to more than the limit causes an error; the limit is configurable", .row("L20"))
            func bomb() async throws {
                var configuration = CurlTransport.Configuration()
                configuration.limits.decodedBytes = 16
                let answer: LoopbackServer.Handler = { _ in
                    LoopbackResponse(headers: ["Content-Encoding": "gzip"], content: .fixed(Gzip.hello))
                }
                let tight = try Exchange(CurlTransport(configuration), answer)
                let error = await tight.failure(try tight.request())
                #expect(error?.kind == .responseTooLarge)
                #expect(error?.description.contains("16 bytes") == true)
                configuration.limits.decodedBytes = 17
                let wide = try Exchange(CurlTransport(configuration), answer)
                #expect(try await wide.send(wide.request()).text == "hello hello hello")
            }

            @Test("Shutting down ends every call and closes the connections, in 20 rounds")
            func shutDown() async throws {
                for round in 0..<20 {
                    let transport = try CurlTransport(CurlTransport.Configuration(threads: 1 + round % 3))
                    let exchange = try Exchange(transport) { request in
                        request.path == "/hang" ? .text("never").failing(.stallBeforeHead) : .text("hello")
                    }
                    _ = try await exchange.send(exchange.request())
                    let hang = try exchange.request(.get, "/hang")
                    let calls = (0..<20).map { _ in Task { await exchange.failure(hang) } }
                    #expect(try await Exchange.eventually { exchange.server.requestCount == 21 })
                    transport.shutDown()
                    for call in calls { #expect(await call.value?.kind == .transportShutDown) }
                    #expect(await exchange.failure(hang)?.kind == .transportShutDown)
                    #expect(try await Exchange.eventually { exchange.server.openConnections == 0 })
                }
            }

            @Test("Neither a completed nor a cancelled call retains its transport")
            func letGo() async throws {
                let server = try LoopbackServer { _ in .text("hello") }
                server.route(.get, "/hang") { _ in .text("never").failing(.stallBeforeHead) }
                func use() async throws -> () -> Bool {
                    let transport = try CurlTransport()
                    let exchange = Exchange(server, transport)
                    _ = try await exchange.send(exchange.request())
                    let hang = try exchange.request(.get, "/hang")
                    let call = Task { await exchange.failure(hang) }
                    #expect(try await Exchange.eventually { server.requestCount == 2 })
                    call.cancel()
                    #expect(await call.value?.kind == .cancelled)
                    return { [weak transport] in transport == nil }
                }
                let isGone = try await use()
                #expect(try await Exchange.eventually { isGone() && server.openConnections == 0 })
            }

            @Test("Several threads run calls in parallel, and each call receives its own response")
            func threads() async throws {
                let exchange = try Exchange(CurlTransport(CurlTransport.Configuration(threads: 3))) { request in
                    .text(request.path)
                }
                let wrong = await withTaskGroup(of: Bool.self) { group in
                    for index in 0..<600 {
                        group.addTask {
                            guard let request = try? exchange.request(.get, "/\(index)") else { return true }
                            return (try? await exchange.send(request).text) != "/\(index)"
                        }
                    }
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(wrong == 0)
            }

            @Test("Connecting has its own timeout")
            func connectTimeout() async throws {
                // The address is reserved for documentation (RFC 5737): no host responds there, or the system refuses
                // the connection at once.
                var request = HTTPRequest(.get, try #require(URL(string: "http://192.0.2.1/")))
                request.timeouts = HTTPRequest.Timeouts(idle: .seconds(30), connect: .milliseconds(200))
                let exchange = try Exchange(CurlTransport(CurlTransport.Configuration(proxy: .direct)))
                let start = ContinuousClock.now
                let kind = await exchange.failure(request)?.kind
                #expect([.connectTimedOut, .notConnected, .cannotConnect].contains(kind))
                #expect(ContinuousClock.now - start < .seconds(5))
            }

            @Test("Configured addresses of hosts replace the name lookup")
            func resolve() async throws {
                let server = try LoopbackServer { request in .text(request.headers["Host"] ?? "") }
                let transport = try CurlTransport(
                    CurlTransport.Configuration(resolve: ["api.invalid:\(server.port)": ["127.0.0.1"]]))
                let url = try #require(URL(string: "http://api.invalid:\(server.port)/"))
                for _ in 0..<2 {
                    let response = try await transport.send(
                        HTTPRequest(.get, url), delivering: .buffered(limit: 1 << 10))
                    #expect(response.text == "api.invalid:\(server.port)")
                }
            }

            @Test("The error of a missing Unix socket contains its path")
            func missingSocket() async throws {
                let transport = try CurlTransport(CurlTransport.Configuration(unixSocketPath: "/no/such.sock"))
                let error = await Exchange(try LoopbackServer(), transport).failure(
                    HTTPRequest(.get, try #require(URL(string: "http://a.example/"))))
                #expect(error?.kind == .cannotConnect)
                #expect(error?.description.contains("/no/such.sock") == true)
            }

            @Test("The error of an invalid configuration names the invalid setting")
            func badConfiguration() {
                func reason(_ change: (inout CurlTransport.Configuration) -> Void) -> String? {
                    var configuration = CurlTransport.Configuration()
                    change(&configuration)
                    do {
                        _ = try CurlTransport(configuration)
                        return nil
                    } catch {
                        return (error as? NetworkError)?.kind == .invalidRequest ? "\(error)" : nil
                    }
                }
                #expect(reason { $0.threads = 0 }?.hasPrefix("threads") == true)
                #expect(reason { $0.limits.headBytes = 0 }?.hasPrefix("limits.headBytes") == true)
                #expect(reason { $0.limits.connections = -1 }?.hasPrefix("limits.connections") == true)
                #expect(reason { $0.limits.connectionsPerHost = 1 } == nil)
                for (host, address) in [
                    ("a", "127.0.0.1"), ("a:x", "::1"), ("a:1", "b"), ("a:1,b", "::1"), (":1", "::1"), ("-a:1", "::1"),
                    ("+a:1", "::1"), ("*:1", "::1"), ("a:0", "::1"), ("[::1]:1", "::1"), ("ä.test:1", "::1"),
                ] {
                    #expect(reason { $0.resolve = [host: [address]] }?.hasPrefix("resolve") == true, "\(host)")
                }
                #expect(reason { $0.resolve = ["a:1": []] }?.hasPrefix("resolve") == true)
                #expect(reason { $0.resolve = ["a:1": ["::1"], "A:1": ["::2"]] }?.hasPrefix("resolve") == true)
                #expect(reason { $0.resolve = ["xn--pi-uia.test:1": ["::1"]] } == nil)
                #expect(reason { $0.threads = 100_000 } == "threads: expected at most 256, found 100000")
                #expect(reason { $0.threads = 257 } == "threads: expected at most 256, found 257")
                for path in ["", String(repeating: "x", count: 108)] {
                    #expect(reason { $0.unixSocketPath = path }?.hasPrefix("unixSocketPath") == true)
                }
                #expect(reason { $0.tls.trust = .pem(Data()) }?.hasPrefix("tls.trust") == true)
                #expect(reason { $0.tls.trust = .file(URL(fileURLWithPath: "/tmp")) }?.hasPrefix("tls.trust") == true)
                #expect(
                    reason { $0.tls.clientCertificate = .init(certificate: URL(fileURLWithPath: "/dev/null")) } != nil)
                for text in ["ftp://u:hunter2@h:1", "http://u:hunter2@/", "mailto:hunter2"] {
                    let told = reason { if let url = URL(string: text) { $0.proxy = .url(url) } }
                    #expect(told?.hasPrefix("proxy") == true)
                    #expect(told?.contains("hunter2") == false)
                }
            }

            @Test("Descriptions and dumps contain no passphrase and no proxy password")
            func secrets() throws {
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .url(try #require(URL(string: "http://user:hunter2@proxy.example:3128")))
                configuration.tls.clientCertificate = .init(
                    certificate: URL(fileURLWithPath: "/c.pem"), passphrase: "hunter2")
                #expect(!"\(configuration)".contains("hunter2"))
                #expect("\(configuration.proxy)" == "the proxy http://proxy.example:3128")
                var text = ""
                dump(configuration, to: &text)
                dump(
                    HTTPRequest(
                        .get, try #require(URL(string: "http://a/")), headers: [.authorization: "Bearer hunter2"]),
                    to: &text)
                #expect(!text.contains("hunter2"))
            }
        }
    }
#endif
