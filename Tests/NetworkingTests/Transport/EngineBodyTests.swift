import Foundation
import Testing

@testable import Networking

@Suite("A body as an engine sends and receives it", .endsInTime)
struct EngineBodyTests {
    @Test("A body that is reopened is read from its beginning, also if the engine has taken a part of a piece")
    func reopened() throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        var body = OutgoingBody(of: HTTPRequest(.post, url, body: .data(Data("abcdef".utf8))))
        func read(_ body: inout OutgoingBody, _ count: Int) throws -> String {
            var bytes = [UInt8](repeating: 0, count: count)
            let result = try bytes.withUnsafeMutableBytes { try body.read(into: $0) }
            guard case .bytes(let count) = result else { return "\(result)" }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
        try body.open {}
        #expect(try read(&body, 2) == "ab")
        body.close()
        try body.open {}
        #expect(try read(&body, 3) == "abc")
        #expect(try read(&body, 9) == "def")
    }

    @Test("A limit that is not positive takes no byte", arguments: [0, -1])
    func noByte(limit: Int) async throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let transfer = Networking.Transfer(HTTPRequest(.get, url), delivering: .buffered(limit: limit)) {
            BytePipe(capacity: 1)
        }
        transfer.receiveHead(ResponseHead(status: .ok, headers: []), facts: TransferFacts(), stop: {})
        let isTaken = Data("x".utf8).withUnsafeBytes { transfer.receive($0) } == .taken
        #expect(!isTaken)
    }

    @Test(
        "A cancelled reader ends even if the next bytes have already arrived",
        arguments: ["chunks", "lines", "values", "events"])
    func cancelledReader(of elements: String) async throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let pipe = BytePipe(capacity: 1 << 20)
        for _ in 0..<100 { #expect(pipe.write(Data(repeating: 0x0A, count: 9_000)) == .taken) }
        pipe.finish()
        let body = IncomingBody(pipe, of: HTTPRequest(.get, url))
        let reader = Task {
            while !Task.isCancelled { await Task.yield() }
            switch elements {
            case "chunks": for try await _ in body {}
            case "lines": for try await _ in (BodySequence { .init(BodyLines(body)) }) {}
            case "values":
                for try await _
                    in (BodySequence { .init(JSONElements<Int>(lines: BodyLines(body), decoder: JSONDecoder())) })
                {}
            default: for try await _ in (BodySequence { .init(ServerSentEvents(body)) }) {}
            }
        }
        reader.cancel()
        let error = await #expect(throws: NetworkError.self) { try await reader.value }
        #expect(error?.kind == .cancelled)
    }
}
