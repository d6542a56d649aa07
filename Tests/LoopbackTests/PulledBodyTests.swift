import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Conformance: streamed bodies")
    struct PulledBodyTests {
        private func stream(_ exchange: Exchange) async throws -> IncomingBody {
            let response = try await exchange.transport.send(exchange.request(), delivering: .streamed)
            guard case .stream(let body) = response.content else { throw NetworkError(.unknown) }
            return body
        }

        @Test("The head is returned before the body ends, and the chunks make up the body", arguments: Engine.allCases)
        func chunks(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                LoopbackResponse(
                    content: .written(length: nil) { writer in
                        for number in 0..<5 {
                            try writer.write(Data("\(number)".utf8))
                            Thread.sleep(forTimeInterval: 0.02)
                        }
                    })
            }
            var text = ""
            for try await chunk in try await stream(exchange) { text += String(decoding: chunk, as: UTF8.self) }
            #expect(text == "01234")
        }

        /// Starts a server that writes as fast as it can, and counts the bytes that its sockets accepted.
        private func flood(_ transport: any Transport) throws -> (Exchange, Count) {
            let count = Count()
            let exchange = try Exchange(transport) { _ in
                LoopbackResponse(
                    content: .written(length: nil) { writer in
                        while count.value < 64 << 20 {
                            try writer.write(Data(count: 64 << 10))
                            count.add(64 << 10)
                        }
                    })
            }
            return (exchange, count)
        }

        private final class Count: @unchecked Sendable {  // because of the lock
            private let lock = NSLock()
            private var bytes = 0

            var value: Int { lock.withLock { bytes } }
            func add(_ count: Int) { lock.withLock { bytes += count } }
        }

        #if os(Linux)
            @Test("A slow reader causes backpressure on the server, and receives every byte", .row("L22"))
            func backPressure() async throws {
                var configuration = CurlTransport.Configuration()
                configuration.limits.bufferedBytes = 1 << 20
                let (exchange, written) = try flood(CurlTransport(configuration))
                let body = try await stream(exchange)
                // The server stops writing when the buffers of the transport and of the two sockets are full.
                var held = 0
                while written.value == 0 || written.value > held {
                    held = written.value
                    try await Task.sleep(for: .milliseconds(300))
                }
                #expect(held < 24 << 20)
                var bytes = 0
                for try await chunk in body { bytes += chunk.count }
                #expect(bytes == 64 << 20)
            }

            @Test("Backpressure from a slow reader does not count as idle time")
            func heldBackIsNotIdle() async throws {
                let bytes = try await Exchange.atMostThreeTimes(until: { $0 != nil }) {
                    let (exchange, _) = try flood(CurlTransport())
                    var request = try exchange.request()
                    request.timeouts.idle = .seconds(1)
                    do {
                        let response = try await exchange.transport.send(request, delivering: .streamed)
                        guard case .stream(let body) = response.content else { return 0 }
                        try await Task.sleep(for: .seconds(2))
                        return try await body.reduce(0) { $0 + $1.count }
                    } catch let error as NetworkError where error.kind == .idleTimedOut {
                        return nil
                    }
                }
                #expect(bytes == 64 << 20)
            }

            @Test("A slow reader does not block other calls")
            func others() async throws {
                let transport = try CurlTransport()
                let (flood, _) = try flood(transport)
                let body = try await stream(flood)
                let other = try Exchange(transport)
                for _ in 0..<20 { #expect(try await other.send(other.request()).text == "hello") }
                _ = body
            }

            @Test("A fast download does not block other calls")
            func fastDownload() async throws {
                let transport = try CurlTransport(CurlTransport.Configuration(threads: 1))
                let (flood, written) = try flood(transport)
                let download = Task {
                    var bytes = 0
                    for try await chunk in try await stream(flood) { bytes += chunk.count }
                    return bytes
                }
                let other = try Exchange(transport)
                var longest = Duration.zero
                repeat {
                    let start = ContinuousClock.now
                    #expect(try await other.send(other.request()).text == "hello")
                    longest = max(longest, ContinuousClock.now - start)
                } while written.value < 64 << 20
                #expect(longest < .seconds(5))
                #expect(try await download.value == 64 << 20)
            }
        #endif

        @Test("The timing in a response has no total time until the body has ended", arguments: Engine.allCases)
        func timingAtHead(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared())
            let response = try await exchange.transport.send(exchange.request(), delivering: .streamed)
            #expect(response.timing.firstByte != nil)
            #expect(response.timing.total == nil)
        }

        @Test("On URLSession, the body fails if more bytes than the buffer limit wait for a slow reader", .row("L22"))
        func bound() async throws {
            let transport = try URLSessionTransport(limits: .init(bufferedBytes: 1 << 20))
            let (exchange, written) = try flood(transport)
            let body = try await stream(exchange)
            // More was written than the buffers of the sockets can hold, or the transfer has ended.
            let isFull = try await Exchange.eventually {
                written.value >= 32 << 20 || exchange.server.openConnections == 0
            }
            #expect(isFull)
            try await Task.sleep(for: .milliseconds(300))
            var bytes = 0
            let error = await #expect(throws: NetworkError.self) {
                for try await chunk in body { bytes += chunk.count }
            }
            #expect(error?.kind == .responseTooLarge)
            #expect(bytes >= 1 << 20 && bytes < 2 << 20)
        }

        @Test("Releasing the body cancels the transfer", arguments: Engine.allCases)
        func dropping(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in
                LoopbackResponse(
                    content: .written(length: nil) { writer in
                        while true {
                            try writer.write(Data(count: 1_024))
                            Thread.sleep(forTimeInterval: 0.005)
                        }
                    })
            }
            for try await _ in try await stream(exchange) { break }
            #expect(try await Exchange.eventually { exchange.server.openConnections == 0 })
        }

        @Test("A truncated body delivers the received bytes, and then throws an error", arguments: Engine.allCases)
        func truncated(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { _ in .text("hello world").failing(.truncate(after: 5)) }
            var text = ""
            var kind: NetworkError.Kind?
            do {
                for try await chunk in try await stream(exchange) { text += String(decoding: chunk, as: UTF8.self) }
            } catch let error as NetworkError {
                kind = error.kind
            }
            #expect(text == "hello")
            #expect(kind == .truncatedBody)
        }
    }
}
