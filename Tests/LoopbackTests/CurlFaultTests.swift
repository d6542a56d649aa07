#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        /// Tests, with the installed libcurl, that the engine avoids each ``CurlFault``.
        @Suite("Faults of libcurl")
        struct CurlFaultTests {
            @Test(
                "The engine avoids each fault of libcurl that it can avoid on the installed version",
                arguments: CurlFault.allCases)
            func avoided(fault: CurlFault) async throws {
                switch fault {
                case .reusedHandles: try await foldedFirstLine()
                case .incompleteComparison: try await ownConnections()
                case .longHostNames: try longHostName()
                case .unsolicitedResponses, .uncheckedConnections: try await unsolicitedResponse()
                case .contentDecoding: try await truncatedCoding()
                case .lenientLengths: try await lenientLength()
                case .headLimits: try await headLimits()
                case .waitsWithoutTimeout: try await waitEnds()
                case .lostResumes: try await resumes()
                case .forgottenAddresses: try await secondAddress()
                case .forgottenWaits:
                    guard Tool.nginx.isExpected else { return }
                    try await Loopback.RepeatedRequestTests().exactlyOnce(method: .get, isHTTP2: true)
                case .earlyResponses: try await uploadVersion()
                case .joinedLookups: try await abandonedLookups()
                case .unboundedStreams: try await streamVersion()
                case .heldLoops: try await endlessFrames()
                case .endlessRefusals: try await endlessRefusal()
                case .missingClosures: try await Loopback.TLSTests().closureAlert()
                case .oldTrust: try await Loopback.TLSTests().rotatedTrust()
                case .repeatsAfterResponses: try await repeatsAfter417()
                case .repeatsRequests: try await notRepeated(with: .repeatsRequests)
                case .lossyHTTP2: try await noHTTP2()
                case .logsRefusedStreams: try readsLog()
                case .stallingHeads: try await largeHead()
                case .unsafeUploads: try await versionUsed(.put, .string("text"), with: .unsafeUploads, is: "1.1")
                case .loopingUploads: try await versionUsed(.put, Self.unknownLength, with: .loopingUploads, is: "1.1")
                case .sharedPlainHTTP2: try await plainHTTP2()
                case .waitsForHeads:
                    try await noWaits()
                    try await noQueue()
                case .unreportedClosures: try await unreportedClosure()
                }
            }

            private static let unknownLength = HTTPBody.source(length: nil, isReplayable: true) {
                try HTTPBody.string("text").open()
            }

            func send(_ request: HTTPRequest, _ transport: any Transport) async throws -> HTTPResponse {
                try await transport.send(request, delivering: .buffered(limit: 1 << 20))
            }

            func kind(_ request: HTTPRequest, _ transport: any Transport) async -> NetworkError.Kind? {
                do {
                    _ = try await send(request, transport)
                    return nil
                } catch { return (error as? NetworkError)?.kind }
            }

            private func server(_ response: String) throws -> RawServer {
                try RawServer { connection in while connection.readHead() { connection.write(response) } }
            }

            private func foldedFirstLine() async throws {
                let good = try server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                let folded = try server("HTTP/1.1 200 OK\r\n X: y\r\nContent-Length: 2\r\n\r\nok")
                let transport = try CurlTransport(CurlTransport.Configuration(threads: 1))
                for _ in 0..<40 {
                    #expect(try await send(HTTPRequest(.get, good.url), transport).text == "ok")
                    #expect(await kind(HTTPRequest(.get, folded.url), transport) != nil)
                }
            }

            private func ownConnections() async throws {
                let server = try LoopbackServer { _ in .text("ok") }
                for _ in 0..<2 { _ = try await send(HTTPRequest(.get, server.url), CurlTransport()) }
                #expect(server.acceptedConnections == 2)
            }

            private func longHostName() throws {
                let name = Array(repeating: "a", count: 150).joined(separator: ".")
                let request = HTTPRequest(.get, try #require(URL(string: "http://\(name)/")))
                #expect(throws: NetworkError.self) { try request.validate() }
            }

            private func unsolicitedResponse() async throws {
                let unsolicited = Box(0)
                let server = try RawServer { connection in
                    guard connection.readHead() else { return }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    usleep(30_000)
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL")
                    unsolicited.change { $0 += 1 }
                    guard connection.readHead() else { return }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
                let transport = try CurlTransport(CurlTransport.Configuration(threads: 1))
                for number in 1...3 {
                    #expect(try await send(HTTPRequest(.post, server.url, body: .string("x")), transport).text == "ok")
                    #expect(try await Exchange.eventually { unsolicited.value == number })
                    try await Task.sleep(for: .milliseconds(20))
                }
            }

            private func truncatedCoding() async throws {
                let whole = Gzip.hello
                let server = try LoopbackServer { request in
                    let body =
                        request.path == "/whole"
                        ? whole : request.path == "/junk" ? whole + Data("junk".utf8) : whole.dropLast(6)
                    return LoopbackResponse(headers: ["Content-Encoding": "gzip"], content: .fixed(Data(body)))
                }
                let transport = try CurlTransport()
                for path in ["whole", "junk"] {
                    let response = try await send(HTTPRequest(.get, server.url.appendingPathComponent(path)), transport)
                    #expect(response.text == "hello hello hello")
                }
                #expect(await kind(HTTPRequest(.get, server.url), transport) == .undecodableContent)
            }

            private func lenientLength() async throws {
                for length in ["0x5", "5abc", "5\r\nContent-Length: 3", "99999999999999999999"] {
                    let server = try server("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello")
                    #expect(
                        await kind(HTTPRequest(.get, server.url), try CurlTransport()) == .malformedResponse,
                        "\(length)")
                }
            }

            private func headLimits() async throws {
                let line = "X: " + String(repeating: "x", count: 200_000) + "\r\n"
                let early = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 10_000)
                let many = (0..<4_500).map { "X-\($0): v\r\n" }.joined()
                for head in ["HTTP/1.1 200 OK\r\n\(line)\(line)\r\n", early, "HTTP/1.1 200 OK\r\n\(many)\r\n"] {
                    let server = try server(head)
                    #expect(await kind(HTTPRequest(.get, server.url), try CurlTransport()) == .responseTooLarge)
                }
            }

            private func waitEnds() async throws {
                let server = try LoopbackServer { _ in .text("never").failing(.stallBeforeHead) }
                var configuration = CurlTransport.Configuration()
                configuration.limits.connectionsPerHost = 1
                let transport = try CurlTransport(configuration)
                let first = Task { try await send(HTTPRequest(.get, server.url), transport) }
                #expect(try await Exchange.eventually { server.requestCount == 1 })
                let timeouts = HTTPRequest.Timeouts(idle: .seconds(30), connect: .milliseconds(200))
                #expect(await kind(HTTPRequest(.get, server.url, timeouts: timeouts), transport) == .connectTimedOut)
                first.cancel()
            }

            private func repeatsAfter417() async throws {
                let heads = Box(0)
                let server = try RawServer { connection in
                    while connection.readHead() {
                        heads.change { $0 += 1 }
                        connection.write("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
                    }
                }
                let transport = try CurlTransport(CurlTransport.Configuration(threads: 1))
                let request = HTTPRequest(
                    .post, server.url, headers: ["Expect": "100-continue"], body: .string("text"),
                    timeouts: .init(idle: .seconds(15)))
                let response = try await transport.send(request, delivering: .buffered(limit: 1 << 10))
                #expect(response.status.code == 417)
                #expect(try heads.value == (Engine.curlVersion() < CurlVersion(7, 80) ? 2 : 1))
            }

            private func resumes() async throws {
                let body = Data(repeating: 7, count: 4 << 20)
                let server = try LoopbackServer { _ in LoopbackResponse(content: .fixed(body)) }
                var configuration = CurlTransport.Configuration(threads: 1)
                configuration.limits.bufferedBytes = 16 << 10
                let transport = try CurlTransport(configuration)
                let response = try await transport.send(HTTPRequest(.get, server.url), delivering: .streamed)
                guard case .stream(let stream) = response.content else {
                    Issue.record("the response has no stream")
                    return
                }
                var count = 0
                for try await part in stream { count += part.count }
                #expect(count == body.count)
            }

            /// A host whose first address drops every packet, and whose second address responds.
            private func secondAddress() async throws {
                let server = try RawServer { connection in
                    guard connection.readHead() else { return }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
                let port = try #require(server.url.port)
                let silent = try SilentAddress(port: UInt16(port))
                var configuration = CurlTransport.Configuration(threads: 1)
                configuration.resolve = ["h.test:\(port)": [silent.address, "127.0.0.1"]]
                let url = try #require(URL(string: "http://h.test:\(port)/"))
                let request = HTTPRequest(.get, url, timeouts: .init(idle: .seconds(15), connect: .seconds(3)))
                let response = try await send(request, CurlTransport(configuration))
                #expect(String(decoding: response.data, as: UTF8.self) == "ok")
            }

            /// Returns a transport that behaves as if the installed libcurl had this fault.
            func transport(with fault: CurlFault, _ configuration: CurlTransport.Configuration) throws
                -> CurlTransport
            {
                var library = try CurlLibrary.loaded.get()
                library.faults.insert(fault)
                return try CurlTransport(configuration, library: library)
            }

            private func notRepeated(with fault: CurlFault) async throws {
                let server = try LoopbackServer { _ in .text("ok") }
                let transport = try transport(with: fault, CurlTransport.Configuration(threads: 1))
                for _ in 0..<3 { _ = try await send(HTTPRequest(.post, server.url, body: .string("x")), transport) }
                #expect(server.acceptedConnections == 3)
                let error = #expect(throws: NetworkError.self) {
                    try self.transport(with: fault, CurlTransport.Configuration(httpVersions: .http2))
                }
                #expect(error?.description.contains("httpVersions") == true)
            }

            private func readsLog() throws {
                var log = CurlStreamLog()
                func read(_ line: String, _ port: Int32) -> CurlStreamLog.Stream? {
                    let connection = CurlStreamLog.Connection(
                        localPort: port, remotePort: 443, remoteAddress: "127.0.0.1")
                    return Array(line.utf8).withUnsafeBytes { log.read($0, on: connection) }
                }
                let old = try #require(read("Using Stream ID: 39 (easy handle 0x5581)\n", 4_000))
                let new = try #require(read("Using Stream ID: 41 (easy handle 0x5582)\n", 4_000))
                let other = try #require(read("Using Stream ID: 41 (easy handle 0x5583)\n", 4_001))
                #expect(read("recveived GOAWAY, error=0, last_stream=39\n", 4_000) == nil)
                #expect(!log.isRefused(old))
                #expect(log.isRefused(new) && !log.isEndedByError(new))
                #expect(!log.isRefused(other))
                #expect(read("recveived GOAWAY, error=11, last_stream=0\n", 4_001) == nil)
                #expect(log.isRefused(other) && log.isEndedByError(other), "ENHANCE_YOUR_CALM")
                #expect(read("Using Stream ID: 1 (easy handle 0x5584)\n", 4_000) != nil)
                #expect(!log.isRefused(new))
            }
        }
    }
#endif
