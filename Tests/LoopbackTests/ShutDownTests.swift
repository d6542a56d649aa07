import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Shutting down")
    struct ShutDownTests {
        private func shutDown(_ transport: any Transport, draining limit: Duration) async {
            if let transport = transport as? URLSessionTransport { await transport.shutDown(draining: limit) }
            #if os(Linux)
                if let transport = transport as? CurlTransport { await transport.shutDown(draining: limit) }
            #endif
        }

        @Test("A draining transport rejects new calls and waits for calls in progress", arguments: Engine.allCases)
        func drains(engine: Engine) async throws {
            let transport = try engine.make()
            let exchange = try Exchange(transport) { request in
                request.path == "/" ? .text("probe") : .text(request.path).delayed(by: .milliseconds(300))
            }
            let calls = try (0..<5).map { index in
                let request = try exchange.request(
                    index == 0 ? .post : .get, "/\(index)", body: index == 0 ? .string("x") : .empty)
                return Task { try await exchange.send(request).text }
            }
            #expect(try await Exchange.eventually { exchange.server.requestCount == 5 })
            let end = Task { await shutDown(transport, draining: .seconds(20)) }
            // The other task starts the shutdown at an unknown time. Until then, the transport sends calls.
            let probe = try exchange.request()
            for _ in 0..<500 where await exchange.failure(probe) == nil { try await Task.sleep(for: .milliseconds(2)) }
            #expect(await exchange.failure(probe)?.kind == .transportShutDown)
            let sent = exchange.server.requestCount
            for (index, call) in calls.enumerated() { #expect(try await call.value == "/\(index)") }
            await end.value
            #expect(await exchange.failure(probe)?.kind == .transportShutDown)
            #expect(exchange.server.requestCount == sent)
        }

        @Test("Calls in progress end when the draining limit is reached", arguments: Engine.allCases)
        func limit(engine: Engine) async throws {
            let transport = try engine.make()
            let exchange = try Exchange(transport) { _ in .text("never").failing(.stallBeforeHead) }
            let requests = try [exchange.request(), exchange.request(.post, "/", body: .string("x"))]
            let calls = requests.map { request in Task { await exchange.failure(request)?.kind } }
            #expect(try await Exchange.eventually { exchange.server.requestCount == 2 })
            let start = ContinuousClock.now
            await shutDown(transport, draining: .milliseconds(200))
            for call in calls { #expect(await call.value == .transportShutDown) }
            #expect(ContinuousClock.now - start < .seconds(5))
        }

        @Test("If a transport is shut down twice, both shutdowns end at the shorter limit", arguments: Engine.allCases)
        func twice(engine: Engine) async throws {
            let transport = try engine.make()
            let exchange = try Exchange(transport) { _ in .text("never").failing(.stallBeforeHead) }
            let request = try exchange.request()
            let call = Task { await exchange.failure(request)?.kind }
            #expect(try await Exchange.eventually { exchange.server.requestCount == 1 })
            let start = ContinuousClock.now
            let long = Task { await shutDown(transport, draining: .seconds(60)) }
            try await Task.sleep(for: .milliseconds(100))
            await shutDown(transport, draining: .milliseconds(100))
            await long.value
            #expect(await call.value == .transportShutDown)
            #expect(ContinuousClock.now - start < .seconds(5))
        }

        @Test("An idle transport shuts down immediately", arguments: Engine.allCases)
        func idle(engine: Engine) async throws {
            let transport = try engine.make()
            let exchange = try Exchange(transport)
            _ = try await exchange.send(exchange.request())
            let start = ContinuousClock.now
            await shutDown(transport, draining: .seconds(60))
            #expect(ContinuousClock.now - start < .seconds(5))
        }
    }
}
