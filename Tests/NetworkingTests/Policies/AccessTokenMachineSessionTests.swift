import Foundation
import Testing

@testable import Networking

@Suite("Access token machine: sessions and stores", .endsInTime)
struct AccessTokenMachineSessionTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)

    private func machine(_ token: AccessToken? = AccessToken("old")) -> AccessTokenMachine {
        AccessTokenMachine(token: token, session: UUID(), at: now)
    }

    @Test("Rule 11: a call of an ended session is neither sent nor repeated with a token of another session")
    func sessions() throws {
        var machine = machine()
        let alice = SessionTicket.Member(of: machine.sessionNumber)
        let sent = machine.generation
        _ = machine.set(nil, session: UUID(), at: now)
        _ = machine.set(AccessToken("bob"), session: UUID(), at: now)
        guard case .closed = machine.passage(of: alice, at: now) else { return #expect(Bool(false), "it may be sent") }
        #expect(machine.arrive(2, of: sent, session: alice.session).failed == [2])
        #expect(machine.wait(1, of: alice, toPassAt: now).failed == [1])
    }

    @Test("Rule 11: a refreshed or replaced token keeps the session; assigning a token starts a new session")
    func sameSession() throws {
        var machine = machine()
        let session = machine.session
        _ = machine.refuse()
        _ = machine.succeed(1, AccessToken("new"), at: now)
        #expect(machine.session == session && machine.token?.session == session)
        _ = machine.replace(AccessToken("rotated"), at: now)
        #expect(machine.session == session && machine.token?.session == session)
        _ = machine.set(AccessToken("mine"), session: UUID(), at: now)
        #expect(machine.session != session)
    }

    @Test("Rule 11: a new session fails the waiters of the old one, also those that began while nobody was logged in")
    func waitersOfSessions() {
        var machine = machine(AccessToken("old", expiresAt: now - 1))
        _ = machine.pass(1, at: now)
        #expect(machine.set(nil, session: UUID(), at: now).failed == [1])
        let loggedOut = SessionTicket.Member(of: machine.sessionNumber)
        _ = machine.set(AccessToken("bob"), session: UUID(), at: now)
        #expect(machine.wait(2, of: loggedOut, toPassAt: now).failed == [2])
    }

    @Test("Rules 3 and 11: a request of the app with the token before the current one keeps its own mark")
    func previousToken() throws {
        var machine = machine()
        for number in 1...3 { _ = machine.replace(AccessToken("user \(number)"), at: now) }
        let (old, session) = (machine.generation, machine.sessionNumber)
        #expect(old != session)
        _ = machine.replace(AccessToken("rotated"), at: now)
        #expect(machine.sessionNumber == session && machine.generation != old)
        let mark = machine.mark(ofToken: "user 3", in: SessionTicket.Member(of: session))
        let known = try #require(try mark?.get())
        #expect(known.generation == old && known.session == session)
        #expect(machine.mark(ofToken: "user 2", in: SessionTicket.Member(of: session)) == nil)
    }

    @Test("Rule 11: a call that begins before the store is read belongs to the session of the store")
    func beforeReading() throws {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        let job = try #require(machine.load().jobs.first)
        _ = machine.pass(1, at: now)
        let alice = AccessToken("alice", session: UUID())
        #expect(machine.succeed(job, with: alice, from: .elsewhere, isKept: true, at: now).released == [1])
    }

    @Test("Rule 11: if another user logs in before the store is read, a waiting call ends")
    func logInBeforeReading() {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        _ = machine.load()
        _ = machine.pass(1, at: now)
        #expect(machine.set(AccessToken("bob"), session: UUID(), at: now).failed == [1])
    }

    /// Returns a machine whose store has been read.
    private func stored(_ token: AccessToken?) -> AccessTokenMachine {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        let job = machine.load().jobs[0]
        if let token {
            _ = machine.succeed(job, with: token, from: .elsewhere, isKept: true, at: now)
        } else {
            _ = machine.findNothing(job, at: now)
        }
        return machine
    }

    @Test(
        "Rule 12: requests wait for the store; if reading fails, the requests fail, and the next request reads again"
    )
    func loading() throws {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        let job = try #require(machine.load().jobs.first)
        #expect(job.kind == .load)
        #expect(machine.pass(1, at: now).isEmpty)
        #expect(machine.fail(job, with: RefreshFailed(), isLogOut: false).failed == [1])
        let again = try #require(machine.pass(2, at: now).jobs.first)
        #expect(again.kind == .load)
        let token = AccessToken("stored", session: UUID())
        #expect(machine.succeed(again, with: token, from: .elsewhere, isKept: true, at: now).released == [2])
        #expect(machine.token == token && machine.session == token.session && machine.keeping == nil)
    }

    @Test("Rule 12: a log-out takes effect at once; the removal is pending until the store no longer has the token")
    func removal() throws {
        var machine = stored(AccessToken("old", session: UUID()))
        let ended = machine.session
        _ = machine.set(nil, session: UUID(), at: now)
        #expect(machine.token == nil)
        #expect(machine.keeping?.change == .remove(sessions: [ended]))
        machine.noteKept(generation: machine.keeping?.generation ?? -1)
        #expect(machine.keeping == nil)
    }

    @Test("Rule 12: the first read of the store releases the waiters, even if it ends late, during a second read")
    func lateLoad() throws {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        let first = try #require(machine.load().jobs.first)
        _ = machine.passTimeLimit(of: first, with: RefreshFailed())
        #expect(machine.pass(1, at: now).isEmpty)
        let second = try #require(machine.passTimeLimit(of: first, with: RefreshFailed()).jobs.first)
        #expect(machine.findNothing(first, at: now).released == [1])
        #expect(machine.findNothing(second, at: now).isEmpty)
    }

    @Test("Rule 12: a log-out before the store has been read removes any token from the store")
    func removalOfUnknown() {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        _ = machine.load()
        _ = machine.set(nil, session: UUID(), at: now)
        #expect(machine.keeping?.change == .remove(sessions: nil))
    }

    @Test("Rule 12: a first token that could not be saved is saved later, even if it was refreshed in the meantime")
    func unsavedFirst() throws {
        var machine = stored(nil)
        for (id, value) in [(2, "first"), (3, "second")] {
            _ = machine.refuse()
            _ = machine.succeed(machine.job(id), with: AccessToken(value), from: .refresh, isKept: false, at: now)
        }
        let change = try #require(machine.keeping?.change)
        #expect(change.step(finding: nil) == .write(machine.token))
    }

    @Test("Rule 12: a change by another process is applied, unless the token has changed since the store was read")
    func found() {
        var machine = stored(AccessToken("old", session: UUID()))
        let generation = machine.generation
        let bob = AccessToken("bob", session: UUID())
        #expect(machine.find(bob, generation: generation, session: UUID(), at: now).announcements == ["refreshed"])
        #expect(machine.session == bob.session)
        #expect(machine.find(nil, generation: generation, session: UUID(), at: now).isEmpty)
        let now = machine.find(nil, generation: machine.generation, session: UUID(), at: now)
        #expect(now.announcements == ["sessionOver"] && machine.token == nil)
    }

    @Test("Rule 15: without a token, the user is logged out: calls are sent, and a refusal starts no refresh")
    func loggedOut() {
        var machine = machine(nil)
        #expect(machine.isOpen(at: now))
        #expect(machine.refuse(0).isEmpty && machine.arrive(1).failed == [1])
    }

    @Test("Rule 15: the first token is fetched before the first call, for all calls at once, and not after a log-out")
    func fetchesFirst() {
        var machine = AccessTokenMachine(token: nil, session: UUID(), form: .fetchesFirst, at: now)
        #expect(machine.pass(1, at: now).refreshIDs == [1])
        #expect(machine.pass(2, at: now).isEmpty)
        #expect(machine.fail(1, RefreshFailed(), isLogOut: false).failed == [1, 2])
        #expect(machine.pass(3, at: now).refreshIDs == [2])
        #expect(machine.succeed(2, AccessToken("first"), at: now).released == [3])
        _ = machine.set(nil, session: UUID(), at: now)
        #expect(machine.isOpen(at: now) && machine.refuse().isEmpty)
    }

    @Test("Rule 15: if the server rejects the first fetch, the next call tries again")
    func rejectedFetch() {
        var machine = AccessTokenMachine(token: nil, session: UUID(), form: .fetchesFirst, at: now)
        _ = machine.pass(1, at: now)
        #expect(machine.fail(1, AccessToken.Rejected(), isLogOut: true).announcements == ["unreachable"])
        #expect(machine.pass(2, at: now).refreshIDs == [2])
    }

    @Test("Rule 15: a fixed token is never refreshed, and its refusal ends the call only")
    func fixed() {
        var machine = AccessTokenMachine(
            token: AccessToken("key", expiresAt: now - 1), session: UUID(), form: .fixed, at: now)
        #expect(machine.isOpen(at: now) && machine.refuse().isEmpty)
        #expect(machine.arrive(1).failed == [1])
        #expect(machine.isOpen(at: now) && machine.token != nil)
    }
}
