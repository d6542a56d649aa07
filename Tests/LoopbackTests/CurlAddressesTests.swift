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
            private static func lines(
                _ addresses: CurlAddresses, for origin: HTTPOrigin?, isDirect: Bool = false
            ) -> Set<String> {
                withExtendedLifetime(addresses) {
                    var lines: Set<String> = []
                    var node = addresses.list(for: origin, isDirect: isDirect)?.assumingMemoryBound(
                        to: clibcurl_slist.self)
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
                            "10.1.1.1:80": ["10.0.0.5"], "c.test:0443": ["10.0.0.6"], "c.test.:443": ["10.0.0.7"],
                        ]))
            }

            @Test(
                "A request has only the entries of its own host",
                arguments: [
                    ("http://a.test/", ["A.test:80:10.0.0.1,[fd00::7]"]),
                    ("http://A.TEST./x", ["A.test:80:10.0.0.1,[fd00::7]"]),
                    ("https://b.test/", ["b.test.:443:10.0.0.2"]), ("http://π.test/", ["xn--1xa.test:80:10.0.0.4"]),
                    ("https://c.test/", ["c.test:0443:10.0.0.6", "c.test.:443:10.0.0.7"]),
                    ("http://10.1.1.1/", ["10.1.1.1:80:10.0.0.5"]), ("http://a.test:81/", []),
                    ("https://a.test/", []), ("http://d.test/", []), ("http://127.0.0.1/", []),
                    ("http://[2001:db8::1]/", []), ("http://[fd00::7]/", []),
                ] as [(String, Set<String>)])
            func own(url: String, entries: Set<String>) throws {
                let origin = try HTTPOrigin(#require(URL(string: url)))
                #expect(Self.lines(Self.addresses(.direct), for: origin) == entries)
            }

            @Test("A request through a proxy has the entry of the proxy, too")
            func proxy() throws {
                let addresses = Self.addresses(.url(try #require(URL(string: "http://Proxy.test"))))
                let proxy = "proxy.test:1080:10.0.0.3"
                let known = HTTPOrigin(try #require(URL(string: "https://b.test/")))
                let other = HTTPOrigin(try #require(URL(string: "https://d.test/")))
                for _ in 0..<2 {
                    #expect(Self.lines(addresses, for: known) == ["b.test.:443:10.0.0.2", proxy])
                    #expect(Self.lines(addresses, for: other) == [proxy])
                }
                for uncertain in ["http://127.1:8080", "http://0x7f.0x1"] {
                    let addresses = Self.addresses(.url(try #require(URL(string: uncertain))))
                    #expect(Self.lines(addresses, for: known).count == 7, "\(uncertain)")
                }
            }

            @Test("If libcurl may look up another name than that of the request, the request has all entries")
            func all() throws {
                let named = HTTPOrigin(try #require(URL(string: "http://a.test/")))
                #expect(Self.lines(Self.addresses(.environment), for: named).count == 7)
                #expect(Self.lines(Self.addresses(.environment), for: named, isDirect: true).count == 1)
                for url in ["http://127.1/", "http://0x7f.0x1/"] {
                    let origin = try HTTPOrigin(#require(URL(string: url)))
                    #expect(Self.lines(Self.addresses(.direct), for: origin).count == 7, "\(url)")
                }
            }

            @Test("A WebSocket has the entry of its host")
            func webSocket() async throws {
                let server = try LoopbackServer { _ in
                    .webSocket { socket in while let message = try socket.receive() { try socket.send(message) } }
                }
                let transport = try CurlTransport(
                    CurlTransport.Configuration(
                        proxy: .direct, resolve: ["socket.invalid:\(server.port)": ["127.0.0.1"]]))
                let url = try #require(URL(string: "http://socket.invalid:\(server.port)"))
                let service = NetworkService(environment: NetworkEnvironment(baseURL: url)) { $0.transport = transport }
                let socket = service.webSocket(.get("chat"), reconnecting: .never)
                var reader = socket.makeAsyncIterator()
                try await socket.send(Data("a".utf8))
                #expect(try await reader.next() == .binary(Data("a".utf8)))
                await socket.close()
                #expect(try await reader.next() == nil)
            }

            @Test("Of 1,000 configured hosts, each is found, and so is the proxy")
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
