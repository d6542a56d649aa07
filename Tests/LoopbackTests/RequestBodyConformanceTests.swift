import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Conformance: request bodies")
    struct RequestBodyConformanceTests {
        /// Responds with the method, the framing and the body of the request.
        private static func echo(_ request: LoopbackRequest) async throws -> LoopbackResponse {
            let framing = request.headers["Transfer-Encoding"] ?? request.headers[.contentLength] ?? "none"
            // CFNetwork writes "Chunked".
            return .text(
                "\(request.method) \(framing.lowercased()) \(String(decoding: try await request.data(), as: UTF8.self))"
            )
        }

        @Test(
            "The body of a reader is sent in full, even if the reader is not ready at first",
            arguments: Engine.allCases)
        func hesitant(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared(), Self.echo)
            let body = HTTPBody.source(length: nil, isReplayable: true) { HesitantReader(["one ", "two ", "three"]) }
            #expect(try await exchange.send(exchange.request(.post, "/", body: body)).text.hasSuffix(" one two three"))
        }

        @Test(
            "The chunks of a sequence or of an input stream are sent, with a known length and without",
            arguments: Engine.allCases, [nil, 600_000])
        func streamed(engine: Engine, length: Int?) async throws {
            let exchange = try Exchange(engine.shared(), Self.echo)
            let chunk = Data(repeating: UInt8(ascii: "a"), count: 30_000)
            let chunks = AsyncStream<Data> { continuation in
                for _ in 0..<20 { continuation.yield(chunk) }
                continuation.finish()
            }
            let whole = Data(repeating: UInt8(ascii: "a"), count: 600_000)
            for body in [.stream(chunks, length: length), HTTPBody.stream(length: length) { InputStream(data: whole) }]
            {
                let text = try await exchange.send(exchange.request(.post, "/", body: body)).text
                #expect(text.count > 600_000 && text.utf8.suffix(600_000).allSatisfy { $0 == UInt8(ascii: "a") })
            }
            let wrong = HTTPBody.stream(length: 100) { InputStream(data: whole) }
            #expect(await exchange.failure(try exchange.request(.post, "/", body: wrong))?.kind == .bodyUnreadable)
        }

        @Test(
            "A body is sent with its length, or in chunks if the length is not known; never with both", .row("L27"),
            arguments: Engine.allCases)
        func framing(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared(), Self.echo)
            let known = try exchange.request(.put, "/", body: .string("text"))
            #expect(try await exchange.send(known).text == "PUT 4 text")
            let open = HTTPBody.source(length: nil, isReplayable: true) { try HTTPBody.string("text").open() }
            let framing = engine == .urlSessionOnLinux ? "4" : "chunked"
            #expect(try await exchange.send(exchange.request(.put, "/", body: open)).text == "PUT \(framing) text")
        }

        @Test("A request that sets Content-Length or Transfer-Encoding fails", .row("L27"), arguments: Engine.allCases)
        func framingByHand(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared(), Self.echo)
            for field in [HTTPHeader(.contentLength, "4"), HTTPHeader("Transfer-Encoding", "chunked")] {
                var request = try exchange.request(.post, "/", body: .string("text"))
                request.headers.set(field)
                #expect(await exchange.failure(request)?.kind == .invalidRequest)
            }
            #expect(exchange.server.acceptedConnections == 0)
        }

        @Test(
            "A POST or PUT without a body has Content-Length: 0; on libcurl, a PATCH has it, too",
            arguments: Engine.allCases, [HTTPMethod.post, .put, .patch])
        func noContent(engine: Engine, method: HTTPMethod) async throws {
            let exchange = try Exchange(engine.shared(), Self.echo)
            let framing = engine == .urlSession && method != .post && method != .put ? ["0", "none"] : ["0"]
            let text = try await exchange.send(exchange.request(method)).text
            #expect(framing.contains { text == "\(method) \($0) " }, "\(text)")
        }

        @Test("A HEAD with a body causes an error before anything is sent", arguments: Engine.allCases)
        func bodyOnHead(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared(), Self.echo)
            let error = await exchange.failure(try exchange.request(.head, "/", body: .string("text")))
            #expect(error?.kind == .invalidRequest)
            #expect(exchange.server.acceptedConnections == 0)
        }

        @Test("A large body is sent without waiting for 100 Continue", arguments: Engine.allCases)
        func expect(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared()) { request in
                .text("\(request.headers["Expect"] ?? "none") \(try await request.data().count)")
            }
            let body = HTTPBody.data(Data(repeating: 7, count: 3 << 20))
            #expect(try await exchange.send(exchange.request(.put, "/", body: body)).text == "none \(3 << 20)")
        }

        @Test(
            "With an Expect field, the body is sent after the server's 100 Continue"
        )
        func continues() async throws {
            let early = Box(0)
            let server = try RawServer { connection in
                guard connection.readHead() else { return }
                early.change { $0 = connection.available(within: 100) }
                connection.write("HTTP/1.1 100 Continue\r\n\r\n")
                guard connection.read(5) == Data("hello".utf8) else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
            var request = HTTPRequest(.put, server.url, headers: ["Expect": "100-continue"], body: .string("hello"))
            request.timeouts.idle = .seconds(15)
            let response = try await Engine.preferred.shared().send(request, delivering: .buffered(limit: 100))
            #expect(response.text == "ok")
            #expect(early.value == 0, "the body arrived before 100 Continue was sent")
        }

        @Test(
            "A body that is shorter than its stated length causes a clear error; the call does not hang",
            arguments: Engine.allCases)
        func tooShort(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared(), Self.echo)
            let body = HTTPBody.source(length: 10, isReplayable: true) { try HTTPBody.string("text").open() }
            let error = await exchange.failure(try exchange.request(.post, "/", body: body))
            #expect(error?.kind == .bodyUnreadable)
            #expect(error?.description.contains("expected 10 bytes, found 4") == true)
        }

        @Test(
            "A body longer than its stated length causes a clear error if one read returns bytes beyond that length",
            arguments: Engine.allCases, [2, 4])
        func tooLong(engine: Engine, length: Int) async throws {
            let exchange = try Exchange(engine.shared(), Self.echo)
            let body = HTTPBody.source(length: length, isReplayable: true) { HesitantReader(["four", "more"]) }
            let error = await exchange.failure(try exchange.request(.post, "/", body: body))
            #expect(length == 4 || error?.kind == .bodyUnreadable)
            let whole = HTTPBody.source(length: length, isReplayable: true) { try HTTPBody.string("fourmore").open() }
            let other = await exchange.failure(try exchange.request(.post, "/", body: whole))
            #expect(other?.kind == .bodyUnreadable)
            #expect(other?.description.contains("expected \(length) bytes, found more") == true)
        }

        @Test(
            "If a body reader returns an impossible count, the call ends at once, and the error names the reader",
            arguments: Engine.allCases, [0, -1, 1 << 30])
        func impossibleCount(engine: Engine, count: Int) async throws {
            final class Boastful: HTTPBody.Reader {
                let count: Int
                init(_ count: Int) { self.count = count }
                func read(into buffer: UnsafeMutableRawBufferPointer) -> HTTPBody.ReadResult { .bytes(count) }
            }
            let exchange = try Exchange(engine.shared(), Self.echo)
            for length in [nil, 100] {
                let body = HTTPBody.source(length: length, isReplayable: true) { Boastful(count) }
                let error = await exchange.failure(try exchange.request(.post, "/", body: body))
                #expect(error?.kind == .bodyUnreadable)
                #expect(error?.description.contains("Boastful") == true)
            }
        }

        @Test(
            "The error that a body reader throws is the underlying error of the call's error",
            arguments: Engine.allCases)
        func failingReader(engine: Engine) async throws {
            struct DiskGone: Error {}
            final class Failing: HTTPBody.Reader {
                func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult { throw DiskGone() }
            }
            let exchange = try Exchange(engine.shared(), Self.echo)
            let body = HTTPBody.source(length: nil, isReplayable: true) { Failing() }
            let error = await exchange.failure(try exchange.request(.post, "/", body: body))
            #expect(error?.kind == .bodyUnreadable)
            #expect(error?.underlying is DiskGone)
        }

        @Test("A call whose body reader returns no bytes ends with the idle timeout", arguments: Engine.allCases)
        func stalledSource(engine: Engine) async throws {
            final class Silent: HTTPBody.Reader {
                func read(into buffer: UnsafeMutableRawBufferPointer) -> HTTPBody.ReadResult { .notYet }
            }
            let exchange = try Exchange(engine.shared(), Self.echo)
            var request = try exchange.request(
                .post, "/", body: .source(length: nil, isReplayable: false) { Silent() })
            request.timeouts.idle = .milliseconds(100)
            #expect(await exchange.failure(request)?.kind == .idleTimedOut)
            #expect(engine != .urlSessionOnLinux || exchange.server.acceptedConnections == 0)
        }

        @Test("A slow body reader does not block other calls", .row("L21"), arguments: Engine.allCases)
        func slowSource(engine: Engine) async throws {
            let exchange = try Exchange(engine.shared(), Self.echo)
            let body = HesitantReader(["one ", "two"], isHeld: true)
            let slow = try exchange.request(.post, "/", body: .source(length: nil, isReplayable: false) { body })
            let upload = Task { try await exchange.send(slow).text }
            for _ in 0..<10 { #expect(try await exchange.send(exchange.request()).status == .ok) }
            body.release()
            #expect(try await upload.value.hasSuffix("one two"))
        }

        @Test(
            "If the server closes the connection during an upload, the call fails", .row("L42"),
            arguments: Engine.allCases)
        func closedWhileSending(engine: Engine) async throws {
            let exchange = try Exchange(engine.make()) { _ in .text("").failing(.resetBeforeHead) }
            let body = HTTPBody.data(Data(count: 8 << 20))
            for _ in 0..<10 {
                let error = await exchange.failure(try exchange.request(.put, "/", body: body))
                #expect(error?.kind == .connectionLostBeforeHead)
            }
        }

        @Test("A response that arrives before the whole body has been sent is returned", arguments: Engine.allCases)
        func earlyAnswer(engine: Engine) async throws {
            let exchange = try Exchange(engine.make()) { _ in .text("no", status: .contentTooLarge) }
            let body = HTTPBody.data(Data(count: 4 << 20))
            #expect(try await exchange.send(exchange.request(.put, "/", body: body)).status == .contentTooLarge)
        }
    }
}
