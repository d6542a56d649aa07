import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Pausing downloads")
    struct PauseTests: FilmDownloads {
        let films: FilmServer

        init() throws { films = try FilmServer() }

        @Test("While a download is in progress, a second download to its target fails; the first completes")
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
                #expect(Bool(false), "the second download was written")
            } catch let error as NetworkError {
                #expect(error.description.contains("another download to film.mp4 is in progress"))
            }
            gate.change { $0 = true }
            #expect(try Data(contentsOf: await first.value) == content)
        }

        @Test(
            "A pause keeps the task pending and releases the permit; `resume` continues the download", .row("I-28"),
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
            try #require(await Exchange.eventually { destination.partialSize >= 300_000 })
            #expect(!task.resume())
            // Views may use either form.
            let progress = task.foundationProgress
            if engine == .preferred { progress.pause() } else { #expect(task.pause()) }
            #expect(try await Exchange.eventually { limit.activeCount == 0 && server.openConnections == 0 })
            if case .paused = task.state {} else { #expect(Bool(false), "\(task.state)") }
            #expect(!task.pause())
            let kept = destination.partialSize
            if engine == .preferred { progress.resume() } else { #expect(task.resume()) }
            #expect(try Data(contentsOf: await task.value) == content)
            #expect(task.progress.download.fraction == 1)
            #expect(kept >= 300_000)
            #expect(!task.pause())
        }

        @Test(
            "After a pause, a download continues without `resuming:`, and leaves no other file",
            arguments: Engine.allCases,
            [nil, "\"v2\""])
        func pauseOfCall(engine: Engine, newTag: String?) async throws {
            let (ranges, gate) = (Box<[String?]>([]), Box(false))
            server.route(nil, "/slow") { [content] request in
                let isFirst = ranges.change { ranges in
                    ranges.append(request.headers[.range])
                    return ranges.count == 1
                }
                let tag = isFirst ? "\"v1\"" : newTag ?? "\"v1\""
                var answer = LoopbackResponse.content(content, tag: tag, for: request)
                guard isFirst else { return answer }
                answer.content = .written(length: content.count) { writer in
                    try writer.write(content.prefix(300_000))
                    while !gate.value { usleep(1_000) }
                }
                return answer
            }
            defer { gate.change { $0 = true } }
            let task = try service(engine).task(Film(path: "slow"), as: .file(at: target))
            try #require(await Exchange.eventually { sizeOfPart == 300_000 })
            #expect(task.pause())
            #expect(task.resume())
            #expect(try Data(contentsOf: await task.value) == content)
            #expect(ranges.value.prefix(2) == [nil, "bytes=300000-"])
            #expect(names == ["film.mp4"])
        }

        /// The size of the file that receives a download.
        private var sizeOfPart: Int {
            guard let name = names.first(where: { $0.hasSuffix(".part") }) else { return 0 }
            let attributes = try? FileManager.default.attributesOfItem(atPath: scratch.file(name).path)
            return (attributes?[.size] as? NSNumber)?.intValue ?? 0
        }

        @Test("A task may ask for a range on its own, with If-Range, and gets it")
        func ownRange() async throws {
            server.route(nil, "/slow") { [content] request in
                LoopbackResponse.content(content, tag: "\"v1\"", for: request)
            }
            let call = AdHocEndpoint.get("slow").header(.range, "bytes=599900-").header(.ifRange, "\"v1\"")
            let task = try service().task(call, as: .file(at: target))
            #expect(try Data(contentsOf: await task.value) == content.suffix(100))
        }

        @Test("A named pipe that takes the place of the part ends a download with a checksum, and nothing waits for it")
        func replacedByPipe() async throws {
            let gate = Box(false)
            defer { gate.change { $0 = true } }
            server.route(nil, "/slow") { [content] _ in
                LoopbackResponse(
                    content: .written(length: content.count) { writer in
                        try writer.write(content.prefix(300_000))
                        while !gate.value { usleep(1_000) }
                        try writer.write(content.dropFirst(300_000))
                    })
            }
            let sum = try FileDestination.Checksum(Data(repeating: 1, count: 32))
            let task = try service().task(Film(path: "slow"), as: .file(at: target, checksum: sum))
            try #require(await Exchange.eventually { sizeOfPart == 300_000 })
            let part = try scratch.file(#require(names.first { $0.hasSuffix(".part") }))
            try FileManager.default.moveItem(at: part, to: scratch.file("moved"))
            try #require(mkfifo(part.path, 0o600) == 0)
            gate.change { $0 = true }
            let error = await #expect(throws: NetworkError.self) { _ = try await task.value }
            #expect(error?.kind == .checksumMismatch)
        }

        @Test("A paused download that is cancelled or fails leaves no file", arguments: [true, false])
        func pauseWithoutEnd(isCancelled: Bool) async throws {
            let isRefused = Box(false)
            server.route(nil, "/slow") { [content] request in
                if isRefused.value { return LoopbackResponse(.notFound) }
                var answer = LoopbackResponse.content(content, tag: "\"v1\"", for: request)
                answer.content = .written(length: content.count) { writer in
                    try writer.write(content.prefix(300_000))
                    while !isRefused.value { usleep(1_000) }
                }
                return answer
            }
            defer { isRefused.change { $0 = true } }
            let task = try service().task(Film(path: "slow"), as: .file(at: target))
            try #require(await Exchange.eventually { task.progress.download.completed >= 300_000 })
            #expect(task.pause())
            try #require(await Exchange.eventually { names.contains { $0.hasSuffix(".resume") } })
            isRefused.change { $0 = true }
            if isCancelled { task.cancel() } else { task.resume() }
            await #expect(throws: GeneralRequestError.self) { _ = try await task.value }
            #expect(names.isEmpty)
        }

        @Test("A paused download can be cancelled, and a task without a file cannot be paused")
        func pausedAndCancelled() async throws {
            // The download cannot complete before it is paused, however slow this thread is.
            server.route(nil, "/slow") { _ in .text("never").failing(.stallBeforeHead) }
            let task = try service().task(Film(path: "slow"), as: .file(destination))
            #expect(task.pause())
            try await Task.sleep(for: .milliseconds(50))
            #expect(task.cancel())
            await #expect(throws: GeneralRequestError.cancelled) { _ = try await task.value }
            let other = try service().task(Film(), as: .data)
            #expect(!other.pause(), "only a download into a file can be paused")
            _ = try await other.value
        }
    }
}
