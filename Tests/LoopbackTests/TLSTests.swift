#if os(Linux)
    import Foundation
    @testable import Networking
    import NetworkingTesting
    import Testing

    extension Loopback {
        @Suite("TLS", .enabled(if: Tool.openssl.isExpected, Tool.openssl.comment))
        struct TLSTests {
            func answer(
                _ url: URL, _ tls: TLSConfiguration = TLSConfiguration()
            ) async throws -> Result<HTTPResponse, NetworkError> {
                try await answer(url, on: CurlTransport(CurlTransport.Configuration(tls: tls)))
            }

            func answer(_ url: URL, on transport: any Transport) async throws -> Result<
                HTTPResponse, NetworkError
            > {
                do {
                    let request = HTTPRequest(.get, url, timeouts: HTTPRequest.Timeouts(idle: .seconds(15)))
                    return .success(try await transport.send(request, delivering: .buffered(limit: 1 << 20)))
                } catch {
                    return .failure(try #require(error as? NetworkError))
                }
            }

            func failure(_ url: URL, _ tls: TLSConfiguration = TLSConfiguration()) async throws -> NetworkError? {
                if case .failure(let error) = try await answer(url, tls) { error } else { nil }
            }

            @Test("A certificate authority in a file or in memory is trusted, and the handshake time is reported")
            func trusted() async throws {
                let authority = try CertificateAuthority()
                try authority.issue("server", for: "IP:127.0.0.1")
                let server = try TLSServer(authority, certificate: "server")
                let pem = try Data(contentsOf: authority.certificate)
                for trust in [TLSConfiguration.Trust.file(try authority.certificate), .pem(pem)] {
                    if case .pem = trust, try Engine.curlVersion() < CurlVersion(7, 77) {
                        // libcurl before 7.77 accepts authorities from files only. The initializer of the transport
                        // throws an error that names the setting.
                        let error = #expect(throws: NetworkError.self) {
                            try CurlTransport(CurlTransport.Configuration(tls: TLSConfiguration(trust: trust)))
                        }
                        #expect(error?.description.contains("tls.trust") == true)
                        continue
                    }
                    let response = try await answer(server.url, TLSConfiguration(trust: trust)).get()
                    #expect(response.status == .ok)
                    let tls = try #require(response.timing.tls)
                    #expect(tls > .zero && tls <= (response.timing.total ?? .zero))
                }
            }

            @Test("A TLS session is resumed on the next connection")
            func resumed() async throws {
                let authority = try CertificateAuthority()
                try authority.issue("server", for: "IP:127.0.0.1")
                let server = try TLSServer(authority, certificate: "server")
                let trust = TLSConfiguration(trust: .file(try authority.certificate))
                let transport = try CurlTransport(CurlTransport.Configuration(tls: trust))
                // The page says whether the TLS session is new. The server closes the connection after each page.
                let pages = [
                    try await answer(server.url, on: transport).get(),
                    try await answer(server.url, on: transport).get(),
                ]
                #expect(pages[0].text.contains("\nNew, TLS"))
                #expect(pages[1].text.contains("\nReused, TLS"))
            }

            @Test("Each engine rejects an unknown certificate authority", .row("L9"), arguments: Engine.allCases)
            func untrusted(engine: Engine) async throws {
                let authority = try CertificateAuthority()
                try authority.issue("server", for: "IP:127.0.0.1")
                let server = try TLSServer(authority, certificate: "server")
                guard case .failure(let error) = try await answer(server.url, on: engine.shared()) else {
                    return #expect(Bool(false), "the certificate was trusted")
                }
                #expect(error.kind == .tlsUntrusted)
            }

            @Test("A certificate for another host and an expired certificate are not trusted")
            func wrongCertificate() async throws {
                let authority = try CertificateAuthority()
                let trust = TLSConfiguration(trust: .file(try authority.certificate))
                try authority.issue("other", for: "DNS:other.example")
                let other = try TLSServer(authority, certificate: "other")
                #expect(try await failure(other.url, trust)?.kind == .tlsUntrusted)
                try authority.issue("old", for: "IP:127.0.0.1", days: -1)
                let old = try TLSServer(authority, certificate: "old")
                let error = try await failure(old.url, trust)
                #expect(error?.kind == .tlsUntrusted)
                #expect(error?.description.contains("expired") == true)
            }

            @Test("Only a pinned key is accepted", .row("N-42"))
            func pins() async throws {
                let authority = try CertificateAuthority()
                try authority.issue("server", for: "IP:127.0.0.1")
                try authority.issue("spare", for: "IP:127.0.0.1")
                let server = try TLSServer(authority, certificate: "server")
                let trust = TLSConfiguration.Trust.file(try authority.certificate)
                let right = TLSConfiguration(
                    trust: trust, pins: [try authority.pin("spare"), try authority.pin("server")])
                #expect(try await answer(server.url, right).get().status == .ok)
                let wrong = try await failure(
                    server.url, TLSConfiguration(trust: trust, pins: [try authority.pin("spare")]))
                #expect(wrong?.kind == .tlsUntrusted)
                #expect(wrong?.description.contains("pin") == true)
            }

            @Test("A pin does not make an unknown authority trusted")
            func pinIsNoTrust() async throws {
                let authority = try CertificateAuthority()
                try authority.issue("server", for: "IP:127.0.0.1")
                let server = try TLSServer(authority, certificate: "server")
                let pinned = TLSConfiguration(pins: [try authority.pin("server")])
                #expect(try await failure(server.url, pinned)?.kind == .tlsUntrusted)
            }

            /// Returns a server that requires a client certificate, and the authority that has issued the certificates
            /// `server` and `client`.
            func demandingServer() throws -> (authority: CertificateAuthority, server: TLSServer) {
                let authority = try CertificateAuthority()
                try authority.issue("server", for: "IP:127.0.0.1")
                try authority.issue("client", for: "DNS:client.example")
                let server = try TLSServer(
                    authority, certificate: "server", "-Verify 1 -CAfile ca.pem -verify_return_error")
                return (authority, server)
            }

            @Test("A client certificate is sent if the server requests it; without a certificate, the handshake fails")
            func clientCertificate() async throws {
                let (authority, server) = try demandingServer()
                let trust = TLSConfiguration.Trust.file(try authority.certificate)
                let folder = try authority.folder
                let certificate = TLSConfiguration.ClientCertificate(
                    certificate: folder.file("client.pem"), key: folder.file("client.key"))
                let shown = TLSConfiguration(trust: trust, clientCertificate: certificate)
                #expect(try await answer(server.url, shown).get().status == .ok)
                #expect(try await failure(server.url, TLSConfiguration(trust: trust))?.kind == .tlsFailed)
            }

            @Test("A client certificate in PKCS #12 is sent only if the passphrase is correct")
            func pkcs12() async throws {
                let (authority, server) = try demandingServer()
                let trust = TLSConfiguration.Trust.file(try authority.certificate)
                let data = try authority.pkcs12("client", passphrase: "secret")
                func tls(_ passphrase: String) -> TLSConfiguration {
                    TLSConfiguration(trust: trust, clientCertificate: .init(pkcs12: data, passphrase: passphrase))
                }
                #expect(try await answer(server.url, tls("secret")).get().status == .ok)
                let error = try await failure(server.url, tls("wrong"))
                #expect(error?.kind == .invalidRequest)
                #expect(error?.description.contains("tls.clientCertificate") == true)
            }

            @Test("An encrypted key without a passphrase fails the call; OpenSSL does not prompt on the terminal")
            func missingPassphrase() async throws {
                let (authority, server) = try demandingServer()
                let key = try authority.encryptedKey("client", passphrase: "secret")
                let certificate = TLSConfiguration.ClientCertificate(
                    certificate: try authority.folder.file("client.pem"), key: key)
                let tls = TLSConfiguration(trust: .file(try authority.certificate), clientCertificate: certificate)
                let error = try await failure(server.url, tls)
                #expect(error?.kind == .invalidRequest)
                #expect(error?.description.contains("tls.clientCertificate") == true)
            }

            @Test("Unreadable certificates cause an error that names the setting, before any byte is sent")
            func brokenAuthority() async throws {
                let authority = try CertificateAuthority()
                try authority.issue("server", for: "IP:127.0.0.1")
                let server = try TLSServer(authority, certificate: "server")
                let broken = try authority.folder.file("broken.pem")
                try Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8).write(to: broken)
                let error = try await failure(server.url, TLSConfiguration(trust: .file(broken)))
                #expect(error?.kind == .invalidRequest)
                #expect(error?.description.contains("tls.trust") == true)
                let key = try authority.folder.file("server.key")
                #expect(throws: NetworkError.self) {
                    try CurlTransport(CurlTransport.Configuration(tls: TLSConfiguration(trust: .file(key))))
                }
            }

            @Test("If HTTP/2 is required and the server supports only HTTP/1.1, the error mentions HTTP/2")
            func noHTTP2() async throws {
                let server = try LoopbackServer()
                let transport = try CurlTransport(CurlTransport.Configuration(threads: 1, httpVersions: .http2))
                let error = await Exchange(server, transport).failure(
                    HTTPRequest(.get, server.url, timeouts: HTTPRequest.Timeouts(idle: .seconds(15))))
                #expect(error?.description.contains("HTTP/2") == true, "\(String(describing: error))")
            }

            @Test("TLS to a server without TLS causes a tlsFailed error on each engine", arguments: Engine.allCases)
            func noTLS(engine: Engine) async throws {
                let plain = try RawServer.withoutTLS()
                var components = URLComponents(url: plain.url, resolvingAgainstBaseURL: false)
                components?.scheme = "https"
                let url = try #require(components?.url)
                let request = HTTPRequest(.get, url, timeouts: HTTPRequest.Timeouts(idle: .seconds(15)))
                let kind = await Exchange(try LoopbackServer(), try engine.shared()).failure(request)?.kind
                #expect(kind == .tlsFailed, "\(String(describing: kind))")
            }

            @Test(
                "A server that is silent during the handshake causes an idle timeout on each engine",
                arguments: Engine.allCases)
            func silent(engine: Engine) async throws {
                // The kernel accepts the connection, but no code reads from it.
                let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                defer { close(listener) }
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(listener, $0, length) == 0 && listen(listener, 8) == 0
                            && getsockname(listener, $0, &length) == 0
                    }
                }
                try #require(isListening)
                let url = try #require(URL(string: "https://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"))
                let request = HTTPRequest(.get, url, timeouts: HTTPRequest.Timeouts(idle: .milliseconds(500)))
                let kind = await Exchange(try LoopbackServer(), try engine.shared()).failure(request)?.kind
                #expect(kind == .idleTimedOut)
            }

            @Test("An unreadable authority file causes an error that names the setting when the transport is created")
            func missingFile() throws {
                let error = #expect(throws: NetworkError.self) {
                    _ = try CurlTransport(
                        CurlTransport.Configuration(
                            tls: TLSConfiguration(trust: .file(URL(fileURLWithPath: "/no/such/ca.pem")))))
                }
                #expect(error?.kind == .invalidRequest)
                #expect(error?.description.contains("tls.trust") == true)
            }

            @Test("A pin is a 32-byte digest")
            func badPin() {
                #expect(TLSConfiguration.Pin("sha256//short") == nil)
                #expect(TLSConfiguration.Pin("sha256//" + Data(count: 32).base64EncodedString()) != nil)
            }
        }
    }
#endif
