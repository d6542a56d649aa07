import Foundation
import Testing

@testable import Networking

/// The rules of DESIGN.md section 7 on the pure machine.
@Suite("The token's rules")
struct AccessTokenMachineTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)

    private func machine(_ token: AccessToken? = AccessToken("old")) -> AccessTokenMachine {
        AccessTokenMachine(token: token, at: now)
    }

    @Test("Rule 1: many refusals of the current token start one refresh")
    func oneRefresh() {
        var machine = machine()
        let first = machine.judge(refusalOfGeneration: 0)
        let second = machine.judge(refusalOfGeneration: 0)
        #expect(first.0 == .waitForRefresh)
        #expect(first.1.refreshIDs == [1])
        #expect(second.0 == .waitForRefresh)
        #expect(second.1.isEmpty)
    }

    @Test("Rule 2: a refusal of an older token means sending again with the current one, and no refresh")
    func olderToken() {
        var machine = machine()
        _ = machine.set(AccessToken("new"), at: now)
        let (judgement, effects) = machine.judge(refusalOfGeneration: 0)
        #expect(judgement == .repeatWithCurrent)
        #expect(effects.isEmpty)
    }

    @Test("Rule 3: a refusal of the current token waits for its refresh, and is then sent again")
    func currentToken() {
        var machine = machine()
        _ = machine.judge(refusalOfGeneration: 0)
        #expect(machine.wait(1, forRefreshOfGeneration: 0).isEmpty)
        #expect(machine.refreshSucceeded(1, with: AccessToken("new"), at: now).released == [1])
        #expect(machine.token == AccessToken("new"))
    }

    @Test("Rule 4: while a refresh runs nobody passes, and who waits is let go by its success")
    func waiting() {
        var machine = machine()
        #expect(machine.mayPass(at: now))
        _ = machine.judge(refusalOfGeneration: 0)
        #expect(!machine.mayPass(at: now))
        #expect(machine.wait(1, toPassAt: now).isEmpty)
        #expect(machine.refreshSucceeded(1, with: AccessToken("new"), at: now).released == [1])
        #expect(machine.mayPass(at: now))
    }

    @Test("Rule 5: a token that has expired, or will within 30 seconds, is refreshed before sending")
    func expiry() {
        let machine = machine(AccessToken("old", expiresAt: now + 3_600))
        #expect(machine.mayPass(at: now + 3_569))
        #expect(!machine.mayPass(at: now + 3_570))
        var expired = AccessTokenMachine(token: AccessToken("old", expiresAt: now - 1), at: now)
        #expect(expired.wait(1, toPassAt: now).refreshIDs == [1])
    }

    @Test("Rule 5: the leeway is never more than a tenth of the token's life")
    func shortLife() {
        let machine = machine(AccessToken("old", expiresAt: now + 20))
        #expect(machine.mayPass(at: now + 17.9))
        #expect(!machine.mayPass(at: now + 18))
    }

    @Test("Rule 5: a token fresh from a refresh is sent at least once, even one that has expired")
    func freshToken() {
        var machine = machine(AccessToken("old", expiresAt: now - 1))
        _ = machine.wait(1, toPassAt: now)
        _ = machine.refreshSucceeded(1, with: AccessToken("new", expiresAt: now - 1), at: now)
        #expect(machine.mayPass(at: now))
        machine.noteAnswer(toGeneration: machine.generation)
        #expect(!machine.mayPass(at: now))
    }

    @Test("Rule 6: a waiter that leaves is not answered, and the refresh goes on")
    func leaving() {
        var machine = machine()
        _ = machine.judge(refusalOfGeneration: 0)
        _ = machine.wait(1, forRefreshOfGeneration: 0)
        machine.leave(1)
        #expect(machine.isRefreshing)
        #expect(machine.refreshSucceeded(1, with: AccessToken("new"), at: now).released.isEmpty)
    }

    @Test("Rule 7: a failed refresh fails every waiter, tells once, and the next refusal may try again")
    func failure() {
        var machine = machine()
        _ = machine.judge(refusalOfGeneration: 0)
        _ = machine.wait(1, forRefreshOfGeneration: 0)
        _ = machine.wait(2, toPassAt: now)
        let effects = machine.refreshFailed(1, with: RefresherReleased(), isRejection: false)
        #expect(effects.failed == [1, 2])
        #expect(effects.announcements == ["unreachable"])
        #expect(machine.token == AccessToken("old"))
        #expect(machine.judge(refusalOfGeneration: machine.generation).1.refreshIDs == [2])
    }

    @Test("Rule 7: a late refusal for a request sent before a failed refresh ends the call, and starts none")
    func lateAfterFailure() {
        var machine = machine()
        _ = machine.judge(refusalOfGeneration: 0)
        _ = machine.refreshFailed(1, with: RefresherReleased(), isRejection: false)
        let (judgement, effects) = machine.judge(refusalOfGeneration: 0)
        #expect(judgement == .giveUp)
        #expect(effects.isEmpty)
    }

    @Test("Rule 7: the end of the session is told once until the token changes")
    func sessionOver() {
        var machine = machine()
        _ = machine.judge(refusalOfGeneration: 0)
        #expect(
            machine.refreshFailed(1, with: AccessTokenRejected(), isRejection: true).announcements == ["sessionOver"])
        _ = machine.judge(refusalOfGeneration: machine.generation)
        #expect(machine.refreshFailed(2, with: AccessTokenRejected(), isRejection: true).announcements.isEmpty)
        _ = machine.set(AccessToken("again"), at: now)
        _ = machine.judge(refusalOfGeneration: machine.generation)
        #expect(
            machine.refreshFailed(3, with: AccessTokenRejected(), isRejection: true).announcements == ["sessionOver"])
    }

    @Test("Rule 8: logging out during a refresh wins: its answer is dropped, waiters fail, no refresh follows")
    func logOut() {
        var machine = machine()
        _ = machine.judge(refusalOfGeneration: 0)
        _ = machine.wait(1, forRefreshOfGeneration: 0)
        #expect(machine.set(nil, at: now).failed == [1])
        #expect(machine.refreshSucceeded(1, with: AccessToken("late"), at: now).isEmpty)
        #expect(machine.token == nil)
        #expect(machine.judge(refusalOfGeneration: machine.generation).0 == .giveUp)
        #expect(machine.judge(refusalOfGeneration: 0).0 == .giveUp)
    }

    @Test("Rule 8: a token set by hand during a refresh wins, and lets the waiters go")
    func setByHand() {
        var machine = machine()
        _ = machine.judge(refusalOfGeneration: 0)
        _ = machine.wait(1, forRefreshOfGeneration: 0)
        #expect(machine.set(AccessToken("mine"), at: now).released == [1])
        #expect(machine.refreshSucceeded(1, with: AccessToken("late"), at: now).isEmpty)
        #expect(machine.token == AccessToken("mine"))
    }

    @Test("Rules 1 and 8: a refresh that follows a superseded one waits for its end")
    func neverTwo() {
        var machine = machine()
        _ = machine.judge(refusalOfGeneration: 0)
        _ = machine.set(AccessToken("mine"), at: now)
        #expect(machine.judge(refusalOfGeneration: machine.generation).1.refreshIDs.isEmpty)
        _ = machine.wait(1, forRefreshOfGeneration: machine.generation)
        #expect(machine.refreshSucceeded(1, with: AccessToken("late"), at: now).refreshIDs == [2])
        #expect(machine.refreshSucceeded(2, with: AccessToken("new"), at: now).released == [1])
    }

    @Test("Without a token yet, the first refusal fetches one")
    func noTokenYet() {
        var machine = machine(nil)
        #expect(machine.mayPass(at: now))
        #expect(machine.judge(refusalOfGeneration: 0).1.refreshIDs == [1])
    }
}

extension [AccessTokenMachine.Effect] {
    var refreshIDs: [Int] { compactMap { if case .startRefresh(let id, _) = $0 { id } else { nil } } }
    var released: [UInt64] { compactMap { if case .release(let waiter) = $0 { waiter } else { nil } } }
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
