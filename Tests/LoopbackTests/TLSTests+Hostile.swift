#if os(Linux)
    import Foundation
    @testable import Networking
    import Testing

    /// Certificates that are replaced, proxies, and servers that make the handshake expensive.
    extension Loopback.TLSTests {
        @Test(
            "New connections use a file of authorities that was replaced: the new one is trusted, the old one is not"
        )
        func rotatedTrust() async throws {
            let (old, new) = (try CertificateAuthority(), try CertificateAuthority())
            for authority in [old, new] { try authority.issue("server", for: "IP:127.0.0.1") }
            let oldServer = try TLSServer(old, certificate: "server")
            let newServer = try TLSServer(new, certificate: "server")
            let file = try old.folder.file("live.pem")
            try Data(contentsOf: old.certificate).write(to: file)
            let trust = TLSConfiguration(trust: .file(file))
            let transport = try CurlTransport(CurlTransport.Configuration(threads: 1, tls: trust))
            for _ in 0..<2 { #expect(try await answer(oldServer.url, on: transport).get().status == .ok) }
            guard case .failure(let error) = try await answer(newServer.url, on: transport) else {
                Issue.record("the new authority is trusted before it is in the file")
                return
            }
            #expect(error.kind == .tlsUntrusted)
            try Data(contentsOf: new.certificate).write(to: file)
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(try await answer(newServer.url, on: transport).get().status == .ok)
            guard case .failure(let error) = try await answer(oldServer.url, on: transport) else {
                Issue.record("the old authority is still trusted")
                return
            }
            #expect(error.kind == .tlsUntrusted)
        }

        @Test(
            "A server cannot choose a key exchange over a finite field, which would take a second of the loop's time"
        )
        func noFiniteFields() async throws {
            let authority = try CertificateAuthority()
            try authority.issue("server", for: "IP:127.0.0.1")
            let trust = TLSConfiguration(trust: .file(try authority.certificate))
            for (options, isRefused) in [
                ("-tls1_2 -cipher DHE:@SECLEVEL=0", true), ("-tls1_3 -groups ffdhe2048", true), ("-tls1_2", false),
                ("-tls1_3 -groups P-256", false),
            ] {
                let server = try TLSServer(authority, certificate: "server", options)
                let error = try await failure(server.url, trust)
                // Newer versions of OpenSSL have their own list of groups.
                let isOld = try CurlLibrary.loaded.get().isOnOldOpenSSL
                guard isOld || !options.contains("ffdhe") else { continue }
                #expect(error?.kind == (isRefused ? .tlsFailed : nil), "\(options)")
            }
        }

        @Test("A response that ends with its TLS connection is complete only after TLS's closure alert (RFC 9112, 9.8)")
        func closureAlert() async throws {
            let authority = try CertificateAuthority()
            try authority.issue("server", for: "IP:127.0.0.1")
            let transport = try CurlTransport(
                CurlTransport.Configuration(tls: TLSConfiguration(trust: .file(try authority.certificate))))
            for version in ["-tls1_2", "-tls1_3"] {
                // The page of this server has no length, and an alert follows it.
                let orderly = try TLSServer(authority, certificate: "server", version)
                let page = try await transport.send(
                    HTTPRequest(.get, orderly.url), delivering: .buffered(limit: 1 << 16))
                #expect(page.status == .ok && page.headers[.contentLength] == nil && !page.text.isEmpty)
                let server = try TLSServer(authority, certificate: "server", version, isInteractive: true)
                let request = HTTPRequest(.post, server.url)
                async let response = transport.send(request, delivering: .streamed)
                try await server.output(until: "Content-Length: 0")
                try server.write("HTTP/1.1 200 OK\r\n\r\nhello")
                guard case .stream(let body) = try await response.content else {
                    Issue.record("no stream")
                    return
                }
                var text = ""
                var reader = body.makeAsyncIterator()
                while !text.contains("hello"), let chunk = try await reader.next() {
                    text += String(decoding: chunk, as: UTF8.self)
                }
                server.kill()
                let error = await #expect(throws: NetworkError.self) { while try await reader.next() != nil {} }
                #expect(error?.kind == .connectionLostAfterHead, "\(version)")
            }
        }

        @Test(
            "The certificate of an https proxy is checked against the same authorities, and the error names the proxy"
        )
        func proxyCertificate() async throws {
            guard try CurlLibrary.loaded.get().features.contains(.httpsProxies) else { return }
            let authority = try CertificateAuthority()
            try authority.issue("server", for: "IP:127.0.0.1")
            let proxy = try TLSServer(authority, certificate: "server")
            func failure(_ trust: TLSConfiguration.Trust) async throws -> NetworkError? {
                let configuration = CurlTransport.Configuration(
                    tls: TLSConfiguration(trust: trust), proxy: .url(proxy.url))
                let url = try #require(URL(string: "https://nowhere.invalid/"))
                guard case .failure(let error) = try await answer(url, on: CurlTransport(configuration)) else {
                    return nil
                }
                return error
            }
            let untrusted = try await failure(.system)
            #expect(untrusted?.kind == .tlsUntrusted)
            #expect(untrusted?.reason?.contains("the certificate of the proxy https://127.0.0.1") == true)
            // The proxy is trusted. It understands no CONNECT.
            let trusted = try await failure(.file(authority.certificate))
            #expect(trusted?.kind != .tlsUntrusted && trusted?.kind != .tlsFailed)
        }

        @Test(
            "A connection that is lost during the handshake is no failure of TLS: the request was not sent",
            arguments: [true, false])
        func lostHandshake(isReset: Bool) async throws {
            let server = try RawServer { connection in
                _ = connection.read(1)
                if isReset { connection.resetOnClose() }
            }
            let port = try #require(server.url.port)
            let url = try #require(URL(string: "https://127.0.0.1:\(port)/"))
            guard case .failure(let error) = try await answer(url, on: CurlTransport()) else {
                Issue.record("the call succeeded")
                return
            }
            #expect(error.kind == .cannotConnect, "\(error)")
        }

        @Test("A TLS 1.2 server cannot demand a second handshake, unless the client has a certificate to show")
        func renegotiation() async throws {
            guard try CurlLibrary.loaded.get().isOnOpenSSL else { return }
            let authority = try CertificateAuthority()
            for name in ["server", "client"] { try authority.issue(name, for: "IP:127.0.0.1") }
            let folder = try authority.folder
            for certificate in [nil, folder.file("client.pem")] {
                let server = try TLSServer(
                    authority, certificate: "server", "-tls1_2 -crlf -no_ticket", isInteractive: true)
                let tls = TLSConfiguration(
                    trust: .file(try authority.certificate),
                    clientCertificate: certificate.map { .init(certificate: $0, key: folder.file("client.key")) })
                let url = server.url
                async let outcome = answer(url, tls)
                try await server.output(until: "GET / ")
                // A line that begins with `r` makes openssl demand a handshake.
                for text in ["HTTP/1.1 200 OK\nContent-Length: 4\n\n", "r\n", "ok\n"] {
                    try server.write(text)
                    try await Task.sleep(for: .milliseconds(100))
                }
                let text = try? await outcome.get().text
                #expect(text == (certificate == nil ? nil : "ok\r\n"))
            }
        }

        @Test("Neither can a proxy demand a second handshake for a request that is not encrypted itself")
        func renegotiationByProxy() async throws {
            guard try CurlLibrary.loaded.get().isOnOpenSSL else { return }
            let authority = try CertificateAuthority()
            try authority.issue("server", for: "IP:127.0.0.1")
            for isDemanded in [false, true] {
                let proxy = try TLSServer(
                    authority, certificate: "server", "-tls1_2 -crlf -no_ticket", isInteractive: true)
                let transport = try CurlTransport(
                    CurlTransport.Configuration(
                        tls: TLSConfiguration(trust: .file(try authority.certificate)), proxy: .url(proxy.url)))
                let url = try #require(URL(string: "http://192.0.2.1/"))
                async let outcome = answer(url, on: transport)
                try await proxy.output(until: "GET http://192.0.2.1/ ")
                for text in ["HTTP/1.1 200 OK\nContent-Length: 4\n\n"] + (isDemanded ? ["r\n"] : []) + ["ok\n"] {
                    try proxy.write(text)
                    try await Task.sleep(for: .milliseconds(100))
                }
                let text = try? await outcome.get().text
                #expect(text == (isDemanded ? nil : "ok\r\n"))
            }
        }

        @Test("If a server requires a client certificate, the error of a WebSocket without one says so")
        func webSocketWithoutCertificate() async throws {
            let (authority, server) = try demandingServer()
            let trust = TLSConfiguration(trust: .file(try authority.certificate))
            let transport = try CurlTransport(CurlTransport.Configuration(tls: trust))
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
            }
            let error = await #expect(throws: (any Error).self) {
                try await service.webSocket(.get("chat"), reconnecting: .never).connect()
            }
            let kinds: [NetworkError.Kind] = [.connectionLostBeforeHead, .tlsFailed]
            #expect(Loopback.HostileWebSocketTests.kind(of: error).map(kinds.contains) == true)
            #expect("\(error as Any)".contains("certificate"), "\(error as Any)")
        }
    }
#endif
