import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Bodies from sequences and input streams", .endsInTime)
struct StreamBodyTests {
    private struct Broken: Error {}

    private func chunks(_ texts: [String], failing: Bool = false) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            for text in texts { continuation.yield(Data(text.utf8)) }
            continuation.finish(throwing: failing ? Broken() : nil)
        }
    }

    private func text(_ body: HTTPBody) async throws -> String {
        String(decoding: try #require(await body.collected().data), as: UTF8.self)
    }

    @Test("A body consists of the chunks of a sequence, which is read once")
    func sequence() async throws {
        let body = HTTPBody.stream(chunks(["a", "", "bc"]), length: 3)
        #expect(body.length == 3 && !body.isReplayable && body.headers.contentType == .octetStream)
        #expect(try await text(body) == "abc")
        let bytes = AsyncStream<[UInt8]> { continuation in
            continuation.yield([104, 105])
            continuation.finish()
        }
        #expect(try await text(.stream(bytes, contentType: nil)) == "hi")
    }

    @Test("If a closure creates the sequence, the body can be sent again")
    func factory() async throws {
        let body = HTTPBody.stream { chunks(["a", "b"]) }
        #expect(body.isReplayable && body.length == nil)
        for _ in 0..<2 { #expect(try await text(body) == "ab") }
    }

    @Test("An error of the sequence is an error of the body")
    func failing() async {
        let error = await Fixture.failure { _ = try await text(.stream(chunks(["a"], failing: true))) }
        #expect((error as? NetworkError)?.kind == .bodyUnreadable && (error as? NetworkError)?.underlying is Broken)
    }

    @Test("A sequence with another number of bytes than stated is an error before its last chunk is sent")
    func surplus() async throws {
        for texts in [["abcdef", "ghi"], ["abc", "defg"], ["abcdef", "", "g"]] {
            let reader = try HTTPBody.stream(chunks(texts), length: 6).open()
            var (sent, fault) = (0, nil as (any Error)?)
            while fault == nil {
                let isReady = Settlement<Void>()
                reader.onReady { isReady.settle(.success(())) }
                try await isReady.value()
                do {
                    try withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { buffer in
                        if case .bytes(let count) = try reader.read(into: buffer) { sent += count }
                    }
                } catch { fault = error }
            }
            #expect(sent < 6 && (fault as? NetworkError)?.kind == .bodyUnreadable)
            reader.close()
        }
        #expect(try await text(.stream(chunks(["abc", "def", ""]), length: 6)) == "abcdef")
    }

    @Test("The error of a response that is passed on is not the error of the request that passes it on")
    func passedOn() async throws {
        let url = try #require(URL(string: "https://source.example/secret"))
        let lost = NetworkError(.connectionLostAfterHead, request: HTTPRequest(.get, url))
        let body = IncomingBody(pull: { throw lost })
        let error = await Fixture.failure { _ = try await HTTPBody.stream(body).collected() } as? NetworkError
        #expect(error?.kind == .bodyUnreadable && error?.request == nil)
        #expect((error?.underlying as? NetworkError)?.kind == .connectionLostAfterHead)
    }

    @Test("The sequence is asked for the next chunk when the one before was sent, and ends when the body is closed")
    func pace() async throws {
        let asked = Box(0)
        let endless = AsyncStream<Data> {
            asked.change { $0 += 1 }
            return Data("abcdef".utf8)
        }
        let reader = try HTTPBody.stream(endless).open()
        for _ in 0..<3 {
            let isReady = Settlement<Void>()
            reader.onReady { isReady.settle(.success(())) }
            try await isReady.value()
            let counts = try withUnsafeTemporaryAllocation(byteCount: 4, alignment: 1) { buffer in
                try [reader.read(into: buffer), reader.read(into: buffer)]
            }
            #expect(counts == [.bytes(4), .bytes(2)])
        }
        for _ in 0..<100 { await Task.yield() }
        #expect((3...4).contains(asked.value))
        reader.close()
        for _ in 0..<100 { await Task.yield() }
        #expect((3...4).contains(asked.value), "nothing is read after the body was closed")
    }

    @Test("A form reads a part from an input stream, each time it is sent", .row("N-12"))
    func inputStream() async throws {
        let data = Data((0..<200_000).map { UInt8($0 & 0xFF) })
        let body = HTTPBody.stream(contentType: .png) { InputStream(data: data) }
        #expect(body.isReplayable && body.headers.contentType == .png)
        for _ in 0..<2 { #expect(try await body.collected().data == data) }
        let form = HTTPBody.multipart([.stream("s", fileName: "s.txt") { InputStream(data: Data("text".utf8)) }])
        #expect(
            try await text(form).contains(
                "filename=\"s.txt\"\r\nContent-Type: application/octet-stream\r\n\r\ntext\r\n"))
        let missing = URL(fileURLWithPath: "/nonexistent/file")
        for stream: @Sendable () -> InputStream? in [{ nil }, { InputStream(url: missing) }] {
            let error = await Fixture.failure { _ = try await text(.stream(stream)) }
            #expect((error as? NetworkError)?.kind == .bodyUnreadable)
        }
    }
}
