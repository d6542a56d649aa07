import Foundation
import Testing

@testable import Networking

@Suite("Access token machine: failures, time limits and late results", .endsInTime)
struct AccessTokenMachineLateResultTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)

    private func machine(_ token: AccessToken? = AccessToken("old")) -> AccessTokenMachine {
        AccessTokenMachine(token: token, session: UUID(), at: now)
    }

    @Test(
        "Rule 7: a failed refresh fails every waiter and is reported once; the next refusal may start another refresh")
    func failure() {
        var machine = machine()
        _ = machine.refuse(0)
        _ = machine.arrive(1, of: 0)
        _ = machine.pass(2, at: now)
        let effects = machine.fail(1, RefreshFailed(), isLogOut: false)
        #expect(effects.failed == [1, 2])
        #expect(effects.announcements == ["unreachable"])
        #expect(machine.token == AccessToken("old"))
        #expect(machine.refuse().refreshIDs == [2])
    }

    @Test(
        "Rule 7: if a request that was sent before a failed refresh is refused later, its call ends without a refresh")
    func lateAfterFailure() {
        var machine = machine()
        _ = machine.refuse(0)
        _ = machine.fail(1, RefreshFailed(), isLogOut: false)
        #expect(machine.refuse(0).isEmpty)
        #expect(machine.arrive(1, of: 0).failed == [1])
    }

    @Test("Rule 3: a refusal during a superseded refresh starts its own, even if that one ends before the call waits")
    func refusedDuringASupersededRefresh() {
        var machine = machine()
        _ = machine.refuse(0)
        _ = machine.set(AccessToken("newer"), session: UUID(), at: now)
        #expect(machine.refuse().refreshIDs.isEmpty, "one refresh at a time")
        #expect(machine.fail(1, RefreshFailed(), isLogOut: false).refreshIDs == [2])
        #expect(machine.arrive(1, of: machine.generation).failed.isEmpty)
    }

    @Test("Rule 7: the end of a session is reported once; then no call is sent and no refresh starts in that session")
    func sessionOver() {
        var machine = machine()
        _ = machine.refuse(0)
        #expect(machine.fail(1, AccessToken.Rejected(), isLogOut: true).announcements == ["sessionOver"])
        #expect(machine.refuse().isEmpty)
        #expect(machine.pass(1, at: now).failed == [1])
        _ = machine.set(AccessToken("again"), session: UUID(), at: now)
        #expect(machine.isOpen(at: now))
        #expect(machine.refuse().refreshIDs == [2])
        #expect(machine.fail(2, AccessToken.Rejected(), isLogOut: true).announcements == ["sessionOver"])
    }

    @Test("Rule 7: with a store, an ended session looks for another token in the store and starts no refresh")
    func lookAfterTheEnd() throws {
        var machine = stored(AccessToken("old"))
        _ = machine.refuse()
        _ = machine.fail(2, AccessToken.Rejected(), isLogOut: true)
        let look = try #require(machine.pass(1, at: now).jobs.first)
        #expect(look.kind == .look)
        let failed = machine.fail(look, with: AccessToken.Rejected(), isLogOut: true)
        #expect(failed.failed == [1] && failed.announcements.isEmpty)
        let again = try #require(machine.pass(2, at: now).jobs.first)
        let newer = AccessToken("newer", session: machine.session)
        #expect(machine.succeed(again, with: newer, from: .elsewhere, isKept: true, at: now).released == [2])
        #expect(machine.isOpen(at: now))
    }

    @Test(
        "Rule 1: at its time limit, a refresh fails its waiters; it counts as running until a second limit has passed"
    )
    func timeLimit() throws {
        var machine = machine()
        let job = try #require(machine.refuse().jobs.first)
        _ = machine.arrive(1, of: 0)
        #expect(machine.passTimeLimit(of: job, with: RefreshFailed()).failed == [1])
        #expect(machine.pass(2, at: now).isEmpty)
        #expect(machine.passTimeLimit(of: job, with: RefreshFailed()).refreshIDs == [2])
        #expect(machine.succeed(2, AccessToken("new"), at: now).released == [2])
    }

    @Test("Rule 8: the result of a refresh after its time limit is used if the token that it replaces is still current")
    func lateResult() throws {
        for limits in 1...2 {
            var machine = machine()
            let job = try #require(machine.refuse().jobs.first)
            for _ in 0..<limits { _ = machine.passTimeLimit(of: job, with: RefreshFailed()) }
            _ = machine.pass(1, at: now)
            _ = machine.succeed(job, with: AccessToken("late"), from: .refresh, isKept: true, at: now)
            #expect(machine.token == AccessToken("late"))
            #expect(machine.isOpen(at: now))
        }
    }

    @Test("Rule 8: a late result ends a refresh that has started later, and the result of the later refresh is ignored")
    func lateBesideAnother() throws {
        var machine = machine()
        let job = try #require(machine.refuse().jobs.first)
        for _ in 0..<2 { _ = machine.passTimeLimit(of: job, with: RefreshFailed()) }
        let second = try #require(machine.refuse().jobs.first)
        _ = machine.pass(1, at: now)
        let effects = machine.succeed(job, with: AccessToken("late"), from: .refresh, isKept: true, at: now)
        #expect(effects.released == [1])
        #expect(machine.fail(second, with: AccessToken.Rejected(), isLogOut: true).announcements.isEmpty)
        #expect(machine.token == AccessToken("late") && machine.isOpen(at: now))
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
}
