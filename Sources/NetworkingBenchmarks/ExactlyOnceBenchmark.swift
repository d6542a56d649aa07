#if os(Linux)
    import Foundation
    import Networking
    import NetworkingTesting

    /// Sends requests through nginx, which often closes connections, and checks that each request is executed exactly
    /// once.
    struct ExactlyOnceBenchmark: Benchmark {
        let name = "exactly-once"
        let explanation =
            "20,000 POSTs, then 20,000 GETs, 64 at once, behind nginx with keepalive_requests 20: all executed once."

        private struct Wrong: Error, CustomStringConvertible {
            let description: String
        }

        func run(_ report: Report, isQuick: Bool) async throws {
            let counts = Counts()
            let backend = try LoopbackServer { request in
                _ = try await request.data()
                counts.add(request.path)
                return .text("ok")
            }
            let nginx = try await NginxProcess(proxying: backend.url)
            let count = isQuick ? 1_000 : 20_000
            for (versions, name) in [
                (CurlTransport.Configuration.HTTPVersions.preferHTTP2, "h2"), (.http1, "http/1.1"),
            ] {
                let transport = try CurlTransport(
                    CurlTransport.Configuration(
                        tls: TLSConfiguration(trust: .file(nginx.certificate)), httpVersions: versions))
                for method in [HTTPMethod.post, .get] {
                    counts.removeAll()
                    let start = ContinuousClock.now
                    try await send(method, count, to: nginx.url, on: transport)
                    let executed = counts.all
                    guard executed.count == count, executed.values.allSatisfy({ $0 == 1 }) else {
                        throw Wrong(
                            description: "\(method) over \(name): \(executed.count) of \(count) executed, "
                                + "some perhaps more than once")
                    }
                    let wall = (ContinuousClock.now - start) / .seconds(1)
                    report.add(
                        Row(
                            subject: "\(method) \(name)", concurrency: 64, callsPerSecond: Double(count) / wall,
                            wall: wall,
                            note: "\(count) executed once, 0 failed"))
                }
            }
        }

        private func send(_ method: HTTPMethod, _ count: Int, to url: URL, on transport: CurlTransport) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<64 {
                    group.addTask {
                        for index in stride(from: worker, to: count, by: 64) {
                            let body: HTTPBody = method == .post ? .string(#"{"name":"value"}"#) : .empty
                            let target = url.appendingPathComponent("p/\(index)")
                            let request = HTTPRequest(method, target, body: body, timeouts: .init(idle: .seconds(20)))
                            try await send(request, on: transport)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        /// Sends a request, and sends it again as long as the server has not processed it.
        private func send(_ request: HTTPRequest, on transport: CurlTransport) async throws {
            for _ in 0..<100 {
                do {
                    _ = try await transport.send(request, delivering: .buffered(limit: 1 << 16))
                    return
                } catch let error as NetworkError where error.kind == .notProcessed { continue }
            }
            throw Wrong(description: "\(request) was refused 100 times")
        }

        /// The number of executions of each path.
        private final class Counts: @unchecked Sendable {  // because of the lock around its variable
            private let lock = NSLock()
            private var counts: [String: Int] = [:]

            var all: [String: Int] { lock.withLock { counts } }

            func add(_ path: String) { lock.withLock { counts[path, default: 0] += 1 } }

            func removeAll() { lock.withLock { counts = [:] } }
        }
    }
#endif
