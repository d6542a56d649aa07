import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Downloads that are gone on with", .timeLimit(.minutes(5)))
    struct ResumeTests {
        private struct Film: Endpoint {
            var path: EndpointPath = "film"
            var query: URLQuery = [:]
            var method: HTTPMethod = .get
        }

        /// What the server has, and how many bytes it gives before it hangs up.
        private struct Shelf: Sendable {
            var content: Data
            var tag: String? = "\"v1\""
            var modified: String?
            var cuts: [Int] = []
            var ranges: [String?] = []
        }

        private let scratch: Scratch
        private let server: LoopbackServer
        private let shelf: Box<Shelf>
        private let content = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

        init() throws {
            scratch = try Scratch()
            server = try LoopbackServer()
            let shelf = Box(Shelf(content: content))
            self.shelf = shelf
            server.route(nil, "/film") { request in
                let (now, cut) = shelf.change { shelf in
                    shelf.ranges.append(request.headers[.range])
                    return (shelf, shelf.cuts.isEmpty ? nil : shelf.cuts.removeFirst())
                }
                var answer = LoopbackResponse.content(now.content, tag: now.tag ?? now.modified ?? "none", for: request)
                answer.headers[.eTag] = now.tag
                answer.headers[.lastModified] = now.modified
                answer.headers[.date] = httpDate(Date())
                return cut.map { answer.failing(.truncate(after: $0)) } ?? answer
            }
        }

        private func service(_ engine: Engine = .preferred, retries: Int = 0) throws -> NetworkService {
            let policy = RetryPolicy(retries: retries, backoff: .constant(.zero))
            let transport = try engine.shared()
            return NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.retry = policy
                $0.transport = transport
            }
        }

        private var target: URL { scratch.file("film.mp4") }

        private var destination: FileDestination { FileDestination(target, resuming: .sameAddress) }

        private var names: [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: scratch.url.path).sorted()) ?? []
        }

        /// A download that ends after so many bytes, with its part left behind.
        private func cut(after count: Int, to destination: FileDestination? = nil) async throws {
            shelf.change { $0.cuts = [count] }
            await #expect(throws: NetworkError.self) {
                _ = try await service().request(Film(), as: .file(destination ?? self.destination))
            }
        }

        @Test("L8: a retry goes on with where the connection was lost, on every engine", arguments: Engine.allCases)
        func retry(engine: Engine) async throws {
            shelf.change { $0.cuts = [200_000, 100_000] }
            let url = try await service(engine, retries: 2).request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(names == ["film.mp4"])
            #expect(shelf.value.ranges == [nil, "bytes=200000-", "bytes=300000-"])
        }

        @Test("A later call goes on with what an earlier one left, and nothing is ever at the target before")
        func laterCall() async throws {
            try await cut(after: 123_456)
            #expect(names == [".film.mp4.part", ".film.mp4.resume"])
            #expect(destination.partialSize == 123_456)
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(shelf.value.ranges == [nil, "bytes=123456-"])
            #expect(names == ["film.mp4"])
            #expect(destination.partialSize == 0)
        }

        @Test("A content that has changed meanwhile is downloaded anew")
        func changed() async throws {
            try await cut(after: 100_000)
            let other = Data(content.reversed())
            shelf.change { ($0.content, $0.tag) = (other, "\"v2\"") }
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == other)
        }

        @Test("A server that goes on with another content, heedless of If-Range, is not believed")
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

        @Test("A weak tag, or none, gives nothing to go on with: nothing is left behind", arguments: ["W/\"v1\"", nil])
        func weak(tag: String?) async throws {
            shelf.change { $0.tag = tag }
            try await cut(after: 100_000)
            #expect(names.isEmpty)
        }

        @Test("A date of the last change is strong enough where it lies before the answer's")
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

        @Test("A server that knows no ranges sends all of it, and all of it is taken")
        func noRanges() async throws {
            try await cut(after: 100_000)
            let content = content
            server.route(nil, "/film") { _ in LoopbackResponse(content: .fixed(content)) }
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(names == ["film.mp4"])
        }

        @Test("A part that is whole already is vouched for by its last byte")
        func whole() async throws {
            try await cut(after: 100_000)
            try content.write(to: scratch.file(".film.mp4.part"))
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(shelf.value.ranges == [nil, "bytes=599999-"])
        }

        @Test("A part that is too long, or whose note is broken, begins anew")
        func broken() async throws {
            try await cut(after: 100_000)
            try (content + content).write(to: scratch.file(".film.mp4.part"))
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            try FileManager.default.removeItem(at: target)
            try await cut(after: 100_000)
            try Data("{".utf8).write(to: scratch.file(".film.mp4.resume"))
            _ = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
        }

        @Test("416 begins anew: the content is shorter by now")
        func notSatisfiable() async throws {
            try await cut(after: 100_000)
            let short = content.prefix(50_000)
            shelf.change { $0.content = Data(short) }  // with the same tag
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == short)
            #expect(shelf.value.ranges == [nil, "bytes=100000-", nil])
        }

        @Test("U25: a fresh URL to the same content goes on: by the path, or by the content's name")
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
            #expect(try Data(contentsOf: url) == content, "another path is another content: it began anew")
        }

        @Test("Behind a redirect, too, a download goes on: it is known by the address that was asked for")
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

        @Test("Who asks for a part by hand gets it into a file as it comes")
        func ownRange() async throws {
            struct Part: Endpoint {
                var path: EndpointPath { "film" }
                var headers: HTTPHeaders { [.range: "bytes=599000-"] }
            }
            let url = try await service().request(Part(), as: .file(at: target))
            #expect(try Data(contentsOf: url) == content.suffix(1_000))
        }

        @Test("A server that claims to send a part from beyond all numbers is no crash")
        func absurdRange() async throws {
            server.route(nil, "/absurd") { _ in
                var answer = LoopbackResponse.text("x", status: .partialContent)
                answer.headers[.contentRange] = "bytes 9223372036854775806-9223372036854775807/*"
                return answer
            }
            let task = try service().task(Film(path: "absurd"), as: .file(destination))
            await #expect(throws: NetworkError.self) { _ = try await task.value }
        }

        @Test("A call that a download makes on its way, under its own limit, does not wait for the download's place")
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
            let settings = RequestSettings(timeouts: HTTPRequest.Timeouts(total: .seconds(5)))
            let task = service.task(Film(), as: .file(destination), with: settings)
            #expect(try Data(contentsOf: await task.value) == content)
        }

        @Test("A part that somebody put in its place before it ended is left alone")
        func linkedPart() async throws {
            try await cut(after: 100_000)
            try FileManager.default.linkItem(at: scratch.file(".film.mp4.part"), to: scratch.file("other.mp4"))
            _ = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: scratch.file("other.mp4")) == content.prefix(100_000))
            #expect(try Data(contentsOf: target) == content)
        }

        @Test("An error in between leaves the part for later")
        func errorBetween() async throws {
            try await cut(after: 100_000)
            server.route(nil, "/film") { _ in .text("sorry", status: .serviceUnavailable) }
            await #expect(throws: NetworkError.self) {
                _ = try await service().request(Film(), as: .file(destination))
            }
            #expect(destination.partialSize == 100_000)
        }

        @Test("A checksum is checked over all of it; another one leaves nothing")
        func checksum() async throws {
            let digits = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  // FIPS 180-2, of "abc"
            let sum = try FileDestination.Checksum(hexadecimal: digits)
            #expect(sum.description == digits)
            shelf.change { $0.content = Data("abc".utf8) }
            let right = FileDestination(target, resuming: .sameAddress, checksum: sum)
            try await cut(after: 2, to: right)
            let url = try await service().request(Film(), as: .file(right))
            #expect(try Data(contentsOf: url) == Data("abc".utf8))
            let wrong = FileDestination(
                scratch.file("wrong"), resuming: .sameAddress,
                checksum: try FileDestination.Checksum(Data(repeating: 1, count: 32)))
            do {
                _ = try await service().request(Film(), as: .file(wrong))
                #expect(Bool(false), "it was taken")
            } catch let error as NetworkError {
                #expect(error.kind == .checksumMismatch)
            }
            #expect(names == ["film.mp4"])
            #expect(throws: NetworkError.self) { try FileDestination.Checksum(hexadecimal: "zz") }
        }

        @Test(
            "Cut at 200 random points, with the content changing now and then: always the exact bytes, and nothing before"
        )
        func cuts() async throws {
            var random = SeededGenerator(seed: 11)
            let small = content.prefix(60_000)
            let service = try service()
            for round in 0..<200 {
                let version = Data(small.map { $0 &+ UInt8(truncatingIfNeeded: round / 7) })
                let cuts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    Int.random(in: 0..<12_000, using: &random)
                }
                shelf.change { ($0.content, $0.tag, $0.cuts) = (version, "\"\(round / 7)\"", cuts) }
                let destination = FileDestination(
                    scratch.file("\(round / 3)"), overwriting: .replace, resuming: .sameAddress)
                try? FileManager.default.removeItem(at: destination.url)
                for _ in cuts {
                    await #expect(throws: NetworkError.self) {
                        _ = try await service.request(Film(), as: .file(destination))
                    }
                    #expect(!FileManager.default.fileExists(atPath: destination.url.path))
                    // Every tenth is left as it is, for the next round and perhaps another version to find.
                    if round % 10 == 9 { break }
                }
                guard round % 10 != 9 else { continue }
                let url = try await service.request(Film(), as: .file(destination))
                #expect(try Data(contentsOf: url) == version)
            }
        }

        @Test("Two downloads to one target at once: the second one is told, and harms nothing")
        func twice() async throws {
            let gate = Box(false)
            server.route(nil, "/slow") { [content] request in
                var answer = LoopbackResponse.content(content, tag: "\"v1\"", for: request)
                answer.content = .written(length: content.count) { writer in
                    try writer.write(content.prefix(1_000))
                    while !gate.value { usleep(2_000) }
                    try writer.write(content.dropFirst(1_000))
                }
                return answer
            }
            let first = try service().task(Film(path: "slow"), as: .file(destination))
            #expect(try await Exchange.eventually { destination.partialSize == 1_000 })
            do {
                _ = try await service().request(Film(), as: .file(destination))
                #expect(Bool(false), "it was written")
            } catch let error as NetworkError {
                #expect(error.description.contains("another download to film.mp4 is in progress"))
            }
            gate.change { $0 = true }
            #expect(try Data(contentsOf: await first.value) == content)
        }

        @Test(
            "I-28, a defect of iONess: a pause settles nothing and gives the place back; resume goes on",
            arguments: Engine.allCases)
        func pause(engine: Engine) async throws {
            let limit = ConcurrencyLimit(1)
            let transport = try engine.make()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.concurrencyLimit = limit
                $0.transport = transport
            }
            server.route(nil, "/slow") { [content] request in
                var answer = LoopbackResponse.content(content, tag: "\"v1\"", for: request)
                guard request.headers[.range] == nil else { return answer }
                answer.content = .written(length: content.count) { writer in
                    try writer.write(content.prefix(300_000))
                    for byte in content.dropFirst(300_000) {
                        try writer.write(Data([byte]))
                        usleep(20_000)
                    }
                }
                return answer
            }
            let task = service.task(Film(path: "slow"), as: .file(destination))
            #expect(try await Exchange.eventually { destination.partialSize >= 300_000 })
            #expect(!task.resume())
            #expect(task.pause())
            #expect(!task.pause())
            #expect(try await Exchange.eventually { limit.activeCount == 0 && server.openConnections == 0 })
            if case .paused = task.state {} else { #expect(Bool(false), "\(task.state)") }
            let kept = destination.partialSize
            #expect(task.resume())
            #expect(try Data(contentsOf: await task.value) == content)
            #expect(task.progress.download.fraction == 1)
            #expect(kept >= 300_000)
            #expect(!task.pause())
        }

        @Test("A paused download can be cancelled, and one that is paused before it begins waits")
        func pausedAndCancelled() async throws {
            // It cannot be over before it is paused, however slow this thread is.
            server.route(nil, "/slow") { _ in .text("never").failing(.stallBeforeHead) }
            let task = try service().task(Film(path: "slow"), as: .file(destination))
            #expect(task.pause())
            try await Task.sleep(for: .milliseconds(50))
            #expect(task.cancel())
            await #expect(throws: GeneralRequestError.cancelled) { _ = try await task.value }
            let other = try service().task(Film(), as: .data)
            #expect(!other.pause(), "there is no file")
            _ = try await other.value
        }

        @Test("A download that cannot be resumed is refused before anything is sent")
        func refused() async throws {
            for call in [Film(method: .post)] {
                do {
                    _ = try await service().request(call, as: .file(destination))
                    #expect(Bool(false), "it was sent")
                } catch let error as NetworkError {
                    #expect(error.description.contains("download: only a GET"))
                }
            }
            try Data().write(to: target)
            await #expect(throws: NetworkError.self) {
                _ = try await service().request(Film(), as: .file(destination))
            }
            #expect(server.requestCount == 0)
        }
    }
}

/// A date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
private func httpDate(_ date: Date) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: date)
}
