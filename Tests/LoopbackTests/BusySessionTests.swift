#if os(Linux)
    import Foundation
    import Networking
    import NetworkingTesting
    import Testing

    extension Loopback {
        /// What a server can do to Foundation's queue, which serves all sessions of a process (L21).
        @Suite("A busy queue of Foundation")
        struct BusySessionTests {
            private let innocent: LoopbackServer

            init() throws {
                innocent = try LoopbackServer()
                innocent.route(.get, "/") { _ in .text("hello") }
            }

            private func call(_ transport: any Transport, _ url: URL) async -> Result<HTTPResponse, any Error> {
                let request = HTTPRequest(.get, url)
                do {
                    return .success(try await transport.send(request, delivering: .buffered(limit: 1 << 20)))
                } catch {
                    return .failure(error)
                }
            }

            @Test(
                "While Foundation reads a head of thousands of fields, tasks of the process still run",
                .row("L19", "L21"))
            func pool() async throws {
                let fields = String(repeating: "a: b\r\n", count: 14_000)
                let isWritten = Box(false)
                let hostile = try RawServer { connection in
                    guard connection.readHead() else { return }
                    isWritten.change { $0 = true }
                    connection.write("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 0\r\n\r\n")
                    _ = connection.readHead()
                }
                let transport = try URLSessionTransport()
                let clock = ContinuousClock()
                let start = clock.now
                let slow = Task { await call(transport, hostile.url) }
                let worst = Task {
                    var worst = Duration.zero
                    while !Task.isCancelled {
                        worst = max(worst, await clock.measure { try? await Task.sleep(for: .milliseconds(10)) })
                    }
                    return worst
                }
                while !isWritten.value { await Task.yield() }
                try await Task.sleep(for: .milliseconds(50))
                // More calls than the process has threads for its tasks.
                let calls = (0..<ProcessInfo.processInfo.activeProcessorCount + 2).map { _ in
                    Task { await call(transport, innocent.url) }
                }
                for call in calls { #expect(try await call.value.get().text == "hello") }
                let busy = clock.now - start
                worst.cancel()
                let delay = await worst.value
                #expect(busy > .milliseconds(500), "the head no longer keeps Foundation busy")
                #expect(delay < busy / 2, "a task was delayed by \(delay) while Foundation was busy for \(busy)")
                _ = await slow.value
            }

            @Test("A redirect with a large body that is cancelled does not end the process", .row("L51"))
            func cancelledRedirect() async throws {
                let body = String(repeating: "x", count: 2_000_000)
                let hostile = try RawServer { connection in
                    guard connection.readHead() else { return }
                    connection.write("HTTP/1.1 302 Found\r\nLocation: /ok\r\n\r\n\(body)")
                }
                let transport = try URLSessionTransport()
                for round in 0..<6 {
                    let sending = Task { await call(transport, hostile.url) }
                    let calls = (0..<3).map { _ in Task { await call(transport, innocent.url) } }
                    try await Task.sleep(for: .milliseconds(10 * (round + 1)))
                    sending.cancel()
                    _ = await sending.value
                    for call in calls { #expect(try await call.value.get().text == "hello") }
                }
            }
        }
    }
#endif
