#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        @Suite("Connection facts")
        struct ConnectionFactsTests {
            @Test("A response says on which connection it arrived, in its report and in a HAR file, too")
            func facts() async throws {
                let server = try LoopbackServer { _ in .text(String(repeating: "x", count: 1_000)) }
                let transport = try CurlTransport(CurlTransport.Configuration(threads: 1))
                let recorder = HARRecorder()
                let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                    $0.transport = transport
                    $0.observers = [recorder]
                }
                let port = try #require(server.url.port)
                for isReused in [false, true] {
                    let response = try await service.response(.post("x").body(.data(Data(count: 1_000))), as: .data)
                    let facts = try #require(response.http.connection)
                    #expect(facts.remoteAddress == "127.0.0.1" && facts.remotePort == port)
                    #expect(facts.isReused == isReused && facts.tlsVersion == nil)
                    #expect(facts.sentBytes ?? 0 > 1_000 && facts.sentBytes ?? 0 < 2_000)
                    #expect(facts.receivedBytes ?? 0 > 1_000 && facts.receivedBytes ?? 0 < 2_000)
                }
                let entry = try #require(recorder.archive.log.entries.last)
                #expect(entry.serverIPAddress == "127.0.0.1" && entry.connection == "\(port)")
                #expect(await transport.connections() == .init(open: 1, idle: 1))
                let cancelled = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await transport.connections()
                }
                #expect(await cancelled.value == .init(open: 1, idle: 1), "a cancelled task gets the numbers, too")
                transport.shutDown()
                #expect(await transport.connections() == .init())
            }

            @Test("The version of TLS is known", .enabled(if: Tool.openssl.isExpected, Tool.openssl.comment))
            func tlsVersion() async throws {
                let authority = try CertificateAuthority()
                try authority.issue("server", for: "IP:127.0.0.1")
                for version in ["1.2", "1.3"] {
                    let server = try TLSServer(
                        authority, certificate: "server", "-tls\(version.replacingOccurrences(of: ".", with: "_"))")
                    let tls = TLSConfiguration(trust: .file(try authority.certificate))
                    let transport = try CurlTransport(CurlTransport.Configuration(tls: tls))
                    let response = try await transport.send(
                        HTTPRequest(.get, server.url), delivering: .buffered(limit: 1 << 20))
                    #expect(response.connection?.tlsVersion == version)
                }
            }

            @Test(
                "Entries of no_proxy with a port exempt this port only",
                arguments: [
                    ("localhost:8080", "http://localhost:8080/", true), ("localhost:8080", "http://localhost/", false),
                    ("a.example:443", "https://a.example/", true), ("a.example:443", "https://b.a.example/", true),
                    (".a.example:443", "https://a.example/", false), ("*.a.example:80", "http://b.a.example/", true),
                    ("x, a.example:80", "http://A.example/", true), ("[::1]:80", "http://[::1]/", true),
                    ("::1", "http://[::1]:1/", false), ("a.example", "http://a.example/", false),
                    ("ba.example:80", "http://a.example/", false), ("a.example:80", "http://ba.example/", false),
                ])
            func noProxy(list: String, url: String, isExempt: Bool) throws {
                let origin = try #require(URL(string: url).flatMap { HTTPOrigin($0) })
                #expect(ProxyExceptions(list).contains(origin) == isExempt)
            }
        }
    }
#endif
