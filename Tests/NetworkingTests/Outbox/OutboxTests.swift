import Foundation
import Networking
import NetworkingOutbox
import NetworkingTesting
import Testing

@Suite("An outbox", .endsInTime)
struct OutboxTests {
    @Test("An entry is sent with its key, its token and its body, and its end is reported until it is acknowledged")
    func sent() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", StubResponse(.created, body: Data("7".utf8)))
        var outbox: Outbox? = try fixture.outbox()
        var changes = Changes(of: try #require(outbox))
        let receipt = try #require(try await outbox?.enqueue(NoteEndpoint.add("hi"), order: "notes"))
        #expect(receipt.state == .waiting && receipt.order == "notes" && receipt.owner == "ann")
        let end = try await changes.next { $0.state.isEnd }
        #expect(end.id == receipt.id && end.state == .sent(.created, body: Data("7".utf8)))
        #expect(fixture.texts == ["hi"] && fixture.keys == [receipt.idempotencyKey])
        #expect(fixture.stub.requests.first?.headers[.authorization] == "Bearer 1")

        outbox = nil
        let other = try fixture.outbox()
        var replayed = Changes(of: other)
        let again = try await replayed.next { _ in true }
        #expect(again.id == receipt.id && again.state == end.state)
        #expect((again.endpoint as? NoteEndpoint) == .add("hi"))
        try await other.acknowledge(receipt.id)
        #expect(fixture.files == ["outbox.lease"])
        #expect(fixture.stub.requests.count == 1)
    }

