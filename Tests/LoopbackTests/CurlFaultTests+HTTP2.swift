#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    /// Faults of libcurl that concern HTTP/2.
    extension Loopback.CurlFaultTests {
        func versionUsed(
            _ method: HTTPMethod, _ body: HTTPBody, with fault: CurlFault, is version: String
        ) async throws {
            guard Tool.nginx.isExpected else { return }
            let nginx = try await Nginx(isHTTP2: true, locations: "location / { return 200 $server_protocol; }")
            var configuration = CurlTransport.Configuration(
                threads: 1, tls: TLSConfiguration(trust: .file(try nginx.authority.certificate)))
            for httpVersions in [CurlTransport.Configuration.HTTPVersions.preferHTTP2, .http2] {
                configuration.httpVersions = httpVersions
                let transport = try transport(with: fault, configuration)
                let get = try await send(HTTPRequest(.get, nginx.url), transport)
                #expect(try get.httpVersion == (Engine.hasLossyHTTP2() && httpVersions != .http2 ? "1.1" : "2"))
                // nginx responds before it has received the body. Over HTTP/2, libcurl before 7.87 treats this as
                // an error.
                guard try httpVersions != .http2 || !Engine.hasLossyHTTP2() else { continue }
                let response = try await send(HTTPRequest(method, nginx.url, body: body), transport)
                #expect(response.httpVersion == (httpVersions == .http2 ? "2" : version))
            }
        }

        func uploadVersion() async throws {
            guard Tool.nginx.isExpected else { return }
            let nginx = try await Nginx(isHTTP2: true, locations: "location / { return 200 ok; }")
            let configuration = CurlTransport.Configuration(
                threads: 1, tls: TLSConfiguration(trust: .file(try nginx.authority.certificate)))
            let transport = try transport(with: .earlyResponses, configuration)
            // nginx responds before it has read the body.
            let request = HTTPRequest(
                .put, nginx.url, body: .data(Data(count: 300_000)), timeouts: .init(idle: .seconds(15)))
            #expect(try await send(request, transport).httpVersion == "1.1")
        }

        func streamVersion() async throws {
            guard Tool.nginx.isExpected else { return }
            let nginx = try await Nginx(isHTTP2: true, locations: "location / { return 200 ok; }")
            let configuration = CurlTransport.Configuration(
                threads: 1, tls: TLSConfiguration(trust: .file(try nginx.authority.certificate)))
            let transport = try transport(with: .unboundedStreams, configuration)
            let response = try await transport.send(HTTPRequest(.get, nginx.url), delivering: .streamed)
            #expect(response.httpVersion == "1.1")
        }

        func noHTTP2() async throws {
            guard Tool.nginx.isExpected else { return }
            let nginx = try await Nginx(isHTTP2: true, locations: "location / { return 200 ok; }")
            let trust = TLSConfiguration(trust: .file(try nginx.authority.certificate))
            for versions in [CurlTransport.Configuration.HTTPVersions.preferHTTP2, .http2] {
                let configuration = CurlTransport.Configuration(threads: 1, tls: trust, httpVersions: versions)
                let transport = try transport(with: .lossyHTTP2, configuration)
                let response = try await send(HTTPRequest(.get, nginx.url), transport)
                #expect(response.httpVersion == (versions == .http2 ? "2" : "1.1"))
            }
        }

        func largeHead() async throws {
            guard Tool.nginx.isExpected else { return }
            let fields = (0..<300).map { "add_header X-\($0) \(String(repeating: "v", count: 100));" }.joined(
                separator: " ")
            let nginx = try await Nginx(isHTTP2: true, locations: "location / { \(fields) return 200 ok; }")
            let request = HTTPRequest(.get, nginx.url, timeouts: .init(idle: .seconds(15)))
            #expect(try await send(request, nginx.transport()).headers.count > 300)
        }

        func plainHTTP2() async throws {
            guard Tool.nginx.isExpected else { return }
            let nginx = try await Nginx(
                isHTTP2: true, isPlain: true, locations: "location / { return 200 $server_protocol; }")
            let transport = try CurlTransport(CurlTransport.Configuration(threads: 1, httpVersions: .http2))
            let request = HTTPRequest(.get, nginx.url)
            let versions = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await transport.send(request, delivering: .buffered(limit: 1 << 10)).httpVersion
                    }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(versions == ["2"])
        }

        /// Servers that send frames without content and without an end do not keep the loop from other requests.
        func endlessFrames() async throws {
            guard Tool.python.isExpected, Tool.openssl.isExpected else { return }
            let authority = try CertificateAuthority()
            try authority.issue("server", for: "IP:127.0.0.1")
            let good = try LoopbackServer { _ in .text("ok") }
            let tls = TLSConfiguration(trust: .file(try authority.certificate))
            let transport = try CurlTransport(CurlTransport.Configuration(threads: 1, tls: tls))
            _ = try await send(HTTPRequest(.get, good.url), transport)
            for kind in FloodServer.Kind.allCases {
                let flood = try FloodServer(authority, certificate: "server", kind)
                let url = flood.url
                let call = Task {
                    try await send(HTTPRequest(.get, url, timeouts: .init(idle: .seconds(15))), transport)
                }
                var longest = Duration.zero
                for _ in 0..<15 {
                    try await Task.sleep(for: .milliseconds(50))
                    let start = ContinuousClock.now
                    _ = try await send(HTTPRequest(.get, good.url), transport)
                    longest = max(longest, start.duration(to: .now))
                }
                #expect(longest < .seconds(2), "\(longest) with a flood of \(kind)")
                call.cancel()
                _ = await call.result
                withExtendedLifetime(flood) {}
            }
        }
    }
#endif
