#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    /// Faults of libcurl that concern proxies.
    extension Loopback.CurlFaultTests {
        /// Refuses CONNECT with a body that never ends, while another host is called through the proxy.
        func endlessRefusal() async throws {
            guard try CurlLibrary.loaded.get().number >= CurlVersion(7, 80) else { return }
            let isOver = Box(false)
            defer { isOver.change { $0 = true } }
            // Some versions of libcurl also read status lines that are not valid. The kind of their error differs.
            let cases: [(String, NetworkError.Kind?)] = [
                ("HTTP/1.1 407 No", .invalidRequest), ("HTTP/1.1 503 No", .cannotConnect), ("HTTP/1.1  407 No", nil),
                ("HTTP/1.1\t407 No", nil), ("HTTP/1.1 407 No\r\nHTTP/x: 200", nil),
            ]
            for (line, kind) in cases {
                let isFlooding = Box(false)
                let proxy = try RawServer { connection in
                    guard connection.readRequest()?.hasPrefix("CONNECT") == true else {
                        return connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    }
                    connection.write("\(line)\r\nContent-Length: 9999999999\r\n\r\n")
                    let block = String(repeating: "x", count: 65_536)
                    while !isOver.value, connection.writes(block) { isFlooding.change { $0 = true } }
                }
                let transport = try transport(
                    with: .endlessRefusals, CurlTransport.Configuration(threads: 1, proxy: .url(proxy.url)))
                let url = try #require(URL(string: "https://example.test/"))
                let other = try #require(URL(string: "http://example.test/"))
                async let outcome = self.kind(HTTPRequest(.post, url), transport)
                try #require(await Exchange.eventually { isFlooding.value })
                let start = ContinuousClock.now
                #expect(try await send(HTTPRequest(.get, other), transport).text == "ok")
                let found = await outcome
                #expect(found != nil && found == kind ?? found, "\(line.debugDescription)")
                #expect(start.duration(to: .now) < .seconds(4))
                transport.shutDown()
            }
        }
    }
#endif
