import Foundation
import Testing

@testable import Networking

/// Tests the token rules on the state machine alone.
@Suite("Access token rules", .endsInTime)
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
        #expect(first.refreshIDs == [1])
        #expect(second.isEmpty)
    }

    @Test("Rule 2: after a refusal of an older token, the call is sent again with the current token, without a refresh")
    func olderToken() {
        var machine = machine()
        _ = machine.replace(AccessToken("new"), at: now)
        #expect(machine.refuse(0).isEmpty)
        #expect(machine.arrive(1, of: 0).released == [1])
    }

    @Test("Rule 3: after a refusal of the current token, the call waits for the refresh and is sent again")
    func currentToken() {
        var machine = machine()
        _ = machine.refuse(0)
        #expect(machine.arrive(1, of: 0).isEmpty)
        #expect(machine.succeed(1, AccessToken("new"), at: now).released == [1])
        #expect(machine.token == AccessToken("new"))
    }

    @Test("Rule 4: during a refresh, no call is sent; when the refresh succeeds, the waiters are released")
    func waiting() {
        var machine = machine()
        #expect(machine.isOpen(at: now))
        _ = machine.refuse(0)
        #expect(!machine.isOpen(at: now))
        #expect(machine.pass(1, at: now).isEmpty)
        #expect(machine.succeed(1, AccessToken("new"), at: now).released == [1])
        #expect(machine.isOpen(at: now))
    }

    @Test("Rule 5: a token that has expired, or expires within 30 seconds, is refreshed before sending")
    func expiry() {
        let machine = machine(AccessToken("old", expiresAt: now + 3_600))
        #expect(machine.isOpen(at: now + 3_569))
        #expect(!machine.isOpen(at: now + 3_570))
        var expired = self.machine(AccessToken("old", expiresAt: now - 1))
        #expect(expired.pass(1, at: now).refreshIDs == [1])
    }

    @Test("Rule 5: the leeway is at most a tenth of the token's lifetime")
    func shortLife() {
        let machine = machine(AccessToken("old", expiresAt: now + 20))
        #expect(machine.isOpen(at: now + 17.9))
        #expect(!machine.isOpen(at: now + 18))
    }

    @Test("Rule 5: the new token of a refresh is sent at least once")
    func freshToken() {
        var machine = machine(AccessToken("old", expiresAt: now - 1))
        _ = machine.pass(1, at: now)
        _ = machine.succeed(1, AccessToken("new", expiresAt: now + 3), at: now)
        #expect(machine.isOpen(at: now + 5))
        machine.accept()
        #expect(!machine.isOpen(at: now + 5))
    }

    @Test("Rule 5: if a new token has already expired (wrong clock), its expiry is ignored until a token is refused")
    func wrongClock() {
        var machine = machine(AccessToken("old", expiresAt: now - 1))
        _ = machine.pass(1, at: now)
        _ = machine.succeed(1, AccessToken("new", expiresAt: now - 1), at: now)
        machine.accept()
        #expect(machine.isOpen(at: now + 3_600))
        #expect(machine.refuse().refreshIDs == [2])
    }

    @Test("Rule 5: after a refusal, an ignored expiry applies again, even if the call has already caused a refresh")
    func wrongClockUntilRefusal() {
        var machine = machine(AccessToken("old", expiresAt: now - 1))
        _ = machine.pass(1, at: now)
        _ = machine.succeed(1, AccessToken("new", expiresAt: now - 1), at: now)
        machine.accept()
        var member = SessionTicket.Member(of: machine.sessionNumber)
        member.pass(refreshed: machine.tokenGeneration)
        #expect(machine.refuse(in: member).isEmpty)
        #expect(machine.arrive(2, in: member).failed == [2])
        #expect(!machine.isOpen(at: now))
    }

    @Test("Rule 5: an expired token from the store is refreshed before the waiting calls are sent")
    func expiredInTheStore() throws {
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        let load = try #require(machine.load().jobs.first)
        #expect(machine.pass(1, at: now).isEmpty)
        let expired = AccessToken("old", expiresAt: now - 1, session: UUID())
        let effects = machine.succeed(load, with: expired, from: .elsewhere, isKept: true, at: now)
        #expect(effects.released.isEmpty)
        let refresh = try #require(effects.jobs.first)
        #expect(refresh.kind == .refresh)
        let new = AccessToken("new", session: expired.session)
        #expect(machine.succeed(refresh, with: new, from: .refresh, isKept: true, at: now).released == [1])
    }

    @Test("Rule 6: a waiter that is cancelled is not released, and the refresh continues")
    func leaving() {
        var machine = machine()
        _ = machine.refuse(0)
        _ = machine.arrive(1, of: 0)
        machine.leave(1)
        #expect(machine.isRefreshing)
        #expect(machine.succeed(1, AccessToken("new"), at: now).released.isEmpty)
    }

    @Test("Rules 8 and 11: after a log-out during a refresh, the new token is dropped, waiters fail, no refresh starts")
    func logOut() throws {
        var machine = machine()
        let before = machine.sessionNumber
        let job = try #require(machine.refuse().jobs.first)
        _ = machine.arrive(1, of: 0)
        #expect(machine.set(nil, session: UUID(), at: now).failed == [1])
        #expect(machine.succeed(job, with: AccessToken("late"), from: .refresh, isKept: true, at: now).isEmpty)
        #expect(machine.token == nil)
        #expect(machine.refuse().isEmpty && machine.arrive(2).failed == [2])
        #expect(machine.arrive(3, of: 0, session: before).failed == [3])
    }

    @Test("Rule 8: if the token is replaced during a refresh, the replacement is kept and the waiters are released")
    func replaced() throws {
        var machine = machine()
        let job = try #require(machine.refuse().jobs.first)
        _ = machine.arrive(1, of: 0)
        #expect(machine.replace(AccessToken("mine"), at: now).released == [1])
        #expect(machine.succeed(job, with: AccessToken("late"), from: .refresh, isKept: true, at: now).isEmpty)
        #expect(machine.token == AccessToken("mine"))
    }

    @Test("Rule 8: receiving the current token again from another process does not supersede a refresh")
    func replacedByItself() {
        var machine = machine()
        _ = machine.refuse()
        #expect(machine.replace(AccessToken("old"), at: now).isEmpty)
        _ = machine.succeed(1, AccessToken("new"), at: now)
        #expect(machine.token?.value == "new")
    }

    @Test("Rules 1 and 8: the next refresh starts only after a superseded refresh has ended")
    func neverTwo() throws {
        var machine = machine()
        let job = try #require(machine.refuse().jobs.first)
        _ = machine.replace(AccessToken("mine"), at: now)
        #expect(machine.refuse().refreshIDs.isEmpty)
        _ = machine.arrive(1, of: machine.generation)
        let effects = machine.succeed(job, with: AccessToken("late"), from: .refresh, isKept: true, at: now)
        #expect(effects.refreshIDs == [2])
        #expect(machine.succeed(2, AccessToken("new"), at: now).released == [1])
    }
}

