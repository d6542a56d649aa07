import Foundation
import Networking
import NetworkingOutbox
import NetworkingTesting
import Testing

@Suite("The waits of an outbox", .endsInTime)
struct OutboxTimeTests {
    @Test("An entry whose time passes offline ends as expired, and the next one of its order is sent")
    func expires() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", .failure(.notConnected), StubResponse(.created))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        let first = try await outbox.enqueue(NoteEndpoint.add("1"), order: "a", expires: .seconds(60))
        let second = try await outbox.enqueue(NoteEndpoint.add("2"), order: "a")
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting && $0.id == first.id }
        fixture.clock.advance(by: .seconds(61))
        // The outbox may have computed its next wait before the advance, and begin it after the advance.
        let (end, next) = try await fixture.whileTimePasses {
            (try await changes.next { $0.state.isEnd }, try await changes.next { $0.state.isEnd })
        }
        #expect(end.id == first.id && end.state == .expired)
        #expect(next.id == second.id && fixture.texts == ["1", "2"])
    }

    @Test("After a time without a network, all orders go on")
    func offline() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(nil, nil, .failure(.notConnected), .failure(.notConnected), StubResponse(.created))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        for order in ["a", "b", "c", "d", "e", "f"] { try await outbox.enqueue(NoteEndpoint.add(order), order: order) }
        var ends = 0
        try await fixture.whileTimePasses {
            while ends < 6 {
                _ = try await changes.next { $0.state.isEnd }
                ends += 1
            }
        }
        #expect(Set(fixture.texts) == ["a", "b", "c", "d", "e", "f"])
    }

    @Test("A flush does not wait for the next attempt, but keeps a pause that the server asked for")
    func flush() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/public", StubResponse(.serviceUnavailable, headers: ["Retry-After": "600"]))
        fixture.stub.on(.post, "/notes", .failure(.notConnected), StubResponse(.created))
        let outbox = try fixture.outbox(concurrent: 1)
        var changes = Changes(of: outbox)
        let asked = try await outbox.enqueue(NoteEndpoint.publish("1"))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting && $0.id == asked.id }
        try await outbox.enqueue(NoteEndpoint.add("2"))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting && $0.id != asked.id }
        #expect(await outbox.flush(within: .seconds(30)) == 1)
        #expect(fixture.texts == ["1", "2", "2"])
        #expect(try await outbox.pending().map(\.id) == [asked.id])
    }

    @Test("No more entries are sent at the same time than the app allows, and orders are served in turn")
    func fairness() async throws {
        let fixture = try OutboxFixture()
        let mayEnd = Settlement<Void>()
        let (running, most) = (Box(0), Box(0))
        fixture.stub.on(.post, "/notes") { _ in
            running.change { $0 += 1 }
            most.change { $0 = max($0, running.value) }
            try await mayEnd.value()
            running.change { $0 -= 1 }
            return StubResponse(.created)
        }
        let outbox = try fixture.outbox(concurrent: 2)
        var changes = Changes(of: outbox)
        for number in 0..<6 { try await outbox.enqueue(NoteEndpoint.add("long\(number)"), order: "long") }
        for order in ["b", "c"] { try await outbox.enqueue(NoteEndpoint.add(order), order: order) }
        mayEnd.settle(.success(()))
        for _ in 0..<8 { _ = try await changes.next { $0.state.isEnd } }
        #expect(most.value <= 2)
        #expect(fixture.texts.filter { $0.hasPrefix("long") } == (0..<6).map { "long\($0)" })
        #expect(try #require(fixture.texts.firstIndex(of: "c")) < 6)
    }
}
