#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    /// Requests that libcurl lets wait for the connection of another request.
    extension Loopback.CurlFaultTests {
        /// Returns a server that never responds to the first request on its first connection.
        private func server(received: Box<Int>) throws -> RawServer {
            try RawServer { connection in
                guard connection.read(HTTP2.preface.count) == HTTP2.preface else { return }
                _ = connection.write(HTTP2.settings())
                while let stream = connection.readHeaders() {
                    received.change { $0 += 1 }
                    if connection.number > 0 || stream > 1 { connection.write([UInt8](HTTP2.hello(on: stream))) }
                }
            }
        }

        /// Many requests that begin while the first one waits do not wait for long either.
        func noQueue() async throws {
            guard try !Engine.hasLossyHTTP2() else { return }
            let transport = try CurlTransport(CurlTransport.Configuration(threads: 1, httpVersions: .http2))
            let received = Box(0)
            let server = try server(received: received)
            let request = HTTPRequest(.get, server.url, timeouts: .init(idle: .seconds(15)))
            let first = Task { try await send(request, transport) }
            #expect(try await Exchange.eventually { received.value == 1 })
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<100 { group.addTask { try await send(request, transport).text } }
                for try await text in group { #expect(text == "hello") }
            }
            #expect(start.duration(to: .now) < .seconds(5))
            let hasOwnConnections = try CurlLibrary.loaded.get().has(.sharedPlainHTTP2)
            let connections = await transport.connections().open
            #expect(hasOwnConnections || connections < 80, "\(connections)")
            first.cancel()
            _ = await first.result
        }

        /// A request does not wait for the response to another request, whether that request still waits or has been
        /// cancelled.
        func noWaits() async throws {
            guard try !Engine.hasLossyHTTP2() else { return }
            let transport = try CurlTransport(CurlTransport.Configuration(threads: 1, httpVersions: .http2))
            for isCancelled in [false, true] {
                let received = Box(0)
                let server = try server(received: received)
                let request = HTTPRequest(.get, server.url, timeouts: .init(idle: .seconds(15)))
                let first = Task { try await send(request, transport) }
                #expect(try await Exchange.eventually { received.value == 1 })
                if isCancelled {
                    first.cancel()
                    _ = await first.result
                }
                let start = ContinuousClock.now
                let second = try await send(request, transport)
                #expect(second.text == "hello")
                #expect(start.duration(to: .now) < .seconds(5), "isCancelled: \(isCancelled)")
                for _ in 0..<20 { _ = try await send(request, transport) }
                #expect(start.duration(to: .now) < .seconds(5), "one after another, isCancelled: \(isCancelled)")
                first.cancel()
                _ = await first.result
            }
        }
    }
#endif
