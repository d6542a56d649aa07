#if os(Linux)
    import Foundation
    import Networking
    import NetworkingTesting

    /// Sends requests through a proxy that refuses, resets, delays and silences connections, and checks the guarantees
    /// that a caller relies on.
    struct ChaosBenchmark: Benchmark {
        let name = "chaos"
        let explanation =
            "20,000 GETs and POSTs, 64 at once, 200 event streams and 50 downloads, over HTTP/2 through a proxy of chaos."

        struct Wrong: Error, CustomStringConvertible {
            let description: String
        }

        /// The time within which each call must end: 11 attempts, each with its timeouts and delay.
        private static let longest = Duration.seconds(11 * 4)

        func run(_ report: Report, isQuick: Bool) async throws {
            let backend = ChaosBackend()
            let server = try backend.start()
            let nginx = try await NginxProcess(proxying: server.url, requests: 50)
            let seed = 20_261_127
            let proxy = try ServerProcess(["serve-chaos", "\(nginx.url.port ?? 0)", "\(seed)"])
            guard let url = URL(string: "https://127.0.0.1:\(proxy.url.port ?? 0)/") else { throw URLError(.badURL) }
            let tls = TLSConfiguration(trust: .file(nginx.certificate))
            let transport = try CurlTransport(CurlTransport.Configuration(tls: tls))
            let service = NetworkService(environment: NetworkEnvironment(baseURL: url)) {
                $0.transport = transport
                $0.concurrencyLimit = nil
                $0.retry = RetryPolicy(retries: 10, backoff: .constant(.milliseconds(20)))
                $0.settings.timeouts = HTTPRequest.Timeouts(idle: .seconds(2), connect: .seconds(1))
                $0.settings.maximumAttempts = 11
            }
            let count = isQuick ? 1_000 : 20_000
            for method in [HTTPMethod.get, .post] {
                let start = ContinuousClock.now
                let failures = try await calls(method, count, on: service, backend)
                add("\(method)", count, since: start, report, note: "\(failures) failed, none of them wrongly")
            }
            var start = ContinuousClock.now
            let streams = isQuick ? 20 : 200
            try await together(streams) { try await stream($0, on: service) }
            add("event streams", streams, since: start, report, note: "each event once, in order")
            start = ContinuousClock.now
            let downloads = isQuick ? 5 : 50
            try await together(downloads) { try await download($0, on: service, backend) }
            add("downloads", downloads, since: start, report, note: "every file is right")
        }

        private func add(
            _ subject: String, _ count: Int, since start: ContinuousClock.Instant, _ report: Report, note: String
        ) {
            let wall = (ContinuousClock.now - start) / .seconds(1)
            report.add(
                Row(subject: subject, concurrency: 64, callsPerSecond: Double(count) / wall, wall: wall, note: note))
        }

        /// Runs an action for each number below `count`, 64 at a time.
        private func together(_ count: Int, _ action: @escaping @Sendable (Int) async throws -> Void) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<64 {
                    group.addTask {
                        for number in stride(from: worker, to: count, by: 64) { try await action(number) }
                    }
                }
                try await group.waitForAll()
            }
        }

        /// - Returns: The number of calls that failed. The kind of each error says that the server may have executed
        ///   the call.
        private func calls(
            _ method: HTTPMethod, _ count: Int, on service: NetworkService, _ backend: ChaosBackend
        ) async throws -> Int {
            let failures = Counter()
            try await together(count) { number in
                let path = "\(method.rawValue.lowercased())/\(number)"
                let call = AdHocEndpoint(method, "\(method.rawValue.lowercased())/\(number)")
                let start = ContinuousClock.now
                do {
                    _ = try await service.response(method == .post ? call.body(.string("text")) : call, as: .data)
                    guard method == .get || backend.executions(of: path) == 1 else {
                        throw Wrong(description: "\(path) succeeded, executed \(backend.executions(of: path)) times")
                    }
                } catch let wrong as Wrong {
                    throw wrong
                } catch {
                    failures.add()
                    try judge(error, method, backend.executions(of: path), path)
                }
                let time = start.duration(to: .now)
                guard time < ChaosBenchmark.longest else { throw Wrong(description: "\(path) took \(time)") }
            }
            return failures.value
        }

        /// Checks the error of a call.
        private func judge(_ error: any Error, _ method: HTTPMethod, _ executions: Int, _ path: String) throws {
            let cause = (error as? GeneralRequestError)?.cause ?? error as? NetworkError
            let mayBeExecuted: [NetworkError.Kind] = [
                .connectionLostBeforeHead, .connectionLostAfterHead, .idleTimedOut, .truncatedBody,
            ]
            guard method == .post, let kind = cause?.kind, mayBeExecuted.contains(kind), executions < 2 else {
                throw Wrong(description: "\(path) failed, executed \(executions) times: \(error)")
            }
        }

        private func stream(_ number: Int, on service: NetworkService) async throws {
            var next = 1
            let rule = ServerSentEvent.Reconnection(delay: .milliseconds(100), statuses: [.badGateway])
            for try await event in service.events(.get("events/\(number)"), reconnecting: rule) {
                guard event.id == "\(next)" else {
                    throw Wrong(description: "stream \(number): event \(event.id), expected \(next)")
                }
                next += 1
                if next > ChaosBackend.events { return }
            }
            throw Wrong(description: "stream \(number) ended before event \(next)")
        }

        private func download(_ number: Int, on service: NetworkService, _ backend: ChaosBackend) async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("chaos-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let target = FileDestination(folder.appendingPathComponent("file"), resuming: .sameAddress)
            for attempt in 0... {
                do {
                    let url = try await service.request(.get("file/\(number)"), as: .file(target))
                    guard try Data(contentsOf: url) == backend.file else {
                        throw Wrong(description: "download \(number) is wrong")
                    }
                    return
                } catch let wrong as Wrong {
                    throw wrong
                } catch { guard attempt < 20 else { throw Wrong(description: "download \(number): \(error)") } }
            }
        }
    }

    /// A counter that several tasks increment.
    private final class Counter: @unchecked Sendable {  // because of the lock around its variable
        private let lock = NSLock()
        private var count = 0

        var value: Int { lock.withLock { count } }

        func add() { lock.withLock { count += 1 } }
    }

    /// The server behind nginx and the proxy.
    final class ChaosBackend: @unchecked Sendable {  // because of the lock around its variable
        /// The number of events of a stream.
        static let events = 30
        let file = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        private let lock = NSLock()
        private var counts: [String: Int] = [:]

        func executions(of path: String) -> Int { lock.withLock { counts["/" + path] ?? 0 } }

        func start() throws -> LoopbackServer {
            try LoopbackServer { [self] request in
                _ = try await request.data()
                if request.path.hasPrefix("/events") { return events(after: request.headers["Last-Event-ID"]) }
                if request.path.hasPrefix("/file") { return .content(file, tag: "\"v\"", for: request) }
                lock.withLock { counts[request.path, default: 0] += 1 }
                return .text("ok")
            }
        }

        private func events(after id: String?) -> LoopbackResponse {
            let first = (id.flatMap { Int($0) } ?? 0) + 1
            return LoopbackResponse(
                .ok, headers: [.contentType: "text/event-stream"],
                content: .written(length: nil) { writer in
                    for number in stride(from: first, through: ChaosBackend.events, by: 1) {
                        try writer.write(Data("id: \(number)\ndata: \(number)\n\n".utf8))
                        usleep(20_000)
                    }
                })
        }
    }
#endif
