import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Uploads of files, streams and forms")
    struct UploadTests {
        @Test(
            "A file is sent unchanged, with its length and the media type of its file name extension", .row("I-15"),
            arguments: Engine.allCases)
        func file(engine: Engine) async throws {
            let scratch = try Scratch()
            let sink = try UploadSink()
            let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try content.write(to: scratch.file("photo.png"))
            try Data().write(to: scratch.file("empty.txt"))
            try await sink.send(.file(scratch.file("photo.png")), engine)
            try await sink.send(.file(scratch.file("empty.txt")), engine)
            #expect(sink.all.map(\.contentType) == ["image/png", "text/plain"])
            #expect(sink.all.map(\.length) == ["1000000", "0"])
            #expect(sink.all[0].body == content)
        }

        @Test("A missing or unreadable source causes a clear error before anything is sent")
        func missing() async throws {
            let sink = try UploadSink()
            let nowhere = URL(fileURLWithPath: "/no/such/photo.png")
            for body in [
                HTTPBody.file(nowhere), .multipart([.field("a", 1), .file("photo", at: nowhere)]),
                .file(URL(fileURLWithPath: "/tmp")),
            ] {
                do {
                    try await sink.send(body)
                    #expect(Bool(false), "the request was sent")
                } catch let error as NetworkError {
                    #expect(error.kind == .bodyUnreadable)
                    #expect(
                        error.description.contains("the file photo.png does not exist")
                            || error.description.contains("the file tmp cannot be read"))
                }
            }
            #expect(sink.server.requestCount == 0)
        }

        @Test("A source that shrinks while it is sent causes an error, and the server receives no complete body")
        func shrinking() async throws {
            let scratch = try Scratch()
            let sink = try UploadSink()
            let file = scratch.file("log.txt")
            try Data(count: 4 << 20).write(to: file)
            let parts = [
                HTTPBody.Part.stream("first", fileName: "x", length: 1, isReplayable: true) {
                    // The first part is read after the length of the second part has been sent.
                    try Data(count: 10).write(to: file)
                    return try HTTPBody.data(Data([1])).open()
                }, .file("log", at: file),
            ]
            await #expect(throws: NetworkError.self) { try await sink.send(.multipart(parts)) }
            #expect(sink.all.isEmpty)
        }

        @Test("A stream of unknown length is sent in chunks; a stream with a wrong length ends the call with an error")
        func streams() async throws {
            let sink = try UploadSink()
            func part(_ length: Int?) -> HTTPBody.Part {
                .stream("s", fileName: "s.txt", length: length, isReplayable: false) {
                    HesitantReader(["one ", "two"])
                }
            }
            try await sink.send(.multipart([part(nil)]))
            #expect(sink.all[0].length == nil)
            #expect(String(decoding: sink.all[0].body, as: UTF8.self).contains("\r\n\r\none two\r\n"))
            for length in [3, 100] {
                await #expect(throws: NetworkError.self) { try await sink.send(.multipart([part(length)])) }
            }
        }

        @Test("An upload is sent again in full after a 401 and after a 307")
        func replayed() async throws {
            let scratch = try Scratch()
            let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 17) })
            try content.write(to: scratch.file("film.mp4"))
            let server = try LoopbackServer()
            let bodies = Box<[Data]>([])
            server.route(.post, "/upload") { request in
                let body = try await request.data()
                bodies.change { $0.append(body) }
                return request.headers.authorization == .bearer("new")
                    ? LoopbackResponse(.temporaryRedirect, headers: [.location: "/moved"])
                    : LoopbackResponse(.unauthorized)
            }
            server.route(.post, "/moved") { request in
                let body = try await request.data()
                bodies.change { $0.append(body) }
                return LoopbackResponse(.noContent)
            }
            struct Film: Endpoint {
                let body: HTTPBody
                var path: EndpointPath { "upload" }
                var method: HTTPMethod { .post }
                var authorizationType: AuthorizationType { .bearer }
            }
            let session = AccessTokenSupervisor(token: AccessToken("old")) { _ in AccessToken("new") }
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url), authorizedBy: session)
            try await service.request(
                Film(body: .multipart([.field("title", "x"), .file("film", at: scratch.file("film.mp4"))])))
            #expect(bodies.value.count == 3)
            #expect(Set(bodies.value).count == 1)
            #expect(bodies.value[0].range(of: content) != nil)
        }
    }
}
