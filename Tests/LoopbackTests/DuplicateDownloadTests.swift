import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Duplicate downloads")
    struct DuplicateDownloadTests {
        private let scratch: Scratch
        private let server: LoopbackServer
        private let content = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
        private let count = Box(0)
        private let mayEnd = Box(false)

        /// Each request of `/held` receives the first half of the file, and the second half when `mayEnd` is true. The
        /// first request of `/film` does too; every later one receives the content or the range that it requests.
        init() throws {
            scratch = try Scratch()
            server = try LoopbackServer()
            let (content, count, mayEnd) = (content, count, mayEnd)
            let held: @Sendable (LoopbackRequest) -> LoopbackResponse = { _ in
                LoopbackResponse(
                    headers: [.eTag: "\"1\""],
                    content: .written(length: content.count) { writer in
                        try writer.write(content.prefix(200_000))
                        while !mayEnd.value { usleep(1_000) }
                        try writer.write(content.dropFirst(200_000))
                    })
            }
            server.route(.get, "/held", held)
            server.route(.get, "/film") { request in
                count.change { $0 += 1 }
                return count.value == 1 ? held(request) : .content(content, tag: "\"1\"", for: request)
            }
        }

        private func service(_ engine: Engine, _ policy: DuplicateRequestPolicy) throws -> NetworkService {
            let transport = try engine.shared()
            return NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
                $0.duplicates = policy
            }
        }

        private func download(
            _ name: String, _ service: NetworkService, _ resuming: FileDestination.ResumeRule = .never,
            from path: EndpointPath = "film"
        ) -> RequestTask<URL> {
            let target = scratch.url.appendingPathComponent(name)
            return service.task(.get(path), as: .file(at: target, overwriting: .replace, resuming: resuming))
        }

        /// Waits until a part of the first half has arrived.
        private func begin(_ task: RequestTask<URL>) async throws {
            while task.progress.download.completed < 100_000 { try await Task.sleep(for: .milliseconds(2)) }
        }

        private func isCancelled(_ task: RequestTask<URL>) async -> Bool {
            do { _ = try await task.value } catch { return error as? GeneralRequestError == .cancelled }
            return false
        }

        @Test(
            "With `keepFirst`, the second download is cancelled while the first download is in progress", .row("I-54"),
            arguments: Engine.allCases)
        func keepFirst(engine: Engine) async throws {
            let service = try service(engine, .always(.keepFirst))
            let first = download("a", service)
            try await begin(first)
            #expect(await isCancelled(download("b", service)))
            mayEnd.change { $0 = true }
            #expect(try Data(contentsOf: await first.value) == content)
            #expect(count.value == 1)
            #expect(try Data(contentsOf: await download("b", service).value) == content, "the first download has ended")
        }

        @Test(
            "With `replace`, the first download is cancelled, and closes its file before the second starts",
            .row("I-54"),
            arguments: Engine.allCases, [FileDestination.ResumeRule.never, .sameAddress])
        func replace(engine: Engine, resuming: FileDestination.ResumeRule) async throws {
            defer { mayEnd.change { $0 = true } }
            let service = try service(engine, .always(.replace))
            let first = download("a", service, resuming)
            try await begin(first)
            let second = download("a", service, resuming)
            #expect(await isCancelled(first))
            #expect(try Data(contentsOf: await second.value) == content)
            #expect(count.value == 2)
        }

        @Test("With `join`, both downloads are sent, because calls do not share a file", arguments: Engine.allCases)
        func join(engine: Engine) async throws {
            let service = try service(engine, .always(.join))
            let first = download("a", service)
            try await begin(first)
            #expect(try Data(contentsOf: await download("b", service).value) == content)
            mayEnd.change { $0 = true }
            #expect(try Data(contentsOf: await first.value) == content)
            #expect(count.value == 2)
        }

        @Test(
            "Downloads that are cancelled at once change nothing: the first is replaced, and the last completes",
            arguments: Engine.allCases)
        func cancelled(engine: Engine) async throws {
            defer { mayEnd.change { $0 = true } }
            let service = try service(engine, .always(.replace))
            let first = download("a", service, from: "held")
            try await begin(first)
            // Tasks that were created at once can reach the transport in any order: only one that was created after
            // the others ended is certain to be the last.
            let others = (0..<5).map { _ in download("a", service, from: "held") }
            for other in others { other.cancel() }
            for other in others { #expect(await isCancelled(other)) }
            let last = download("a", service, from: "held")
            #expect(await isCancelled(first))
            mayEnd.change { $0 = true }
            #expect(try Data(contentsOf: await last.value) == content)
        }

        @Test("The retries of a call are not its duplicates", arguments: Engine.allCases)
        func retries(engine: Engine) async throws {
            let (content, tries) = (content, Box(0))
            server.route(.get, "/flaky") { request in
                switch tries.change({
                    $0 += 1; return $0
                }) {
                case 1: LoopbackResponse(content: .fixed(content)).failing(.truncate(after: 100_000))
                case 2: .text("later", status: .serviceUnavailable)
                default: .content(content, tag: "\"1\"", for: request)
                }
            }
            let transport = try engine.shared()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
                $0.duplicates = .always(.keepFirst)
                $0.retry = RetryPolicy(retries: 3)
            }
            let target = scratch.url.appendingPathComponent("a")
            let file = try await service.request(.get("flaky"), as: .file(at: target))
            #expect(try Data(contentsOf: file) == content && tries.value == 3)
        }
    }
}
