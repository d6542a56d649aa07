import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Progress of uploads and downloads")
    struct TransferProgressTests {
        private struct Film: Endpoint {
            var path: EndpointPath = "film"
            var body: HTTPBody = .empty
            var method: HTTPMethod { body.isEmpty ? .get : .post }
            var authorizationType = AuthorizationType.bearer
        }

        private let scratch: Scratch
        private let server: LoopbackServer
        private let seen = Box<[RequestProgress]>([])
        private let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 17) })

        init() throws {
            scratch = try Scratch()
            server = try LoopbackServer()
            try content.write(to: scratch.file("film.mp4"))
        }

        private func service(_ engine: Engine, limits: URLSessionTransport.Limits? = nil) throws -> NetworkService {
            let session = AccessTokenSupervisor(token: AccessToken("old")) { _ in AccessToken("new") }
            let transport: any Transport = try limits.map { try URLSessionTransport(limits: $0) } ?? engine.shared()
            return NetworkService(environment: NetworkEnvironment(baseURL: server.url), authorizedBy: session) {
                $0.transport = transport
            }
        }

        private func watch<Value>(_ task: RequestTask<Value>) -> RequestTask<Value> {
            task.onProgress(on: DispatchQueue(label: "progress")) { [seen] progress in
                seen.change { $0.append(progress) }
            }
        }

        private var isMonotonic: Bool {
            let values = seen.value.map(\.upload.completed)
            return zip(values, values.dropFirst()).allSatisfy { $0 <= $1 }
        }

        @Test("Nothing is reported as sent before there is a connection", arguments: Engine.allCases)
        func unreachable(engine: Engine) async throws {
            let port = try LoopbackServer().port  // nothing listens when the server is released after this line
            let address = NetworkEnvironment(baseURL: URL(string: "http://127.0.0.1:\(port)"))
            let transport = try engine.shared()
            let service = NetworkService(environment: address) { $0.transport = transport }
            let task = service.task(Film(body: .string("text"), authorizationType: .none), as: .void)
            await #expect(throws: (any Error).self) { try await task.value }
            #expect(task.progress.upload.completed == 0)
        }

        @Test(
            "An upload reports its progress, even after a 401 and a 307, and arrives complete", .row("L28"),
            arguments: Engine.allCases)
        func upload(engine: Engine) async throws {
            // The body is longer than the buffers of the sockets, so that a part of it waits for the server to read.
            let content = Data(repeating: 7, count: 16_000_000)
            try content.write(to: scratch.file("long.mp4"))
            let bodies = Box<[Data]>([])
            let hasSeenPart = Box(engine == .urlSession)
            server.route(.post, "/film") { [seen] request in
                if !hasSeenPart.value {
                    let isSeen = { seen.value.contains { (1..<16_000_000).contains($0.upload.completed) } }
                    let isSeenNow = try await Exchange.eventually(isSeen)
                    hasSeenPart.change { $0 = isSeenNow }
                }
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
            let task = try service(engine).task(
                Film(body: .file(scratch.file("long.mp4"))), as: .void)
            _ = try await watch(task).value
            #expect(bodies.value.count == 3)
            #expect(bodies.value.allSatisfy { $0 == content })
            #expect(hasSeenPart.value)
            #expect(isMonotonic)
            #expect(task.progress.upload.fraction == 1)
            #expect(task.progress.upload.total == 16_000_000)
        }

        @Test("URLSession sends a long body from a temporary file without a name")
        func spooled() async throws {
            let folder = FileManager.default.temporaryDirectory.path
            let names = { @Sendable in Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []) }
            let (before, during) = (names(), Box(Set<String>()))
            server.route(.post, "/film") { request in
                let body = try await request.data()
                during.change { $0 = names() }
                return .text("\(body.count) \(body == content)")
            }
            let limits = URLSessionTransport.Limits(requestBodyBytes: 100_000)
            let text = try await service(.urlSession, limits: limits).request(
                Film(body: .file(scratch.file("film.mp4"))), as: .string)
            #expect(text == "3000000 true")
            #expect(!during.value.subtracting(before).contains { $0.hasSuffix(".body") })
        }

        @Test("A download into memory, into a file or as a stream reports its progress", arguments: Engine.allCases)
        func download(engine: Engine) async throws {
            server.route(.get, "/film") { [content] _ in LoopbackResponse(content: .fixed(content)) }
            server.route(.get, "/unknown") { [content] _ in LoopbackResponse(content: .chunked([content, content])) }
            let service = try service(engine)
            let memory = watch(service.task(Film(), as: .data))
            _ = try await memory.value
            #expect(memory.progress.download.fraction == 1)
            #expect(try await Exchange.eventually { seen.value.contains { $0.download.total == 3_000_000 } })
            let file = service.task(Film(), as: .file(at: scratch.file("copy")))
            _ = try await file.value
            #expect(file.progress.download.completed == 3_000_000)
            let meter = RequestProgress.Meter()
            let body = try await service.request(
                Film(path: "unknown"), as: .stream, with: RequestSettings { $0.progress = meter })
            #expect(meter.current.download.completed == 0)
            #expect(meter.current.download.fraction == nil)
            #expect(try await body.collect(upTo: .max).count == 6_000_000)
            #expect(meter.current.download.completed == 6_000_000)
        }

        @Test("While a response is received into memory, its progress grows", arguments: Engine.allCases)
        func growing(engine: Engine) async throws {
            let isSeen = Box(false)
            server.route(.get, "/film") { _ in
                LoopbackResponse(
                    content: .written(length: 200_000) { writer in
                        try writer.write(Data(count: 100_000))
                        while !isSeen.value { usleep(1_000) }
                        try writer.write(Data(count: 100_000))
                    })
            }
            defer { isSeen.change { $0 = true } }
            let task = try service(engine).task(Film(), as: .data)
            #expect(try await Exchange.eventually { task.progress.download.completed > 0 })
            #expect(task.progress.download.completed <= 100_000 && task.progress.download.total == 200_000)
            isSeen.change { $0 = true }
            #expect(try await task.value.count == 200_000)
        }

        @Test("An encoded body has a fraction: that of its encoded bytes", arguments: Engine.allCases)
        func encoded(engine: Engine) async throws {
            let isSeen = Box(engine != .curl)
            server.route(.get, "/film") { _ in
                // Two blocks of deflate without compression (RFC 1951 section 3.2.4).
                let blocks = [0, 1].map { Data([$0, 0x50, 0xC3, 0xAF, 0x3C]) + Data(repeating: 7, count: 50_000) }
                return LoopbackResponse(
                    headers: [.contentEncoding: "deflate"],
                    content: .written(length: 100_010) { writer in
                        try writer.write(blocks[0])
                        while !isSeen.value { usleep(1_000) }
                        try writer.write(blocks[1])
                    })
            }
            defer { isSeen.change { $0 = true } }
            for target in [nil, scratch.file("film")] {
                isSeen.change { $0 = engine != .curl }
                let task: RequestTask<Int>
                if let target {
                    task = try service(engine).task(Film(), as: .file(at: target)).map { _ in 100_000 }
                } else {
                    task = try service(engine).task(Film(), as: .data).map(\.count)
                }
                if engine == .curl {
                    try #require(await Exchange.eventually { task.progress.download.fraction ?? 0 > 0.4 })
                    #expect(task.progress.download.fraction ?? 1 < 0.6)
                }
                isSeen.change { $0 = true }
                #expect(try await task.value == 100_000)
                #expect(task.progress.download.completed == 100_000)
                if engine == .curl { #expect(task.progress.download.fraction == 1) }
            }
        }

        @Test("The body of an error response does not count as progress")
        func errorPage() async throws {
            server.route(.get, "/film") { [content] _ in
                LoopbackResponse(.internalServerError, content: .fixed(content))
            }
            let task = try service(.preferred).task(Film(), as: .data)
            await #expect(throws: NetworkError.self) { _ = try await task.value }
            #expect(task.progress == RequestProgress())
        }

        @Test("A Foundation.Progress reports the progress of the call and can cancel it")
        func foundation() async throws {
            server.route(.get, "/film") { [content] _ in LoopbackResponse(content: .fixed(content)) }
            server.route(.get, "/endless") { _ in
                LoopbackResponse(
                    content: .written(length: 1 << 40) { while true { try $0.write(Data(count: 10_000)) } })
            }
            let task = try service(.preferred).task(Film(), as: .file(at: scratch.file("copy")))
            let progress = task.foundationProgress
            _ = try await task.value
            #expect(try await Exchange.eventually { progress.isFinished })
            #expect(progress.totalUnitCount == 3_000_000)
            let endless = try service(.preferred).task(
                Film(path: "endless"), as: .file(at: scratch.file("endless")))
            let other = endless.foundationProgress
            #expect(try await Exchange.eventually { other.completedUnitCount > 100_000 })
            other.cancel()
            await #expect(throws: GeneralRequestError.cancelled) { _ = try await endless.value }
        }
    }
}
