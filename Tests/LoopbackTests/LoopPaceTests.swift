#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        /// How long one exchange keeps the engine's thread.
        @Suite("The pace of a loop")
        struct LoopPaceTests {
            private static let text = Data((0..<200_000).map { "\($0 &* 7_919) " }.joined().utf8)

            private func transport(_ nginx: Nginx? = nil) throws -> CurlTransport {
                guard let nginx else {
                    var configuration = CurlTransport.Configuration(threads: 1)
                    configuration.limits.turn = 0
                    return try CurlTransport(configuration)
                }
                return try nginx.transport { $0.limits.turn = 0 }
            }

            @Test("The time of a call begins with the first question, of an exchange or of a WebSocket")
            func begins() {
                let pace = CurlPace(1)
                for _ in 0..<2 {
                    pace.begin()
                    #expect(!pace.isOver())  // as a WebSocket asks
                    while !pace.isOver() {}
                    #expect(pace.mayTake(), "the first piece may be taken in any case")
                    #expect(!pace.mayTake())
                }
                pace.begin(oneOf: 3)
                #expect(pace.mayTake())
                while pace.mayTake() {}
            }

            /// Returns data in uncompressed blocks of deflate (RFC 1951, section 3.2.4).
            private static func deflated(_ data: Data) -> Data {
                stride(from: 0, to: data.count, by: 60_000).reduce(into: Data()) { all, start in
                    let block = data[start..<min(start + 60_000, data.count)]
                    let (low, high) = (UInt8(block.count & 0xFF), UInt8(block.count >> 8))
                    all += [start + 60_000 < data.count ? 0 : 1, low, high, ~low, ~high]
                    all += block
                }
            }

            /// Returns data in uncompressed blocks of brotli (RFC 7932, section 9.2).
            private static func brotli(_ data: Data) -> Data {
                var all = Data()
                for start in stride(from: 0, to: data.count, by: 60_000) {
                    let block = data[start..<min(start + 60_000, data.count)]
                    let head = (block.count - 1) << 3 | 1 << 19  // not the last block, 4 nibbles, uncompressed
                    let bits = start == 0 ? head << 1 : head  // the first bit of the stream is its window
                    all += [UInt8(bits & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits >> 16)]
                    all += block
                }
                return all + [3]
            }

            /// Returns data in raw blocks of zstd (RFC 8878, section 3.1.1).
            private static func zstd(_ data: Data) -> Data {
                var all = Data([0x28, 0xB5, 0x2F, 0xFD, 0, 0x50])
                for start in stride(from: 0, to: data.count, by: 60_000) {
                    let block = data[start..<min(start + 60_000, data.count)]
                    let head = block.count << 3 | (start + 60_000 < data.count ? 0 : 1)
                    all += [UInt8(head & 0xFF), UInt8(head >> 8 & 0xFF), UInt8(head >> 16)]
                    all += block
                }
                return all
            }

            private static func encoded(_ data: Data, _ coding: String) -> Data {
                switch coding {
                case "br": brotli(data)
                case "zstd": zstd(data)
                default: deflated(data)
                }
            }

            private static let paths =
                ["plain", "chunked", "plain/deflate", "chunked/deflate", "plain/deflate/deflate"]
                + ContentCoding.available.filter { $0 == .brotli || $0 == .zstd }.flatMap {
                    ["plain/\($0.rawValue)", "chunked/\($0.rawValue)/deflate"]
                }

            private func server() throws -> LoopbackServer {
                try LoopbackServer { request in
                    let codings = request.path.split(separator: "/").dropFirst().map(String.init)
                    let body = codings.reduce(Self.text) { Self.encoded($0, $1) }
                    let headers: HTTPHeaders =
                        codings.isEmpty ? [] : [.contentEncoding: codings.joined(separator: ", ")]
                    guard request.path.hasPrefix("/chunked") else {
                        return LoopbackResponse(headers: headers, content: .fixed(body))
                    }
                    return LoopbackResponse(
                        headers: headers,
                        content: .written(length: nil) { writer in
                            for start in stride(from: 0, to: body.count, by: 30_000) {
                                try writer.write(body[start..<min(start + 30_000, body.count)])
                            }
                        })
                }
            }

            @Test(
                "If the time of an iteration is over at once, every body still arrives whole", arguments: [false, true])
            func whole(isHTTP2: Bool) async throws {
                guard !isHTTP2 || Tool.nginx.isExpected, try !isHTTP2 || !Engine.hasLossyHTTP2() else { return }
                let (server, scratch) = (try server(), try Scratch())
                let nginx =
                    isHTTP2
                    ? try await Nginx(isHTTP2: true, locations: "location / { proxy_pass \(server.url); }") : nil
                let base = nginx?.url ?? server.url
                let transport = try transport(nginx)
                let service = NetworkService(environment: NetworkEnvironment(baseURL: base)) {
                    $0.transport = transport
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (index, path) in Self.paths.enumerated() {
                        group.addTask {
                            let data = try await service.request(.get(EndpointPath(verbatim: path)), as: .data)
                            #expect(data == Self.text, "\(path)")
                        }
                        group.addTask {
                            let file = scratch.file("\(index)")
                            _ = try await service.request(.get(EndpointPath(verbatim: path)), as: .file(at: file))
                            let data = try Data(contentsOf: file)
                            #expect(data == Self.text, "\(path)")
                        }
                        group.addTask {
                            var all = Data()
                            for try await chunk in try await service.request(
                                .get(EndpointPath(verbatim: path)), as: .stream)
                            { all += chunk }
                            #expect(all == Self.text, "\(path)")
                        }
                    }
                    try await group.waitForAll()
                }
            }

            @Test("Bodies that cost time without content end early, and hold up no other call")
            func expensive() async throws {
                let blocks = Self.emptyBlocks()
                let hostile = try RawServer { connection in
                    guard connection.readHead() else { return }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nConnection: close\r\n\r\n")
                    for _ in 0..<100 { connection.write(blocks) }
                }
                let healthy = try LoopbackServer { _ in .text("ok") }
                let transport = try CurlTransport(CurlTransport.Configuration(threads: 1))
                let service = NetworkService(environment: NetworkEnvironment(baseURL: healthy.url)) {
                    $0.transport = transport
                    $0.errorMapping = .unmapped
                }
                let longest = try await Exchange.atMostThreeTimes(until: { $0 < .seconds(1) }) {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<4 {
                            group.addTask {
                                let error = await #expect(throws: NetworkError.self) {
                                    try await service.request(.url(hostile.url.absoluteString), as: .data)
                                }
                                #expect(error?.kind == .undecodableContent)
                            }
                        }
                        var longest = Duration.zero
                        for _ in 0..<30 {
                            let start = ContinuousClock.now
                            #expect(try await service.request(.get("healthy"), as: .string) == "ok")
                            longest = max(longest, start.duration(to: .now))
                            try await Task.sleep(for: .milliseconds(10))
                        }
                        try await group.waitForAll()
                        return longest
                    }
                }
                #expect(longest < .seconds(1))
            }

            /// Blocks of deflate that have a code of their own and no content, about 1 MB (RFC 1951, section 3.2.7).
            private static func emptyBlocks() -> [UInt8] {
                var bits: [Bool] = []
                func put(_ value: Int, _ count: Int) { for bit in 0..<count { bits.append(value >> bit & 1 == 1) } }
                put(0, 1)  // not the last block
                put(2, 2)  // with codes of its own
                put(0, 5)  // 257 literals
                put(0, 5)  // one distance
                put(15, 4)  // 19 lengths of codes: 1 bit each for "18" and "1"
                for length in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] {
                    put(length == 18 || length == 1 ? 1 : 0, 3)
                }
                for zeros in [138, 118] { put(1 | (zeros - 11) << 1, 8) }  // "18": no code for the 256 bytes
                put(0, 2)  // "1", "1": one code of one bit for the end of the block, and for the distance
                put(0, 1)  // the end of the block
                let eight = (0..<8).flatMap { _ in bits }  // end at the end of a byte
                let bytes = stride(from: 0, to: eight.count, by: 8).map { start in
                    (0..<8).reduce(UInt8(0)) { $0 | (eight[start + $1] ? 1 << UInt8($1) : 0) }
                }
                return Array(repeatElement(bytes, count: 11_000).joined())
            }
        }
    }
#endif
