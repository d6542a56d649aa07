#if os(Linux)
    import CLibcurl
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        @Suite("Configured addresses of hosts")
        struct CurlAddressesTests {
            /// The list that a request gets. It is valid as long as the addresses exist.
            private static func lines(_ addresses: CurlAddresses, for origin: HTTPOrigin?) -> Set<String> {
                withExtendedLifetime(addresses) {
                    var lines: Set<String> = []
                    var node = addresses.list(for: origin)?.assumingMemoryBound(to: clibcurl_slist.self)
                    while let current = node?.pointee {
                        lines.insert(String(cString: current.data))
                        node = current.next.map { UnsafePointer($0) }
                    }
                    return lines
                }
            }

            private static func addresses(_ proxy: CurlTransport.Proxy) -> CurlAddresses {
                CurlAddresses(
                    CurlTransport.Configuration(
                        proxy: proxy,
                        resolve: [
                            "A.test:80": ["10.0.0.1", "fd00::7"], "b.test.:443": ["10.0.0.2"],
                            "proxy.test:1080": ["10.0.0.3"], "xn--1xa.test:80": ["10.0.0.4"],
                        ]))
            }

            @Test(
                "A request has only the entry of its own host",
                arguments: [
                    ("http://a.test/", "A.test:80:10.0.0.1,[fd00::7]"),
                    ("http://A.TEST./x", "A.test:80:10.0.0.1,[fd00::7]"),
                    ("https://b.test/", "b.test.:443:10.0.0.2"), ("http://π.test/", "xn--1xa.test:80:10.0.0.4"),
                    ("http://a.test:81/", nil), ("https://a.test/", nil), ("http://c.test/", nil),
                ] as [(String, String?)])
            func own(url: String, entry: String?) throws {
                let origin = try HTTPOrigin(#require(URL(string: url)))
                #expect(Self.lines(Self.addresses(.direct), for: origin) == Set(entry.map { [$0] } ?? []))
            }

            @Test("A request through a proxy has the entry of the proxy, too")
            func proxy() throws {
                let addresses = Self.addresses(.url(try #require(URL(string: "http://Proxy.test"))))
                let proxy = "proxy.test:1080:10.0.0.3"
                let known = HTTPOrigin(try #require(URL(string: "https://b.test/")))
                let other = HTTPOrigin(try #require(URL(string: "https://c.test/")))
                for _ in 0..<2 {
                    #expect(Self.lines(addresses, for: known) == ["b.test.:443:10.0.0.2", proxy])
                    #expect(Self.lines(addresses, for: other) == [proxy])
                }
            }

            @Test("If libcurl may look up another name than that of the request, the request has all entries")
            func all() throws {
                let named = HTTPOrigin(try #require(URL(string: "http://a.test/")))
                #expect(Self.lines(Self.addresses(.environment), for: named).count == 4)
                for url in ["http://127.1/", "http://0x7f.0x1/"] {
                    let origin = try HTTPOrigin(#require(URL(string: url)))
                    #expect(Self.lines(Self.addresses(.direct), for: origin).count == 4, "\(url)")
                }
            }

            @Test("Of 1,000 configured hosts, each has its own address, and so does the proxy")
            func thousand() async throws {
                let server = try LoopbackServer { request in .text(request.headers["Host"] ?? "") }
                var resolve = [String: [String]](
                    uniqueKeysWithValues: (0..<1_000).map { ("h\($0).invalid:\(server.port)", ["127.0.0.1"]) })
                resolve["p.invalid:\(server.port)"] = ["127.0.0.1"]
                let direct = try CurlTransport(CurlTransport.Configuration(proxy: .direct, resolve: resolve))
                for number in [0, 999, 500, 0] {
                    let url = try #require(URL(string: "http://h\(number).invalid:\(server.port)/"))
                    let response = try await direct.send(HTTPRequest(.get, url), delivering: .buffered(limit: 1 << 10))
                    #expect(response.text == "h\(number).invalid:\(server.port)")
                }
                let proxy = try #require(URL(string: "http://p.invalid:\(server.port)"))
                let behind = try CurlTransport(CurlTransport.Configuration(proxy: .url(proxy), resolve: resolve))
                let url = try #require(URL(string: "http://other.invalid/"))
                let response = try await behind.send(HTTPRequest(.get, url), delivering: .buffered(limit: 1 << 10))
                #expect(response.text == "other.invalid")
            }
        }
    }
#endif
