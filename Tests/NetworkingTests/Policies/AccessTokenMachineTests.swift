import Foundation
import Testing

@testable import Networking

/// The rules of the token on the pure machine.
@Suite("The token's rules")
struct AccessTokenMachineTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)

    private func machine(_ token: AccessToken? = AccessToken("old")) -> AccessTokenMachine {
        AccessTokenMachine(token: token, session: UUID(), at: now)
    }

    @Test("Rule 1: many refusals of the current token start one refresh")
    func oneRefresh() {
        var machine = machine()
        let first = machine.refuse(0)
        let second = machine.refuse(0)
        #expect(first.0 == .waitForRefresh)
        #expect(first.1.refreshIDs == [1])
        #expect(second.0 == .waitForRefresh)
        #expect(second.1.isEmpty)
    }

    @Test("Rule 2: a refusal of an older token means sending again with the current one, and no refresh")
    func olderToken() {
        var machine = machine()
        _ = machine.replace(AccessToken("new"), at: now)
        let (judgement, effects) = machine.refuse(0)
        #expect(judgement == .repeatWithCurrent)
        #expect(effects.isEmpty)
    }

    @Test("Rule 3: a refusal of the current token waits for its refresh, and is then sent again")
    func currentToken() {
        var machine = machine()
        _ = machine.refuse(0)
        #expect(machine.awaitRefresh(1, of: 0).isEmpty)
        #expect(machine.succeed(1, AccessToken("new"), at: now).released == [1])
        #expect(machine.token == AccessToken("new"))
    }

    @Test("Rule 4: while a refresh runs nobody passes, and who waits is let go by its success")
    func waiting() {
        var machine = machine()
        #expect(machine.isOpen(at: now))
        _ = machine.refuse(0)
        #expect(!machine.isOpen(at: now))
        #expect(machine.wait(1, of: nil, toPassAt: now).isEmpty)
        #expect(machine.succeed(1, AccessToken("new"), at: now).released == [1])
        #expect(machine.isOpen(at: now))
    }

    @Test("Rule 5: a token that has expired, or will within 30 seconds, is refreshed before sending")
    func expiry() {
        let machine = machine(AccessToken("old", expiresAt: now + 3_600))
        #expect(machine.isOpen(at: now + 3_569))
        #expect(!machine.isOpen(at: now + 3_570))
        var expired = self.machine(AccessToken("old", expiresAt: now - 1))
        #expect(expired.wait(1, of: nil, toPassAt: now).refreshIDs == [1])
    }

    @Test("Rule 5: the leeway is never more than a tenth of the token's life")
    func shortLife() {
        let machine = machine(AccessToken("old", expiresAt: now + 20))
        #expect(machine.isOpen(at: now + 17.9))
        #expect(!machine.isOpen(at: now + 18))
    }

    @Test("Rule 5: a token fresh from a refresh is sent at least once")
    func freshToken() {
        var machine = machine(AccessToken("old", expiresAt: now - 1))
        _ = machine.wait(1, of: nil, toPassAt: now)
        _ = machine.succeed(1, AccessToken("new", expiresAt: now + 3), at: now)
        #expect(machine.isOpen(at: now + 5))
        machine.noteResponse(toGeneration: machine.generation)
        #expect(!machine.isOpen(at: now + 5))
    }

    @Test(
        "Rule 5: the expiry of a token that has expired on arrival is ignored until a refusal: the local clock is wrong"
    )
    func wrongClock() {
        var machine = machine(AccessToken("old", expiresAt: now - 1))
        _ = machine.wait(1, of: nil, toPassAt: now)
        _ = machine.succeed(1, AccessToken("new", expiresAt: now - 1), at: now)
        machine.noteResponse(toGeneration: machine.generation)
        #expect(machine.isOpen(at: now + 3_600))
        #expect(machine.refuse(nil).1.refreshIDs == [2])
    }

    @Test("Rule 5: the expiry of such a token counts again after a refusal, also of the call that had it refreshed")
    func wrongClockUntilRefusal() {
        var machine = machine(AccessToken("old", expiresAt: now - 1))
        _ = machine.wait(1, of: nil, toPassAt: now)
        _ = machine.succeed(1, AccessToken("new", expiresAt: now - 1), at: now)
        machine.noteResponse(toGeneration: machine.generation)
        let judged = machine.judge(
            refusalOfGeneration: machine.generation, of: machine.session, hasRefreshed: true)
        #expect(judged.0 == .giveUp && judged.1.isEmpty)
        #expect(!machine.isOpen(at: now))
    }

    @Test(
        "Rule 5: a token that the store has, and that has expired, is refreshed before those who waited for it are sent"
    )
    func expiredInTheStore() throws {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        let load = try #require(machine.load().jobs.first)
        #expect(machine.wait(1, of: nil, toPassAt: now).isEmpty)
        let expired = AccessToken("old", expiresAt: now - 1, session: UUID())
        let effects = machine.succeed(load, with: expired, from: .elsewhere, isKept: true, at: now)
        #expect(effects.released.isEmpty)
        let refresh = try #require(effects.jobs.first)
        #expect(refresh.kind == .refresh)
        let new = AccessToken("new", session: expired.session)
        #expect(machine.succeed(refresh, with: new, from: .refresh, isKept: true, at: now).released == [1])
    }

    @Test("Rule 6: a waiter that leaves is not answered, and the refresh goes on")
    func leaving() {
        var machine = machine()
        _ = machine.refuse(0)
        _ = machine.awaitRefresh(1, of: 0)
        machine.leave(1)
        #expect(machine.isRefreshing)
        #expect(machine.succeed(1, AccessToken("new"), at: now).released.isEmpty)
    }

    @Test("Rule 7: a failed refresh fails every waiter, tells once, and the next refusal may try again")
    func failure() {
        var machine = machine()
        _ = machine.refuse(0)
        _ = machine.awaitRefresh(1, of: 0)
        _ = machine.wait(2, of: nil, toPassAt: now)
        let effects = machine.fail(1, RefreshFailed(), isRejection: false)
        #expect(effects.failed == [1, 2])
        #expect(effects.announcements == ["unreachable"])
        #expect(machine.token == AccessToken("old"))
        #expect(machine.refuse(nil).1.refreshIDs == [2])
    }

    @Test("Rule 7: a late refusal for a request sent before a failed refresh ends the call, and starts none")
    func lateAfterFailure() {
        var machine = machine()
        _ = machine.refuse(0)
        _ = machine.fail(1, RefreshFailed(), isRejection: false)
        let (judgement, effects) = machine.refuse(0)
        #expect(judgement == .giveUp)
        #expect(effects.isEmpty)
    }

    @Test(
        "Rule 7: the end of the session is reported once; after it nothing is sent or refreshed until the token changes"
    )
    func sessionOver() {
        var machine = machine()
        _ = machine.refuse(0)
        #expect(machine.fail(1, AccessToken.Rejected(), isRejection: true).announcements == ["sessionOver"])
        #expect(machine.refuse() == .giveUp)
        #expect(machine.wait(1, of: nil, toPassAt: now).failed == [1])
        _ = machine.set(AccessToken("again"), session: UUID(), at: now)
        #expect(machine.isOpen(at: now))
        #expect(machine.refuse(nil).1.refreshIDs == [2])
        #expect(machine.fail(2, AccessToken.Rejected(), isRejection: true).announcements == ["sessionOver"])
    }

    @Test("Rule 7: with a store, a session that is over looks for another token there, and refreshes nothing")
    func lookAfterTheEnd() throws {
        var machine = stored(AccessToken("old"))
        _ = machine.refuse()
        _ = machine.fail(2, AccessToken.Rejected(), isRejection: true)
        let look = try #require(machine.wait(1, of: machine.session, toPassAt: now).jobs.first)
        #expect(look.kind == .look)
        let failed = machine.fail(look, with: AccessToken.Rejected(), isRejection: true)
        #expect(failed.failed == [1] && failed.announcements.isEmpty)
        let again = try #require(machine.wait(2, of: machine.session, toPassAt: now).jobs.first)
        let newer = AccessToken("newer", session: machine.session)
        #expect(machine.succeed(again, with: newer, from: .elsewhere, isKept: true, at: now).released == [2])
        #expect(machine.isOpen(at: now))
    }

    @Test(
        "Rule 1: past its time limit a refresh fails those who wait, and counts as running until a second limit has passed"
    )
    func timeLimit() throws {
        var machine = machine()
        let job = try #require(machine.refuse(nil).1.jobs.first)
        _ = machine.awaitRefresh(1, of: 0)
        #expect(machine.passTimeLimit(of: job, with: RefreshFailed()).failed == [1])
        #expect(machine.wait(2, of: nil, toPassAt: now).isEmpty)
        #expect(machine.passTimeLimit(of: job, with: RefreshFailed()).refreshIDs == [2])
        #expect(machine.succeed(2, AccessToken("new"), at: now).released == [2])
    }

    @Test(
        "Rule 8: a result that comes after the time limit is kept, if the token that it replaces is still the current one"
    )
    func lateResult() throws {
        for limits in 1...2 {
            var machine = machine()
            let job = try #require(machine.refuse(nil).1.jobs.first)
            for _ in 0..<limits { _ = machine.passTimeLimit(of: job, with: RefreshFailed()) }
            _ = machine.wait(1, of: nil, toPassAt: now)
            _ = machine.succeed(job, with: AccessToken("late"), from: .refresh, isKept: true, at: now)
            #expect(machine.token == AccessToken("late"))
            #expect(machine.isOpen(at: now))
        }
    }

    @Test("Rule 8: a late result ends the refresh that has begun since, whose own result does not count")
    func lateBesideAnother() throws {
        var machine = machine()
        let job = try #require(machine.refuse(nil).1.jobs.first)
        for _ in 0..<2 { _ = machine.passTimeLimit(of: job, with: RefreshFailed()) }
        let second = try #require(machine.refuse(nil).1.jobs.first)
        _ = machine.wait(1, of: nil, toPassAt: now)
        let effects = machine.succeed(job, with: AccessToken("late"), from: .refresh, isKept: true, at: now)
        #expect(effects.released == [1])
        #expect(machine.fail(second, with: AccessToken.Rejected(), isRejection: true).announcements.isEmpty)
        #expect(machine.token == AccessToken("late") && machine.isOpen(at: now))
    }

    @Test("Rules 8 and 11: logging out during a refresh wins: its result is dropped, waiters fail, no refresh follows")
    func logOut() throws {
        var machine = machine()
        let before = machine.session
        let job = try #require(machine.refuse(nil).1.jobs.first)
        _ = machine.awaitRefresh(1, of: 0)
        #expect(machine.set(nil, session: UUID(), at: now).failed == [1])
        #expect(machine.succeed(job, with: AccessToken("late"), from: .refresh, isKept: true, at: now).isEmpty)
        #expect(machine.token == nil)
        #expect(machine.refuse() == .giveUp)
        #expect(machine.judge(refusalOfGeneration: 0, of: before, hasRefreshed: false).0 == .giveUp)
    }

    @Test("Rule 8: a token that replaces the current one during a refresh wins, and lets the waiters go")
    func replaced() throws {
        var machine = machine()
        let job = try #require(machine.refuse(nil).1.jobs.first)
        _ = machine.awaitRefresh(1, of: 0)
        #expect(machine.replace(AccessToken("mine"), at: now).released == [1])
        #expect(machine.succeed(job, with: AccessToken("late"), from: .refresh, isKept: true, at: now).isEmpty)
        #expect(machine.token == AccessToken("mine"))
    }

    @Test("Rule 8: the current token, sent once more by another process, is no news: a refresh that replaces it counts")
    func replacedByItself() {
        var machine = machine()
        _ = machine.refuse()
        #expect(machine.replace(AccessToken("old"), at: now).isEmpty)
        _ = machine.succeed(1, AccessToken("new"), at: now)
        #expect(machine.token?.value == "new")
    }

    @Test("Rules 1 and 8: a refresh that follows a superseded one waits for its end")
    func neverTwo() throws {
        var machine = machine()
        let job = try #require(machine.refuse(nil).1.jobs.first)
        _ = machine.replace(AccessToken("mine"), at: now)
        #expect(machine.refuse(nil).1.refreshIDs.isEmpty)
        _ = machine.awaitRefresh(1, of: machine.generation)
        let effects = machine.succeed(job, with: AccessToken("late"), from: .refresh, isKept: true, at: now)
        #expect(effects.refreshIDs == [2])
        #expect(machine.succeed(2, AccessToken("new"), at: now).released == [1])
    }

    @Test("Rule 11: a call of an ended session is neither sent nor repeated with a token of another one")
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

    @Test("Rule 11: a refresh and a token that was rotated elsewhere keep the session; assigning one begins another")
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

    @Test("Rule 11: a call that waits when another session begins fails; one that began in none goes on in it")
    func waitersOfSessions() throws {
        var machine = machine(AccessToken("old", expiresAt: now - 1))
        _ = machine.wait(1, of: machine.session, toPassAt: now)
        _ = machine.wait(2, of: nil, toPassAt: now)
        let effects = machine.set(AccessToken("bob"), session: UUID(), at: now)
        #expect(effects.failed == [1] && effects.released == [2])
    }

    /// A machine whose store has been read.
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
        "Rule 12: until the store has been read, authorized requests wait; if it cannot be, they fail, and the next one tries again"
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

    @Test(
        "Rule 12: a log-out takes effect at once, and the removal is due until the store is known to be without the token"
    )
    func removal() throws {
        var machine = stored(AccessToken("old", session: UUID()))
        let ended = machine.session
        _ = machine.set(nil, session: UUID(), at: now)
        #expect(machine.token == nil)
        #expect(machine.keeping?.change == .remove(sessions: [ended]))
        machine.noteKept(generation: machine.keeping?.generation ?? -1)
        #expect(machine.keeping == nil)
    }

    @Test("Rule 12: a second read of the store releases its waiters, also if the first one ends late")
    func lateLoad() throws {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        let first = try #require(machine.load().jobs.first)
        _ = machine.passTimeLimit(of: first, with: RefreshFailed())
        #expect(machine.wait(1, of: nil, toPassAt: now).isEmpty)
        let second = try #require(machine.passTimeLimit(of: first, with: RefreshFailed()).jobs.first)
        #expect(machine.findNothing(first).isEmpty)
        #expect(machine.findNothing(second).released == [1])
    }

    @Test("Rule 12: after a log-out before the store was read, whatever it has is removed")
    func removalOfUnknown() {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        _ = machine.load()
        _ = machine.set(nil, session: UUID(), at: now)
        #expect(machine.keeping?.change == .remove(sessions: nil))
    }

    @Test("Rule 12: a session's first token that could not be saved is saved later, also if it was refreshed meanwhile")
    func unsavedFirst() throws {
        var machine = stored(nil)
        for (id, value) in [(2, "first"), (3, "second")] {
            _ = machine.refuse()
            _ = machine.succeed(machine.job(id), with: AccessToken(value), from: .refresh, isKept: false, at: now)
        }
        let change = try #require(machine.keeping?.change)
        #expect(change.step(finding: nil) == .write(machine.token))
    }

    @Test("Rule 12: what another process has done is found, unless the token has changed since")
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

    @Test("Without a token yet, the first refusal fetches one")
    func noTokenYet() {
        var machine = machine(nil)
        #expect(machine.isOpen(at: now))
        #expect(machine.refuse(0).1.refreshIDs == [1])
    }
}

