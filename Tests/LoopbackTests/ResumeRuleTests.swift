import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Which downloads can be resumed")
    struct ResumeRuleTests: FilmDownloads {
        let films: FilmServer

        init() throws { films = try FilmServer() }

        @Test("Content that has changed in the meantime is downloaded from the start")
        func changed() async throws {
            try await cut(after: 100_000)
            let other = Data(content.reversed())
            shelf.change { ($0.content, $0.tag) = (other, "\"v2\"") }
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == other)
        }

        @Test(
            "If the description of a part is damaged, the download restarts",
            arguments: ["\\u007f\\\"v1\\\"", "\\r\\nX: y", " ", ""])
        func damagedNote(validator: String) async throws {
            let note = #"{"content": "film", "validator": "\#(validator)"}"#
            try Data(note.utf8).write(to: scratch.file(".film.mp4.resume"))
            try Data("other bytes".utf8).write(to: scratch.file(".film.mp4.part"))
            let destination = FileDestination(target, resuming: .content("film"))
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(names == ["film.mp4"])
        }

        @Test("If a server ignores If-Range and sends a range of changed content, the range is rejected")
        func heedless() async throws {
            for tag in ["\"v2\"", nil] {
                let other = Data(content.reversed())
                server.route(nil, "/heedless") { request in
                    var answer = LoopbackResponse.content(
                        other, tag: request.headers[.ifRange] ?? "\"v2\"", for: request)
                    answer.headers[.eTag] = tag
                    return answer
                }
                let destination = FileDestination(target, overwriting: .replace, resuming: .content("film"))
                try await cut(after: 100_000, to: destination)
                let url = try await service().request(Film(path: "heedless"), as: .file(destination))
                #expect(try Data(contentsOf: url) == other)
                destination.discardPart()
                #expect(names == ["film.mp4"])
                try FileManager.default.removeItem(at: target)
            }
        }

        @Test(
            "Without a strong validator a download cannot be resumed, and no part file is left",
            arguments: ["W/\"v1\"", nil])
        func weak(tag: String?) async throws {
            shelf.change { $0.tag = tag }
            try await cut(after: 100_000)
            #expect(names.isEmpty)
        }

        @Test("A Last-Modified date is a strong validator if it is earlier than the Date of the response")
        func date() async throws {
            shelf.change { ($0.tag, $0.modified) = (nil, "Sun, 06 Nov 1994 08:49:37 GMT") }
            try await cut(after: 100_000)
            #expect(destination.partialSize == 100_000)
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(shelf.value.ranges.last == "bytes=100000-")
            let target = scratch.file("other.mp4")
            shelf.change { ($0.modified, $0.cuts) = (httpDate(Date() + 5), [100]) }
            await #expect(throws: NetworkError.self) {
                _ = try await service().request(Film(), as: .file(at: target, resuming: .sameAddress))
            }
            #expect(names == ["film.mp4"])
        }

        @Test("If the server does not support ranges, the full response replaces the part")
        func noRanges() async throws {
            try await cut(after: 100_000)
            let content = content
            server.route(nil, "/film") { _ in LoopbackResponse(content: .fixed(content)) }
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(names == ["film.mp4"])
        }

        @Test("If the part is complete, only its last byte is requested")
        func whole() async throws {
            try await cut(after: 100_000)
            try content.write(to: scratch.file(".film.mp4.part"))
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(shelf.value.ranges == [nil, "bytes=599999-"])
        }

        @Test("A 416 response restarts the download if the content is now shorter than the part")
        func notSatisfiable() async throws {
            try await cut(after: 100_000)
            let short = content.prefix(50_000)
            shelf.change { $0.content = Data(short) }  // with the same tag
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == short)
            #expect(shelf.value.ranges == [nil, "bytes=100000-", nil])
        }

        @Test("A download resumes from a new URL with the same path or the same content name")
        func freshURL() async throws {
            try await cut(after: 100_000)
            _ = try await service().request(Film(query: ["signature": "fresh"]), as: .file(destination))
            #expect(shelf.value.ranges.last == "bytes=100000-")
            try FileManager.default.removeItem(at: target)
            let named = FileDestination(target, resuming: .content("film 7"))
            try await cut(after: 100_000, to: named)
            server.route(nil, "/mirror") { [content] in .content(content, tag: "\"v1\"", for: $0) }
            let before = server.requestCount
            let url = try await service().request(Film(path: "mirror"), as: .file(named))
            #expect(try Data(contentsOf: url) == content)
            #expect(server.requestCount == before + 1)
            try FileManager.default.removeItem(at: target)
            try await cut(after: 100_000)
            _ = try await service().request(Film(path: "mirror"), as: .file(destination))
            #expect(
                try Data(contentsOf: url) == content, "a different path is different content, so the download restarts")
        }

        @Test("A redirected download resumes, because the requested URL identifies the content")
        func redirected() async throws {
            server.route(nil, "/latest") { _ in .redirect(to: "/film?signature=\(UInt64.random(in: 0 ... .max))") }
            shelf.change { $0.cuts = [100_000] }
            await #expect(throws: NetworkError.self) {
                _ = try await service().request(Film(path: "latest"), as: .file(destination))
            }
            let url = try await service().request(Film(path: "latest"), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(shelf.value.ranges == [nil, "bytes=100000-"])
        }

        @Test("A call with its own Range field saves the received part to the file")
        func ownRange() async throws {
            struct Part: Endpoint {
                var path: EndpointPath { "film" }
                var headers: HTTPHeaders { [.range: "bytes=599000-"] }
            }
            let url = try await service().request(Part(), as: .file(at: target))
            #expect(try Data(contentsOf: url) == content.suffix(1_000))
        }

        @Test("A Content-Range close to the largest integer does not cause a crash")
        func absurdRange() async throws {
            server.route(nil, "/absurd") { _ in
                var answer = LoopbackResponse.text("x", status: .partialContent)
                answer.headers[.contentRange] = "bytes 9223372036854775806-9223372036854775807/*"
                return answer
            }
            let task = try service().task(Film(path: "absurd"), as: .file(destination))
            await #expect(throws: NetworkError.self) { _ = try await task.value }
        }

        @Test("A call made inside a download, with the same concurrency limit, does not wait for the download's permit")
        func nestedCall() async throws {
            struct Signing: Transport {
                let base: any Transport
                let signer: NetworkService
                func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                    let _: String = try await signer.request(.get("sign"))
                    return try await base.send(request, delivering: delivery)
                }
            }
            server.route(nil, "/sign") { _ in .text("signed") }
            let limit = ConcurrencyLimit(1)
            let environment = NetworkEnvironment(baseURL: server.url)
            let signer = NetworkService(environment: environment) {
                $0.concurrencyLimit = limit
                $0.backoffGate = nil
            }
            let signing = Signing(base: try Engine.preferred.shared(), signer: signer)
            let service = NetworkService(environment: environment) {
                $0.transport = signing
                $0.concurrencyLimit = limit
                $0.backoffGate = nil
            }
            let settings = RequestSettings { $0.timeouts.total = .seconds(30) }
            let task = service.task(Film(), as: .file(destination), with: settings)
            #expect(try Data(contentsOf: await task.value) == content)
        }
    }
}