    @Test("An entry contains no token, and is a file that only its owner can read")
    func file() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", .failure(.notConnected))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        try await outbox.enqueue(NoteEndpoint.add("hi"))
        _ = try await changes.next { $0.state == .sending }
        let name = try #require(fixture.files.first { $0.hasSuffix(".entry") })
        let path = fixture.folder.url.appending(path: "outbox/\(name)").path
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let content = String(decoding: fixture.folder.files["outbox/\(name)"] ?? Data(), as: UTF8.self)
        #expect(content.contains("note") && !content.contains("Bearer") && !content.contains("Authorization"))
    }

    @Test("Entries of one order are sent one after the other, and a lost response is repeated with the same key")
    func order() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", .failure(.connectionLostBeforeHead), StubResponse(.created))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        for text in ["1", "2", "3"] { try await outbox.enqueue(NoteEndpoint.add(text), order: "a") }
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting && !fixture.texts.isEmpty }
        try await fixture.whileTimePasses { for _ in 0..<3 { _ = try await changes.next { $0.state.isEnd } } }
        #expect(fixture.texts == ["1", "1", "2", "3"])
        #expect(fixture.keys[0] == fixture.keys[1] && Set(fixture.keys).count == 3)
    }

    @Test("A refused entry holds back its order until the app decides; other orders go on")
    func refused() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes") { request in
            let isBad = request.body.data.map { String(decoding: $0, as: UTF8.self).contains("bad") } ?? false
            return StubResponse(isBad ? .unprocessableContent : .created, body: Data("no".utf8))
        }
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        let bad = try await outbox.enqueue(NoteEndpoint.add("bad"), order: "a")
        let next = try await outbox.enqueue(NoteEndpoint.add("next"), order: "a")
        let other = try await outbox.enqueue(NoteEndpoint.add("other"), order: "b")
        var ends: [UUID: Outbox.Entry.State] = [:]
        while ends.count < 2 {
            let end = try await changes.nextEnd()
            ends[end.id] = end.state
        }
        #expect(ends[other.id] == .sent(.created, body: Data("no".utf8)))
        guard case .refused(.unprocessableContent, let reason, Data("no".utf8)) = try #require(ends[bad.id]) else {
            Issue.record("found \(String(describing: ends[bad.id]))")
            return
        }
        #expect(reason.contains("422"))
        let waiting = try await outbox.pending(in: "a")
        #expect(waiting.map(\.id) == [bad.id, next.id] && waiting.last?.state == .behind(bad.id))

        #expect(try await outbox.edit(bad.id, to: NoteEndpoint.add("good")))
        for id in [bad.id, next.id] { #expect(try await changes.next { $0.state.isEnd }.id == id) }
        #expect(fixture.texts.filter { $0 != "other" } == ["bad", "good", "next"])
        #expect(Set(fixture.keys).count == 4)
        #expect(try await outbox.pending().isEmpty)
    }

    @Test("A refused entry that is sent again has a new key; one that is dropped is gone")
    func decisions() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", StubResponse(.conflict), StubResponse(.conflict), StubResponse(.created))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        let first = try await outbox.enqueue(NoteEndpoint.add("1"), order: "a")
        _ = try await changes.nextEnd()
        #expect(try await outbox.sendAgain(first.id))
        _ = try await changes.nextEnd()
        #expect(try await outbox.drop(first.id))
        #expect(try await changes.next { $0.state.isEnd }.state == .dropped)
        #expect(try await outbox.drop(first.id) == false)
        #expect(try await outbox.sendAgain(first.id) == false)
        #expect(Set(fixture.keys).count == 2 && fixture.files == ["outbox.lease"])
    }

    @Test("A redirect that leads a write to a log-in page has not executed it; 303 has")
    func redirects() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(
            .post, "/notes", StubResponse(.found, headers: ["Location": "/login"]),
            StubResponse(.seeOther, headers: ["Location": "/notes/1"]))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        let entry = try await outbox.enqueue(NoteEndpoint.add("hi"))
        let end = try await changes.nextEnd()
        #expect(end.state.needsDecision && "\(end)".contains("302"), "\(end)")
        #expect(try await outbox.sendAgain(entry.id))
        #expect(try await changes.next { $0.state.isEnd }.state == .sent(.created, body: Data()))
        #expect(Set(fixture.stub.requests.compactMap { $0.headers[.idempotencyKey] }) == [entry.idempotencyKey])
    }

    @Test("A write that another process has dropped is not sent, even if its call has begun")
    func droppedElsewhere() async throws {
        let (hasBegun, mayGoOn) = (Settlement<Void>(), Settlement<Void>())
        let fixture = try OutboxFixture {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { (_: inout HTTPRequest, _: any Endpoint) async throws in
                    hasBegun.settle(.success(()))
                    try await mayGoOn.value()
                }
            ])
        }
        let outbox = try fixture.outbox(inDoubt: .ask)
        try await outbox.enqueue(NoteEndpoint.add("hi"))
        try await hasBegun.value()
        let name = try #require(fixture.files.first { $0.hasSuffix(".entry") })
        try FileManager.default.removeItem(at: fixture.folder.url.appending(path: "outbox/\(name)"))
        mayGoOn.settle(.success(()))
        while try await outbox.pending().count > 0 { await Task.yield() }
        #expect(fixture.stub.requests.isEmpty)
    }

    @Test("The entry says why its last attempt has failed")
    func failure() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", .failure(.tlsFailed), StubResponse(.created))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        #expect(try await outbox.enqueue(NoteEndpoint.add("1")).failure == nil)
        _ = try await changes.next { $0.state == .sending }
        let failure = try await changes.next { $0.state == .waiting }.failure
        #expect(failure?.contains("TLS") == true, "\(failure ?? "none")")
        #expect(try await outbox.pending().first?.failure == failure)
        let end = try await fixture.whileTimePasses { try await changes.next { $0.state.isEnd } }
        #expect(end.failure == nil)
    }

    @Test("A flush counts what can be sent without a decision, also if another process has sent it")
    func flushCount() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", StubResponse(.unprocessableContent))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        try await outbox.enqueue(NoteEndpoint.add("1"), order: "a")
        try await outbox.enqueue(NoteEndpoint.add("2"), order: "a")
        _ = try await changes.next { $0.state.needsDecision }
        #expect(await outbox.flush(within: .seconds(60)) == 0)
        let other = try fixture.outbox()
        #expect(await other.flush(within: .seconds(60)) == 0)
        let hasBeenRead = Box(false)
        fixture.stub.on(.post, "/public") { _ in
            while !hasBeenRead.value { await Task.yield() }
            return StubResponse(.created)
        }
        let entry = try await outbox.enqueue(NoteEndpoint.publish("3"))
        #expect(try await other.pending().contains { $0.id == entry.id })
        hasBeenRead.change { $0 = true }
        _ = try await fixture.whileTimePasses { try await changes.next { $0.id == entry.id && $0.state.isEnd } }
        try await outbox.acknowledge(entry.id)
        #expect(await other.flush(within: .zero) == 0)
    }
}
