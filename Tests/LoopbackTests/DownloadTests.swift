import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Downloads and streams")
    struct DownloadTests {
        private struct Get: Endpoint {
            let name: String
            var path: EndpointPath { "\(name)" }
        }

        private let scratch: Scratch
        private let server: LoopbackServer
        private let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })

        init() throws {
            scratch = try Scratch()
            server = try LoopbackServer()
            let content = content
            server.route(.get, "/whole") { _ in LoopbackResponse(content: .fixed(content)) }
            server.route(.get, "/cut") { _ in
                LoopbackResponse(content: .fixed(content)).failing(.truncate(after: 1_000_000))
            }
            server.route(.get, "/missing") { _ in .text("no such thing", status: .notFound) }
            server.route(.get, "/endless") { _ in
                LoopbackResponse(
                    content: .written(length: nil) { writer in
                        // The server pauses between its writes. While bytes arrive faster than they are read, the
                        // libcurl inside Foundation does not return, and the call cannot be cancelled (L22).
                        while true {
                            try writer.write(Data("line\n".utf8) + Data(count: 10_000))
                            usleep(2_000)
                        }
                    })
            }
            server.route(.get, "/lines") { _ in .text("one\r\ntwo\n\nüñ\nlast") }
            server.route(.get, "/json") { _ in .text("{\"n\":1}\n\n{\"n\":2}\r\n{\"n\":") }
            server.route(.get, "/events") { _ in
                LoopbackResponse(
                    headers: [.contentType: "text/event-stream; charset=utf-8"],
                    content: .chunked([Data("id: 1\ndata: a\n".utf8), Data("\ndata: b\n\n".utf8)]))
            }
        }

        private func service(
            _ engine: Engine, limit: ConcurrencyLimit = ConcurrencyLimit(), retry: RetryPolicy? = nil
        ) throws -> NetworkService {
            let transport = try engine.shared()
            return NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.concurrencyLimit = limit
                $0.retry = retry
                $0.transport = transport
            }
        }

        private var names: [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: scratch.url.path).sorted()) ?? []
        }

        @Test(
            "When a download completes, its exact bytes are at the target, and no other file is left", .row("L29"),
            arguments: Engine.allCases)
        func file(engine: Engine) async throws {
            let target = scratch.file("film.mp4")
            let url = try await service(engine).request(Get(name: "whole"), as: .file(at: target, isDurable: true))
            #expect(url == target)
            #expect(try Data(contentsOf: target) == content)
            #expect(names == ["film.mp4"])
        }

        @Test(
            "If the target exists, the download fails, replaces the file, or uses a unique name", .row("I-16", "I-19")
        )
        func overwriting() async throws {
            let target = scratch.file("film.mp4")
            try Data("old".utf8).write(to: target)
            let service = try service(.preferred)
            do {
                _ = try await service.request(Get(name: "whole"), as: .file(at: target))
                #expect(Bool(false), "the file was overwritten")
            } catch let error as NetworkError {
                #expect(error.kind == .fileNotWritable)
                #expect(error.description.contains("the file film.mp4 cannot be written: File exists"))
            }
            #expect(try Data(contentsOf: target) == Data("old".utf8))
            let unique = [
                try await service.request(Get(name: "whole"), as: .file(at: target, overwriting: .uniqueName)),
                try await service.request(Get(name: "whole"), as: .file(at: target, overwriting: .uniqueName)),
            ]
            #expect(unique.map(\.lastPathComponent) == ["film 2.mp4", "film 3.mp4"])
            _ = try await service.request(Get(name: "whole"), as: .file(at: target, overwriting: .replace))
            #expect(try Data(contentsOf: target) == content)
            #expect(names == ["film 2.mp4", "film 3.mp4", "film.mp4"])
        }

        @Test(
            "The body of an error response is not saved as a download; the error contains it",
            arguments: Engine.allCases)
        func errorPage(engine: Engine) async throws {
            let target = scratch.file("film.mp4")
            do {
                _ = try await service(engine).request(Get(name: "missing"), as: .file(at: target))
                #expect(Bool(false), "the error response was saved")
            } catch GeneralRequestError.notFound {}
            let transport = try engine.shared()
            let plain = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
                $0.errorMapping = .unmapped
            }
            do {
                _ = try await plain.request(Get(name: "missing"), as: .file(at: target))
            } catch let error as NetworkError {
                #expect(error.status == .notFound)
                #expect(error.response?.text == "no such thing")
            }
            #expect(names.isEmpty)
        }

        @Test("A truncated download leaves no file, and the retry policy repeats it")
        func cut() async throws {
            let target = scratch.file("film.mp4")
            let before = server.requestCount
            await #expect(throws: NetworkError.self) {
                _ = try await service(.preferred, retry: RetryPolicy(retries: 2))
                    .request(Get(name: "cut"), as: .file(at: target))
            }
            #expect(server.requestCount - before == 3)
            #expect(names.isEmpty)
        }

        @Test("A cancelled download leaves no file and releases its permit")
        func cancelled() async throws {
            let limit = ConcurrencyLimit(1)
            let task = try service(.preferred, limit: limit).task(
                Get(name: "endless"), as: .file(at: scratch.file("film.mp4")))
            #expect(try await Exchange.eventually { names.contains { $0.hasSuffix(".part") } })
            #expect(limit.activeCount == 1, "a download into a file holds its permit")
            #expect(task.cancel())
            await #expect(throws: GeneralRequestError.cancelled) { _ = try await task.value }
            #expect(names.isEmpty)
            #expect(limit.activeCount == 0)
        }

        @Test("A web address is rejected as a download target and as a file to upload")
        func noFile() async throws {
            let web = try #require(URL(string: "http://h.example/etc/hostname"))
            let download = await #expect(throws: NetworkError.self) {
                _ = try await service(.preferred).request(Get(name: "whole"), as: .file(at: web))
            }
            #expect(download?.description.contains("not a file URL") == true)
            let upload = await #expect(throws: NetworkError.self) {
                try await service(.preferred).request(.post("x").body(.multipart([.file("d", at: web)])))
            }
            #expect(upload?.description.contains("expected a file URL") == true)
        }

        @Test("If the folder of the target is missing or is a device, the error is fileNotWritable")
        func unwritable() async throws {
            let nowhere = scratch.file("no/such/film.mp4")
            var targets = [nowhere]
            if FileManager.default.fileExists(atPath: "/dev/full") {
                targets.append(URL(fileURLWithPath: "/dev/full/film"))
            }
            for target in targets {
                do {
                    _ = try await service(.preferred).request(Get(name: "whole"), as: .file(at: target))
                    #expect(Bool(false), "the download was written")
                } catch let error as NetworkError {
                    #expect(error.kind == .fileNotWritable)
                    #expect(error.underlying is POSIXError)
                }
            }
        }

        @Test(
            "A streamed call returns when the head arrives, releases its permit, and ends when its reader stops",
            arguments: Engine.allCases)
        func stream(engine: Engine) async throws {
            let limit = ConcurrencyLimit(1)
            let transport = try engine.make()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
                $0.concurrencyLimit = limit
                $0.backoffGate = nil
            }
            var bytes = 0
            for try await chunk in try await service.request(Get(name: "endless"), as: .stream) {
                #expect(limit.activeCount == 0)
                bytes += chunk.count
                if bytes > 300_000 { break }
            }
            #expect(try await Exchange.eventually { server.openConnections == 0 })
        }

        @Test("A streamed call with an error status throws; lines, JSON lines and events are read as they arrive")
        func readers() async throws {
            let service = try service(.preferred)
            await #expect(throws: GeneralRequestError.notFound) {
                _ = try await service.request(Get(name: "missing"), as: .stream)
            }
            var lines: [String] = []
            for try await line in try await service.request(Get(name: "lines"), as: .lines) { lines.append(line) }
            #expect(lines == ["one", "two", "", "üñ", "last"])
            struct Item: Decodable, Sendable { let n: Int }
            var numbers: [Int] = []
            do {
                for try await item in try await service.request(Get(name: "json"), as: .jsonLines(Item.self)) {
                    numbers.append(item.n)
                }
                #expect(Bool(false), "the last line is not JSON")
            } catch let error as NetworkError {
                #expect(error.description.contains("line 4: the body is not JSON"))
            }
            #expect(numbers == [1, 2])
            var events: [ServerSentEvent] = []
            for try await event in try await service.request(Get(name: "events"), as: .serverSentEvents) {
                events.append(event)
            }
            #expect(events.map(\.data) == ["a", "b"])
            #expect(events.map(\.id) == ["1", "1"])
            await #expect(throws: NetworkError.self) {
                _ = try await service.request(Get(name: "lines"), as: .serverSentEvents)
            }
        }
    }
}
