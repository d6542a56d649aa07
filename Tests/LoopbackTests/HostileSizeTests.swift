import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    /// What a server can make a client read.
    @Suite("Hostile sizes")
    struct HostileSizeTests {
        // Foundation on Linux reads the body of a redirect before it reports the head.
        @Test(
            "A redirect that is followed is not read to its end, even if the call accepts every status",
            arguments: Engine.allCases.filter { $0 != .urlSessionOnLinux })
        func redirect(engine: Engine) async throws {
            let server = try RawServer { connection in
                guard connection.readHead() else { return }
                guard connection.number == 0 else {
                    return connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
                }
                let body = String(repeating: "x", count: 1_200_000)
                connection.write("HTTP/1.1 302 X\r\nLocation: /there\r\nContent-Length: 1000000000\r\n\r\n\(body)")
                _ = connection.available(within: 20_000)
            }
            let transport = try engine.make()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
                $0.settings.validators = []
            }
            let response: Response<String> = try await service.response(.get("here"), as: .string)
            #expect(response.value == "ok")
            #expect(response.http.redirects.map(\.status) == [.found])
        }

        @Test("A file behind a symbolic link is uploaded", arguments: Engine.allCases)
        func link(engine: Engine) async throws {
            let (server, scratch) = (try LoopbackServer(), try Scratch())
            server.route(.post, "/film") { request in .text(String(decoding: try await request.data(), as: UTF8.self)) }
            try Data("a film".utf8).write(to: scratch.file("film"))
            try FileManager.default.createSymbolicLink(
                at: scratch.file("link"), withDestinationURL: scratch.file("film"))
            let transport = try engine.make()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
            }
            let file = AdHocEndpoint.post("film").body(.file(scratch.file("link")))
            #expect(try await service.request(file, as: .string) == "a film")
            let part = AdHocEndpoint.post("film").body(
                .multipart([HTTPBody.Part("film", body: .file(scratch.file("link")))]))
            #expect(try await service.request(part, as: .string).contains("\r\na film\r\n"))
        }

        #if os(Linux)
            @Test("A body may contain one compressed stream without content for each 256 of its bytes, and 100 more")
            func emptyStreams() async throws {
                let server = try LoopbackServer()
                server.route(.get, "/empty") { request in
                    let count = Int(request.query?.dropFirst(6) ?? "") ?? 0
                    let streams = (0..<count).reduce(into: Data()) { bytes, _ in bytes += Coded.emptyGzip }
                    return LoopbackResponse(headers: [.contentEncoding: "gzip"], content: .fixed(streams))
                }
                let transport = try CurlTransport()
                let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                    $0.transport = transport
                }
                func size(_ count: Int) async throws -> Int {
                    try await service.request(.get("empty").query("count", count), as: .data).count
                }
                #expect(try await size(100) == 0)
                // Each of the streams has 20 bytes.
                let error = await #expect(throws: NetworkError.self) { try await size(120) }
                #expect(error?.kind == .undecodableContent)
                #expect(error?.reason?.contains("more than 109 compressed streams") == true)
            }

            @Test(
                "A body of more than 8 MiB may be 200 times as large as the bytes received; the limit can be raised"
            )
            func ratio() async throws {
                let server = try LoopbackServer()
                server.route(.get, "/bomb") { request in
                    let count = Int(request.query?.dropFirst(6) ?? "") ?? 0
                    // Each member decodes to 100,000 bytes.
                    let members = (0..<count).reduce(into: Data()) { bytes, _ in bytes += Coded.bomb }
                    return LoopbackResponse(headers: [.contentEncoding: "gzip"], content: .fixed(members))
                }
                func size(_ count: Int, _ ratio: Int? = nil) async throws -> Int {
                    var configuration = CurlTransport.Configuration()
                    if let ratio { configuration.limits.decodedRatio = ratio }
                    let transport = try CurlTransport(configuration)
                    let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                        $0.transport = transport
                    }
                    return try await service.request(.get("bomb").query("count", count), as: .data).count
                }
                #expect(try await size(83) == 8_300_000)
                let error = await #expect(throws: NetworkError.self) { try await size(90) }
                #expect(error?.kind == .responseTooLarge)
                #expect(error?.reason == "the response decodes to more than 200 times its bytes (decodedRatio)")
                #expect(try await size(90, 1_000) == 9_000_000)
            }
        #endif
    }
}
