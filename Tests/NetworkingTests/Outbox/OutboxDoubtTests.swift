import Foundation
import Networking
import NetworkingOutbox
import NetworkingTesting
import Testing

@Suite("An outbox whose responses are lost", .endsInTime)
struct OutboxDoubtTests {
    @Test(
        "If the app wants to be asked, neither the outbox nor a retry repeats a write that may be executed",
        arguments: [
            StubResponse.failure(.connectionLostBeforeHead), .failure(.idleTimedOut), StubResponse(.badGateway),
            StubResponse(.internalServerError),
        ])
    func asks(_ answer: StubResponse) async throws {
        let fixture = try OutboxFixture {
            $0.retry = .standard
            $0.retry?.repeatsUnsafeRequests = true
        }
        fixture.stub.on(.post, "/notes", answer, StubResponse(.created))
        let outbox = try fixture.outbox(inDoubt: .ask)
        var changes = Changes(of: outbox)
        let entry = try await outbox.enqueue(NoteEndpoint.add("hi"), order: "a")
        let end = try await fixture.whileTimePasses { try await changes.nextEnd() }
        guard case .inDoubt = end.state else {
            Issue.record("found \(end)")
            return
        }
        #expect(fixture.stub.requests.count == 1)
        #expect(try await outbox.sendAgain(entry.id))
        _ = try await changes.next { $0.state.isEnd }
        #expect(fixture.keys == [entry.idempotencyKey, entry.idempotencyKey])
    }

    @Test("A write that was certainly not executed is sent again without asking")
    func certain() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(
            .post, "/notes", StubResponse(.serviceUnavailable), .failure(.cannotConnect),
            StubResponse(.tooManyRequests),
            StubResponse(.created))
        let outbox = try fixture.outbox(inDoubt: .ask)
        var changes = Changes(of: outbox)
        let entry = try await outbox.enqueue(NoteEndpoint.add("hi"))
        let end = try await fixture.whileTimePasses { try await changes.nextEnd() }
        #expect(end.state == .sent(.created, body: Data()))
        #expect(fixture.keys == Array(repeating: entry.idempotencyKey, count: 4))
    }

    @Test("An entry whose process ended while it was sent is in doubt")
    func killed() async throws {
        let fixture = try OutboxFixture()
        let (hasArrived, mayEnd) = (Settlement<Void>(), Settlement<Void>())
        fixture.stub.on(.post, "/notes") { _ in
            hasArrived.settle(.success(()))
            try await mayEnd.value()
            return StubResponse(.created)
        }
        let copy = try TemporaryFolder()
        let outbox = try fixture.outbox(inDoubt: .ask)
        try await outbox.enqueue(NoteEndpoint.add("hi"))
        try await hasArrived.value()
        // What the next process finds if this one is killed now.
        try FileManager.default.copyItem(
            at: fixture.folder.url.appending(path: "outbox"), to: copy.url.appending(path: "outbox"))
        try FileManager.default.removeItem(at: copy.url.appending(path: "outbox/outbox.lease"))
        mayEnd.settle(.success(()))
        let next = try OutboxFixture(folder: copy)
        let other = try next.outbox(inDoubt: .ask)
        var changes = Changes(of: other)
        let end = try await changes.next { $0.state.needsDecision }
        #expect(end.state == .inDoubt(reason: "the process that sent it has ended"))
        #expect(next.stub.requests.isEmpty)
        #expect(try await other.drop(end.id))
    }

    @Test("A write whose response was lost, and whose time has passed, is in doubt and not only expired")
    func expired() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", .failure(.connectionLostBeforeHead))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        try await outbox.enqueue(NoteEndpoint.add("hi"), expires: .seconds(3600))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting }
        fixture.clock.advance(by: .seconds(3601))
        let end = try await fixture.whileTimePasses { try await changes.nextEnd() }
        #expect(end.state.needsDecision && "\(end)".contains("in doubt") && fixture.stub.requests.count == 1)
    }
}