extension AccessTokenMachine {
    func isOpen(at now: Date) -> Bool {
        if case .open = passage(of: SessionTicket.Member(of: sessionNumber), at: now) { true } else { false }
    }

    /// Hears of the refusal of a request that was sent with the token of `generation`; nil means the current token.
    /// Nothing stands before the handler of the session.
    mutating func refuse(
        _ generation: Int? = nil, in member: SessionTicket.Member? = nil, startsRefresh: Bool = true
    ) -> [Effect] {
        var mark = SessionTicket.Mark(generation: generation ?? self.generation, session: sessionNumber)
        return hear(
            refusalOf: &mark, by: .users, in: member ?? SessionTicket.Member(of: sessionNumber),
            startsRefresh: startsRefresh)
    }

    /// The error handlers of a refused call have reached the handler of the session.
    mutating func arrive(
        _ waiter: Waiter, of generation: Int? = nil, session: Int? = nil, in member: SessionTicket.Member? = nil,
        wasCurrent: Bool? = nil
    ) -> [Effect] {
        var mark = SessionTicket.Mark(generation: generation ?? self.generation, session: session ?? sessionNumber)
        mark.wasCurrent = wasCurrent
        return arrive(
            waiter, with: &mark, by: .users, in: member ?? SessionTicket.Member(of: session ?? sessionNumber))
    }

    /// The server accepts the current token.
    mutating func accept() {
        hear(acceptanceOf: SessionTicket.Mark(generation: generation, session: sessionNumber), by: "GET /users/{}")
    }

    /// Adds a call of the current session that waits to be sent.
    mutating func pass(_ waiter: Waiter, at now: Date) -> [Effect] {
        wait(waiter, of: SessionTicket.Member(of: sessionNumber), toPassAt: now)
    }

    /// Returns a job with `id`, as if the job had been started for the current token.
    func job(_ id: Int, _ kind: Job.Kind = .refresh, replacing generation: Int? = nil) -> Job {
        Job(
            id: id, kind: kind, token: token, generation: generation ?? tokenGeneration, session: session)
    }

    mutating func succeed(_ id: Int, _ token: AccessToken, replacing generation: Int? = nil, at now: Date) -> [Effect] {
        succeed(job(id, replacing: generation), with: token, from: .refresh, isKept: true, at: now)
    }

    mutating func fail(_ id: Int, _ error: any Error, isLogOut: Bool) -> [Effect] {
        fail(job(id), with: error, isLogOut: isLogOut)
    }
}

extension [AccessTokenMachine.Effect] {
    var jobs: [AccessTokenMachine.Job] { compactMap { if case .start(let job) = $0 { job } else { nil } } }
    var refreshIDs: [Int] { compactMap { if case .start(let job) = $0 { job.id } else { nil } } }
    var released: [UInt64] { compactMap { if case .release(let waiter, _) = $0 { waiter } else { nil } } }
    /// The waiters that are released after a refresh.
    var refreshed: [UInt64] {
        compactMap { if case .release(let waiter, .some) = $0 { waiter } else { nil } }
    }
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

/// The error of a failed refresh.
struct RefreshFailed: Error {}

extension AccessTokenMachine.RefusingEndpoint {
    static let users = AccessTokenMachine.RefusingEndpoint("GET /users/{}", status: 401)
}
