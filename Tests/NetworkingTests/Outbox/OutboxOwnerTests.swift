import Foundation
import Networking
import NetworkingTesting
import Testing

@testable import NetworkingOutbox

@Suite("The owners of an outbox's entries", .endsInTime)
struct OutboxOwnerTests {
    private func token(_ value: String, of user: String) -> AccessToken {
        AccessToken(value, userInfo: ["user": user])
    }

    @Test("An entry waits for its owner, and is sent with the owner's token after the next log-in")
    func waits() async throws {
        let fixture = try OutboxFixture()
        let session = try #require(fixture.session)
        fixture.stub.on(.post, "/notes", StubResponse(.serviceUnavailable), StubResponse(.created))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        let entry = try await outbox.enqueue(NoteEndpoint.add("ann"))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting }
        session.accessToken = nil
        session.accessToken = token("2", of: "ben")
        let other = try await outbox.enqueue(NoteEndpoint.add("ben"))
        #expect(try await changes.next { $0.state.isEnd }.id == other.id)
        #expect(try await outbox.pending().isEmpty, "the entries of others are not shown")
        session.accessToken = token("3", of: "ann")
        #expect(try await outbox.pending().map(\.id) == [entry.id])
        let end = try await fixture.whileTimePasses { try await changes.next { $0.state.isEnd } }
        #expect(end.id == entry.id)
        #expect(fixture.texts == ["ann", "ben", "ann"])
        #expect(fixture.stub.requests.map { $0.headers[.authorization] } == ["Bearer 1", "Bearer 2", "Bearer 3"])
    }

    @Test("By default, each log-in is another owner")
    func eachLogIn() async throws {
        let fixture = try OutboxFixture()
        let session = try #require(fixture.session)
        session.accessToken = AccessToken("1")
        fixture.stub.on(.post, "/notes", StubResponse(.serviceUnavailable), StubResponse(.created))
        let outbox = try fixture.outbox(owner: nil)
        var changes = Changes(of: outbox)
        try await outbox.enqueue(NoteEndpoint.add("first"))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting }
        session.accessToken = AccessToken("2")
        let second = try await outbox.enqueue(NoteEndpoint.add("second"))
        let end = try await fixture.whileTimePasses { try await changes.next { $0.state.isEnd } }
        #expect(end.id == second.id && fixture.texts == ["first", "second"])
    }

    @Test("A token without the id of its session has no owner that a restart keeps")
    func unnamed() async throws {
        let fixture = try OutboxFixture()
        let outbox = try fixture.outbox(owner: nil)
        await #expect { try await outbox.enqueue(NoteEndpoint.add("hi")) } throws: { error in
            (error as? NetworkError)?.kind == .noToken && "\(error)".contains("owner")
        }
        #expect(fixture.files.allSatisfy { !$0.hasSuffix(".entry") })
    }

    @Test("Nobody writes with a token while nobody is logged in; a write without a token needs no owner")
    func nobody() async throws {
        let fixture = try OutboxFixture()
        fixture.session?.accessToken = nil
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        await #expect { try await outbox.enqueue(NoteEndpoint.add("hi")) } throws: {
            ($0 as? NetworkError)?.kind == .noToken
        }
        let entry = try await outbox.enqueue(NoteEndpoint.publish("all"))
        #expect(entry.owner == nil)
        _ = try await changes.next { $0.state.isEnd }
        #expect(fixture.stub.requests.map { $0.headers[.authorization] } == [nil])
    }

    @Test("The entries of a user who logs out are removed, if the app has chosen so, and their end is reported")
    func dropped() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", StubResponse(.serviceUnavailable))
        let outbox = try fixture.outbox(dropsAtLogOut: true)
        var changes = Changes(of: outbox)
        let entry = try await outbox.enqueue(NoteEndpoint.add("secret"))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting }
        fixture.session?.accessToken = nil
        let end = try await changes.next { $0.state.isEnd }
        #expect(end.id == entry.id && end.state == .dropped && end.endpoint == nil)
        #expect(!fixture.folder.files.values.contains { String(decoding: $0, as: UTF8.self).contains("secret") })
        try await outbox.acknowledge(entry.id)
        #expect(fixture.files == ["outbox.lease"])
    }

    @Test("A session that is over is no log-out: its entries stay, and go on after the next log-in of its user")
    func over() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", StubResponse(.unauthorized), StubResponse(.created))
        let outbox = try fixture.outbox(dropsAtLogOut: true)
        var changes = Changes(of: outbox)
        let entry = try await outbox.enqueue(NoteEndpoint.add("hi"))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.id == entry.id && $0.state != .sending }
        #expect(fixture.session?.isOver == true)
        #expect(try await outbox.pending().map(\.id) == [entry.id])
        fixture.session?.accessToken = token("2", of: "ann")
        let end = try await fixture.whileTimePasses { try await changes.next { $0.state.isEnd } }
        #expect(end.state == .sent(.created, body: Data()) && Set(fixture.keys).count == 1)
    }

    @Test("A write of a session that is over does not belong to the user who logs in before it is stored")
    func ownerOfEarlierSession() async throws {
        let fixture = try OutboxFixture()
        let session = try #require(fixture.session)
        fixture.stub.on(.post, "/notes", StubResponse(.unauthorized))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        _ = try await outbox.pending()
        session.replace(AccessToken("2"))  // a token that does not name its user
        try await outbox.enqueue(NoteEndpoint.add("hi"))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state != .sending }
        #expect(session.isOver)
        let ended = try await fixture.service.client.writeSession(fetching: false)
        #expect(try await outbox.core.owner(of: NoteEndpoint.add("x"), in: ended) == "ann")
        session.accessToken = token("3", of: "ben")
        _ = try await outbox.pending()
        let error = await #expect(throws: NetworkError.self) {
            try await outbox.core.owner(of: NoteEndpoint.add("x"), in: ended)
        }
        #expect(error?.kind == .noToken)
    }

    @Test("A refresh that does not keep the name of the user is no log-out, and its writes go on")
    func refreshWithoutName() async throws {
        let fixture = try OutboxFixture(refreshed: AccessToken("2"))
        fixture.stub.on(.post, "/notes", StubResponse(.unauthorized), StubResponse(.created))
        let outbox = try fixture.outbox(dropsAtLogOut: true)
        var changes = Changes(of: outbox)
        try await outbox.enqueue(NoteEndpoint.add("1"), order: "a")
        try await outbox.enqueue(NoteEndpoint.add("2"), order: "a")
        for _ in 0..<2 {
            let end = try await changes.next { $0.state.isEnd }
            #expect(end.state == .sent(.created, body: Data()) && end.owner == "ann")
        }
        #expect(try await outbox.enqueue(NoteEndpoint.add("3")).owner == "ann")
        #expect(Set(fixture.stub.requests.dropFirst().map { $0.headers[.authorization] }) == ["Bearer 2"])
    }

    @Test("A token whose user has no name removes nothing and sends nothing of others, and its writes are refused")
    func tokenWithoutName() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", StubResponse(.serviceUnavailable))
        let outbox = try fixture.outbox(dropsAtLogOut: true)
        var changes = Changes(of: outbox)
        let entry = try await outbox.enqueue(NoteEndpoint.add("1"))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting }
        fixture.session?.accessToken = AccessToken("2")
        #expect(try await changes.next { $0.state == .waitingForOwner }.id == entry.id)
        #expect(try await outbox.pending().isEmpty)
        await #expect { try await outbox.enqueue(NoteEndpoint.add("2")) } throws: { error in
            "\(error)".contains("`owner` has returned nil for the current token")
        }
        #expect(fixture.files.count { $0.hasSuffix(".entry") } == 1)
    }

    @Test("When a user logs out or in, it is published which entries wait for their user")
    func published() async throws {
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/notes", StubResponse(.serviceUnavailable))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        let entries = [
            try await outbox.enqueue(NoteEndpoint.add("1"), order: "a"),
            try await outbox.enqueue(NoteEndpoint.add("2"), order: "a"),
        ]
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.id == entries[0].id && $0.state == .waiting }
        fixture.session?.accessToken = nil
        let waiting = [try await changes.next { _ in true }, try await changes.next { _ in true }]
        #expect(waiting.map(\.id) == entries.map(\.id) && waiting.allSatisfy { $0.state == .waitingForOwner })
        fixture.session?.accessToken = token("2", of: "ann")
        for entry in entries { #expect(try await changes.next { $0.state == .waiting }.id == entry.id) }
    }

    @Test("A service without a session is not said to have an endpoint without authorization")
    func withoutSession() async throws {
        let fixture = try OutboxFixture(user: nil)
        fixture.stub.on(.post, "/notes", StubResponse(.unauthorized))
        let outbox = try fixture.outbox(owner: nil)
        var changes = Changes(of: outbox)
        try await outbox.enqueue(NoteEndpoint.add("1"))
        let end = try await changes.nextEnd()
        #expect("\(end)".contains("no session") && !"\(end)".contains("authorizationType"), "\(end)")
    }

    @Test("A store without the ids of sessions may contain another user's token, which gets no earlier name")
    func storeWithoutIDs() async throws {
        let fixture = try OutboxFixture(user: nil)
        fixture.stub.on(.post, "/notes", StubResponse(.serviceUnavailable))
        let store = MemoryTokenStore(token("1", of: "ann"))
        let session = AccessTokenSupervisor(store: store, clock: fixture.clock.networkClock) { _ in
            throw AccessToken.Rejected()
        }
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com")), authorizedBy: session
        ) {
            $0.transport = fixture.stub
            $0.clock = fixture.clock.networkClock
            $0.backoffGate = nil
        }
        let outbox = try Outbox(
            for: service, in: fixture.folder.url.appending(path: "outbox"), endpoints: OutboxFixture.kinds,
            owner: { $0?.userInfo["user"] })
        var changes = Changes(of: outbox)
        let entry = try await outbox.enqueue(NoteEndpoint.add("1"))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting }
        try await store.put(AccessToken("2"))
        store.notify()
        #expect(try await changes.next { $0.state == .waitingForOwner }.id == entry.id)
        #expect(await outbox.flush(within: .zero) == 0)
        #expect(fixture.stub.requests.map { $0.headers[.authorization] } == ["Bearer 1"])
    }
}
