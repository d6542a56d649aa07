#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    /// Faults of libcurl that concern the lookup of names.
    extension Loopback.CurlFaultTests {
        /// Ends requests at once, some of them during the lookup of their host's name.
        func abandonedLookups() async throws {
            let server = try LoopbackServer { _ in .text("ok") }
            let port = try #require(server.url.port)
            let url = try #require(URL(string: "http://localhost:\(port)/"))
            let transport = try transport(with: .joinedLookups, CurlTransport.Configuration(threads: 1))
            for round in 0..<100 {
                let request = HTTPRequest(.get, url, timeouts: .init(idle: .seconds(15)))
                let call = Task { try await send(request, transport) }
                if round % 2 == 0 { try await Task.sleep(for: .microseconds(round * 10)) }
                call.cancel()
                _ = await call.result
                #expect(try await send(HTTPRequest(.get, server.url), transport).text == "ok")
            }
            // No server is asked for a label of more than 63 bytes.
            let missing = try #require(URL(string: "http://\(String(repeating: "a", count: 70)).invalid/"))
            #expect(await kind(HTTPRequest(.get, missing), transport) == .cannotResolveHost)
            #expect(try await send(HTTPRequest(.get, url), transport).text == "ok")
            transport.shutDown()
        }

        @Test("If the process has no file descriptor left, the host is not blamed")
        func descriptors() throws {
            _ = try CurlLibrary.loaded.get()  // the texts of the codes are those of libcurl
            func error(_ systemError: Int32) -> NetworkError {
                CurlFailure(
                    code: 7, words: "", between: nil, isProxySecure: false, hasHead: false, requiresHTTP2: false,
                    systemError: systemError, proxyStatus: 0, proxyError: 0
                ).networkError
            }
            #expect(error(EMFILE).kind == .unknown && error(EMFILE).reason?.contains("no file descriptor") == true)
            #expect(error(ECONNREFUSED).kind == .cannotConnect && error(ENETUNREACH).kind == .notConnected)
        }

        func unreportedClosure() async throws {
            let silent = try SilentAddress(port: 0)
            let transport = try CurlTransport(CurlTransport.Configuration(threads: 1))
            let url = try #require(URL(string: "http://\(silent.address):\(silent.port)/"))
            let request = HTTPRequest(.get, url, timeouts: .init(idle: .seconds(9), connect: .milliseconds(200)))
            for _ in 0..<3 { #expect(await kind(request, transport) == .connectTimedOut) }
            #expect(await transport.connections() == .init())
        }
    }
#endif
