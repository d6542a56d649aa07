import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Runs a seeded random walk over the state machine. A model contains the calls that use the state machine.
@Suite("Access token rules in a random walk", .endsInTime)
struct AccessTokenWalkTests {
    @Test("100,000 events violate no invariant", arguments: [1, 2, 3] as [UInt64])
    func walk(seed: UInt64) {
        var walk = TokenWalk(seed: seed)
        for _ in 0..<100_000 { walk.step() }
        walk.drain()
        #expect(walk.faults.prefix(3) == [])
        #expect(
            walk.refreshes > 1_000 && walk.answered > 5_000 && walk.logOuts > 100,
            "the walk made too few refreshes, responses or log-outs")
    }
}

private struct TokenWalk {
    private struct Call {
        var member: SessionTicket.Member
        var mark: SessionTicket.Mark?
        var lastSent = -1
        var isWaiting = false
        /// Whether the call waits because its token was refused.
        var isRefused = false
    }

    private var random: SeededGenerator
    private var machine: AccessTokenMachine
    private var now = Date(timeIntervalSince1970: 0)
    private var calls: [UInt64: Call] = [:]
    private var nextCall: UInt64 = 0
    private var running: AccessTokenMachine.Job?
    /// The refreshes that exceeded both time limits. Their results may still arrive.
    private var late: [AccessTokenMachine.Job] = []
    private var isLoggedOut = false

    private(set) var faults: [String] = []
    private(set) var refreshes = 0
    private(set) var answered = 0
    private(set) var logOuts = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        machine = AccessTokenMachine(token: AccessToken("t", expiresAt: now + 1_000), session: UUID(), at: now)
    }

    mutating func step() {
        now += Double.random(in: 0..<5, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: begin()
        case 25..<50: answer(isRefused: false)
        case 50..<80: answer(isRefused: true)
        case 80..<86: cancel()
        case 86..<88: set(nil)
        case 88..<91: set(token())
        case 91..<93: perform(machine.replace(token(), at: now))
        case 93..<95: passLimit()
        default: endRefresh()
        }
    }

    /// Ends every refresh and every call. No call may be left waiting.
    mutating func drain() {
        for _ in 0..<10_000 {
            if running != nil { endRefresh() }
            answer(isRefused: false)
        }
        if !calls.isEmpty { faults.append("\(calls.count) calls never completed") }
    }

    private mutating func token() -> AccessToken {
        AccessToken(
            "t", expiresAt: Bool.random(using: &random) ? now + Double.random(in: -5..<300, using: &random) : nil)
    }

    private mutating func begin() {
        guard calls.count < 200 else { return }
        nextCall += 1
        calls[nextCall] = Call(member: SessionTicket.Member(of: machine.sessionNumber))
        pass(nextCall)
    }

    /// Sends a call if the machine permits it. If not, the call waits.
    private mutating func pass(_ id: UInt64) {
        guard let member = calls[id]?.member else { return }
        if case .open = machine.passage(of: member, at: now) { return send(id) }
        calls[id]?.isWaiting = true
        perform(machine.wait(id, of: member, toPassAt: now))
    }

    private mutating func send(_ id: UInt64) {
        guard let call = calls[id] else { return faults.append("a completed call was sent") }
        if machine.generation < call.lastSent { faults.append("a call was repeated with an older token") }
        if call.member.session != machine.sessionNumber { faults.append("a call was sent in another session") }
        calls[id]?.isWaiting = false
        calls[id]?.lastSent = machine.generation
        calls[id]?.mark = SessionTicket.Mark(generation: machine.generation, session: machine.sessionNumber)
    }

    private mutating func answer(isRefused: Bool) {
        let sent = calls.filter { $0.value.mark != nil }.keys.sorted()
        guard let id = sent.randomElement(using: &random), let call = calls[id], var mark = call.mark else { return }
        guard isRefused else {
            machine.hear(acceptanceOf: mark, by: "GET /")
            return finish(id)
        }
        let endpoint = AccessTokenMachine.RefusingEndpoint("GET /", status: 401)
        let effects = machine.hear(
            refusalOf: &mark, by: endpoint, in: call.member, startsRefresh: Bool.random(using: &random))
        if isLoggedOut, !effects.refreshIDs.isEmpty { faults.append("a refresh began after log-out") }
        calls[id]?.mark = nil
        perform(effects)
        // A handler before the handler of the session may end the call.
        guard Int.random(in: 0..<8, using: &random) > 0 else { return finish(id) }
        calls[id]?.isWaiting = true
        calls[id]?.isRefused = true
        perform(machine.arrive(id, with: &mark, by: endpoint, in: call.member))
    }

    private mutating func release(_ id: UInt64, _ refreshed: Int?) {
        guard let call = calls[id], call.isWaiting else { return faults.append("a released call was not waiting") }
        calls[id]?.isWaiting = false
        guard call.isRefused else {
            calls[id]?.member.pass(refreshed: refreshed)
            return send(id)
        }
        calls[id]?.isRefused = false
        guard calls[id]?.member.mayRepeat(refreshed: refreshed) == true else { return finish(id) }
        pass(id)
    }

    private mutating func finish(_ id: UInt64) {
        if calls.removeValue(forKey: id) == nil { faults.append("a call completed twice") } else { answered += 1 }
    }

    private mutating func cancel() {
        guard let id = calls.keys.sorted().randomElement(using: &random) else { return }
        if calls[id]?.isWaiting == true { machine.leave(id) }
        finish(id)
    }

    private mutating func set(_ token: AccessToken?) {
        isLoggedOut = token == nil
        if token == nil { logOuts += 1 }
        perform(machine.set(token, session: UUID(), at: now))
    }

    private mutating func passLimit() {
        guard let job = running else { return }
        let effects = machine.passTimeLimit(of: job, with: RefreshFailed())
        if effects.contains(where: { if case .cancel = $0 { true } else { false } }) {
            late.append(job)
            running = nil
        }
        perform(effects)
    }

    private mutating func endRefresh() {
        if !late.isEmpty, Bool.random(using: &random) {
            perform(machine.succeed(late.removeFirst(), with: token(), from: .refresh, isKept: true, at: now))
        }
        guard let job = running else { return }
        running = nil
        switch Int.random(in: 0..<8, using: &random) {
        case 0: perform(machine.fail(job, with: AccessToken.Rejected(), isLogOut: true))
        case 1: perform(machine.fail(job, with: RefreshFailed(), isLogOut: false))
        default: perform(machine.succeed(job, with: token(), from: .refresh, isKept: true, at: now))
        }
    }

    private mutating func perform(_ effects: [AccessTokenMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .start(let job):
                if running != nil { faults.append("two refreshes ran at once") }
                if isLoggedOut { faults.append("a refresh began after log-out") }
                running = job
                refreshes += 1
            case .release(let id, let refreshed):
                release(id, refreshed)
            case .fail(let id, _):
                guard calls[id]?.isWaiting == true else { return faults.append("a failed call was not waiting") }
                finish(id)
            case .cancel, .announce, .keep:
                break
            }
        }
    }
}
