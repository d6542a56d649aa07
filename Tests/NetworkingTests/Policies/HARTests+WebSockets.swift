import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// The messages of WebSockets, as browsers write them.
extension HARTests {
    private func talk(_ recorder: any RequestObserver, count: Int = 1) async throws -> NetworkService {
        let stub = StubTransport()
        stub.on(
            .get, "/v1/chat",
            .webSocket { socket in
                while let message = try await socket.receive() { socket.send(message) }
            })
        stub.on(.get, "/v1/other", .status(.ok))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = Fixture.stillClock
            $0.observers = [recorder]
        }
        let socket = service.webSocket(.get("chat"), .init { $0.pingInterval = nil })
        var reader = socket.makeAsyncIterator()
        for _ in 0..<count {
            try await socket.send(#"{"token":"secret","name":"Ada"}"#)
            try await socket.send(Data([0xFF, 0x00]))
            for _ in 0..<2 { _ = try await reader.next() }
        }
        await socket.close()
        return service
    }

    @Test("The entry of a handshake has the messages of its socket, with what the redaction shows of them")
    func messages() async throws {
        let (all, some, none) = (
            HARRecorder(redaction: .revealed), HARRecorder(redaction: .standard.allowing(fields: ["name"])),
            HARRecorder()
        )
        for recorder in [all, some, none] { _ = try await talk(recorder) }
        let entry = try #require(all.archive.log.entries.first)
        #expect(entry.resourceType == "websocket" && entry.response.status == 101)
        let messages = try #require(entry.messages)
        #expect(messages.map(\.type) == ["send", "send", "receive", "receive"])
        #expect(messages.map(\.opcode) == [1, 2, 1, 2])
        #expect(messages.map(\.data) == [#"{"token":"secret","name":"Ada"}"#, "/wA=", messages[0].data, "/wA="])
        #expect(messages.allSatisfy { $0.time == Fixture.stillClock.date().timeIntervalSince1970 })
        try HARChecker.check(all.archive.encoded())
        #expect(try HARArchive(data: all.archive.encoded()) == all.archive)
        let shown = String(decoding: try some.archive.encoded(), as: UTF8.self)
        #expect(shown.contains("Ada") && !shown.contains("secret"))
        let hidden = String(decoding: try none.archive.encoded(), as: UTF8.self)
        #expect(!hidden.contains("Ada") && hidden.contains("<31 bytes>") && hidden.contains("<2 bytes>"))
    }

    @Test("After the most messages, and after its entry was removed, a socket adds nothing")
    func limits() async throws {
        let recorder = HARRecorder(redaction: .revealed)
        _ = try await talk(recorder, count: 2_501)
        let entry = try #require(recorder.archive.log.entries.first)
        #expect(entry.messages?.count == 10_000)
        #expect(entry.comment == "only the first 10000 messages were recorded")
        let small = HARRecorder(redaction: .revealed, limit: 1)
        let service = try await talk(small)
        try await service.request(.get("other"))
        let socket = service.webSocket(.get("chat"), .init { $0.pingInterval = nil })
        try await socket.connect()
        try await service.request(.get("other"))
        try await socket.send("late")
        #expect(small.archive.log.entries.map(\.response.status) == [200])
        await socket.close()
    }

    @Test("The log shows the kind and the size of a message, and its content only if the redaction does")
    func log() async throws {
        let lines = Box<[String]>([])
        _ = try await talk(LogObserver(level: .debug) { line in lines.change { $0.append(line.message) } })
        #expect(lines.value.contains("-> text, 31 bytes") && lines.value.contains("<- binary, 2 bytes"))
        #expect(!lines.value.contains { $0.contains("secret") })
    }
}