extension AccessTokenMachine {
    func isOpen(at now: Date) -> Bool { if case .open = passage(of: nil, at: now) { true } else { false } }

    /// The server refuses a request that carried the token of a generation; the current one unless another is named.
    mutating func refuse(_ generation: Int?) -> (Judgement, [Effect]) {
        judge(refusalOfGeneration: generation ?? self.generation, of: session, hasRefreshed: false)
    }

    /// The same, without a look at what is to be done.
    mutating func refuse() -> Judgement { refuse(nil).0 }

    mutating func awaitRefresh(_ waiter: Waiter, of generation: Int) -> [Effect] {
        wait(waiter, forRefreshOfGeneration: generation, of: session)
    }

    /// The job of an id, as it was begun for the current token.
    func job(_ id: Int, _ kind: Job.Kind = .refresh, replacing generation: Int? = nil) -> Job {
        Job(
            id: id, kind: kind, token: token, generation: generation ?? tokenGeneration, session: session)
    }

    mutating func succeed(_ id: Int, _ token: AccessToken, replacing generation: Int? = nil, at now: Date) -> [Effect] {
        succeed(job(id, replacing: generation), with: token, from: .refresh, isKept: true, at: now)
    }

    mutating func fail(_ id: Int, _ error: any Error, isRejection: Bool) -> [Effect] {
        fail(job(id), with: error, isRejection: isRejection)
    }
}

extension [AccessTokenMachine.Effect] {
    var jobs: [AccessTokenMachine.Job] { compactMap { if case .start(let job) = $0 { job } else { nil } } }
    var refreshIDs: [Int] { compactMap { if case .start(let job) = $0 { job.id } else { nil } } }
    var released: [UInt64] { compactMap { if case .release(let waiter, _) = $0 { waiter } else { nil } } }
    var failed: [UInt64] { compactMap { if case .fail(let waiter, _) = $0 { waiter } else { nil } } }
    var announcements: [String] {
        compactMap { effect in
            guard case .announce(let event) = effect else { return nil }
            switch event {
            case .refreshed: return "refreshed"
            case .unreachable: return "unreachable"
            case .sessionOver: return "sessionOver"
            case .notStored: return "notStored"
            }
        }
    }
}

/// The error of a refresh that did not succeed.
struct RefreshFailed: Error {}
