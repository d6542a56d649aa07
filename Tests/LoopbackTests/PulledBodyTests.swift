import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Pulled bodies on URLSession", .timeLimit(.minutes(1)))
    struct PulledBodyTests {
        private func stream(_ exchange: Exchange) async throws -> IncomingBody {
            let response = try await exchange.transport.send(exchange.request(), answering: .atHead)
            guard case .stream(let body) = response.content else { throw NetworkError(.unknown) }
            return body
        }

        @Test("The head comes before the body has ended, and the chunks are the body")
        func chunks() async throws {
            let exchange = try Exchange { _ in
                LoopbackAnswer(
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

        @Test("A slow reader stays within the bound: past it the body fails, and the transfer ends")
        func bound() async throws {
            let transport = URLSessionTransport(limits: .init(bufferedBytes: 1 << 20))
            let exchange = try Exchange(transport) { _ in
                LoopbackAnswer(
                    content: .written(length: nil) { writer in
                        while true { try writer.write(Data(count: 64 << 10)) }
                    })
            }
            let body = try await stream(exchange)
            #expect(try await Exchange.eventually { exchange.server.openConnections == 0 })
            var bytes = 0
            let error = await #expect(throws: NetworkError.self) {
                for try await chunk in body { bytes += chunk.count }
            }
            #expect(error?.kind == .responseTooLarge)
            #expect(bytes >= 1 << 20 && bytes < 2 << 20)
        }

        @Test("Dropping the body ends the transfer")
        func dropping() async throws {
            let exchange = try Exchange { _ in
                LoopbackAnswer(
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

        @Test("A body that is cut off throws at its end, after the bytes that came")
        func truncated() async throws {
            let exchange = try Exchange { _ in .text("hello world").failing(.truncate(after: 5)) }
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
