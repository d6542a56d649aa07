import Foundation
import Testing

@testable import Networking

@Suite("Access token machine: sessions and stores")
struct AccessTokenMachineSessionTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)

    private func machine(_ token: AccessToken? = AccessToken("old")) -> AccessTokenMachine {
        AccessTokenMachine(token: token, session: UUID(), at: now)
    }

    @Test("Rule 11: a call of an ended session is neither sent nor repeated with a token of another session")
    func sessions() throws {
        var machine = machine()
        let alice = machine.session
        let sent = machine.generation
        _ = machine.set(nil, session: UUID(), at: now)
        _ = machine.set(AccessToken("bob"), session: UUID(), at: now)
        guard case .closed = machine.passage(of: alice, at: now) else { return #expect(Bool(false), "it may be sent") }
        #expect(machine.judge(refusalOfGeneration: sent, of: alice, hasRefreshed: false).0 == .giveUp)
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

    @Test("Rule 11: a new session fails the waiters of the old one, and releases calls that started without a session")
    func waitersOfSessions() throws {
        var machine = machine(AccessToken("old", expiresAt: now - 1))
        _ = machine.wait(1, of: machine.session, toPassAt: now)
        _ = machine.wait(2, of: nil, toPassAt: now)
        let effects = machine.set(AccessToken("bob"), session: UUID(), at: now)
        #expect(effects.failed == [1] && effects.released == [2])
    }

    /// Returns a machine whose store has been read.
    private func stored(_ token: AccessToken?) -> AccessTokenMachine {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        let job = machine.load().jobs[0]
        if let token {
            _ = machine.succeed(job, with: token, from: .elsewhere, isKept: true, at: now)
        } else {
            _ = machine.findNothing(job)
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
        #expect(machine.wait(1, of: nil, toPassAt: now).isEmpty)
        #expect(machine.fail(job, with: RefreshFailed(), isRejection: false).failed == [1])
        let again = try #require(machine.wait(2, of: nil, toPassAt: now).jobs.first)
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

    @Test("Rule 12: a second read of the store releases its waiters, even if the first read ends late")
    func lateLoad() throws {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        let first = try #require(machine.load().jobs.first)
        _ = machine.passTimeLimit(of: first, with: RefreshFailed())
        #expect(machine.wait(1, of: nil, toPassAt: now).isEmpty)
        let second = try #require(machine.passTimeLimit(of: first, with: RefreshFailed()).jobs.first)
        #expect(machine.findNothing(first).isEmpty)
        #expect(machine.findNothing(second).released == [1])
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

    @Test("If there is no token yet, the first refused request starts a refresh")
    func noTokenYet() {
        var machine = machine(nil)
        #expect(machine.isOpen(at: now))
        #expect(machine.refuse(0).1.refreshIDs == [1])
    }
}
