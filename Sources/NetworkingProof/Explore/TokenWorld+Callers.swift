import Foundation
import Networking

// The steps of a call through the gate, the adapter and the handler.
extension TokenWorld {
    mutating func make(_ step: TokenMove.CallerStep, by index: Int) {
        switch step {
        case .begin: begin(index)
        case .ask: ask(index)
        case .enter: enter(index)
        case .adapt: adapt(index)
        case .succeed: answer(index)
        case .refuse: refuse(index)
        case .handle: handle(index)
        case .cancel: cancel(index)
        }
    }

    private mutating func begin(_ index: Int) {
        callers[index].phase = .queued
        callers[index].member = SessionTicket.Member(of: machine.sessionOfNewCall)
        callers[index].began = machine.token == nil ? nil : machine.session
    }

    private mutating func ask(_ index: Int) {
        switch machine.passage(of: callers[index].member.session, at: now) {
        case .open:
            checkSending(index)
            callers[index].phase = .permitAcquired
        case .wait: callers[index].phase = .entering
        case .closed: callers[index] = Caller()
        }
    }

    private mutating func enter(_ index: Int) {
        callers[index].phase = .waitingToPass
        perform(machine.wait(UInt64(index), of: callers[index].member.session, toPassAt: now))
    }

    private mutating func adapt(_ index: Int) {
        guard callers[index].member.join(machine.session) else {
            callers[index] = Caller()
            return
        }
        let began = callers[index].began ?? machine.session
        expect(began == machine.session, "rule 11: a call is sent with tokens of the session in which it began")
        callers[index].began = began
        callers[index].carried = (machine.generation, machine.session)
        callers[index].phase = .sent
    }

    private mutating func answer(_ index: Int) {
        hear(index)
        callers[index] = Caller()
    }

    /// Records that a response has arrived, which shows that the token has been tried.
    private mutating func hear(_ index: Int) {
        guard let carried = callers[index].carried else { return }
        machine.noteResponse(toGeneration: carried.generation)
        if carried.generation >= machine.tokenGeneration { facts.isUntried = false }
    }

    private mutating func refuse(_ index: Int) {
        guard let carried = callers[index].carried else { return }
        hear(index)
        let isCurrent = carried.generation >= machine.tokenGeneration
        let hasToken = machine.token != nil
        if isCurrent { facts.isWrongClock = false }
        let jobs = running.count
        let (judgement, effects) = machine.judge(
            refusalOfGeneration: carried.generation, of: carried.session,
            hasRefreshed: callers[index].member.hasRefreshed)
        callers[index].phase = .refused
        callers[index].judgement = judgement
        perform(effects)
        let isOfSession = carried.session == machine.session
        if !isOfSession { expect(judgement == .giveUp, "rule 11: a refused call of another session ends") }
        if isOfSession, !isCurrent, hasToken {
            expect(
                judgement == .repeatWithCurrent,
                "rule 2: a call whose older token was refused is repeated with the current token")
        }
        if !isCurrent { expect(running.count == jobs, "rule 2: a refusal of an older token begins no refresh") }
        if isCurrent, callers[index].hasRepeatedAfterRefresh {
            expect(
                judgement == .giveUp && running.count == jobs,
                "rule 3: a call ends when the token of its own refresh is refused")
        }
        if !isOfSession { expect(running.count == jobs, "rule 11: a refusal of another session begins no refresh") }
    }

    private mutating func handle(_ index: Int) {
        guard let carried = callers[index].carried else { return }
        switch callers[index].judgement {
        case .giveUp:
            callers[index] = Caller()
        case .repeatWithCurrent:
            repeatCall(index, callers[index].member.mayRepeatWithCurrent(), isWithCurrent: true)
        case .waitForRefresh:
            callers[index].phase = .waitingForRefresh
            perform(machine.wait(UInt64(index), forRefreshOfGeneration: carried.generation, of: carried.session))
        }
    }

    private mutating func repeatCall(_ index: Int, _ isGranted: Bool, isWithCurrent: Bool) {
        guard isGranted else {
            callers[index] = Caller()
            return
        }
        if isWithCurrent {
            expect(!callers[index].hasRepeatedWithCurrent, "rule 3: a call is repeated once with the current token")
            callers[index].hasRepeatedWithCurrent = true
        } else {
            expect(!callers[index].hasRepeatedAfterRefresh, "rule 3: a call is repeated once after a refresh")
            callers[index].hasRepeatedAfterRefresh = true
        }
        callers[index].carried = nil
        callers[index].judgement = .giveUp
        callers[index].phase = .queued
    }

    private mutating func cancel(_ index: Int) {
        let wanted = running.map { machine.isWanted($0.job) }
        switch callers[index].phase {
        case .waitingToPass, .waitingForRefresh: machine.leave(UInt64(index))
        default: break
        }
        callers[index] = Caller()
        expect(wanted == running.map { machine.isWanted($0.job) }, "rule 6: a leaving call does not stop the refresh")
    }

    /// Continues a call that the machine releases.
    mutating func release(_ waiter: UInt64, with origin: AccessTokenMachine.Origin) {
        let index = Int(waiter)
        switch callers[index].phase {
        case .waitingToPass:
            checkSending(index)
            callers[index].member.pass(with: origin)
            if origin == .refresh { callers[index].hasRepeatedAfterRefresh = true }
            callers[index].phase = .permitAcquired
        case .waitingForRefresh:
            let hadRepeats = callers[index].member.repeats
            let isGranted = callers[index].member.mayRepeat(with: origin)
            let isWithCurrent = origin == .elsewhere && !hadRepeats.contains(.withCurrent)
            repeatCall(index, isGranted, isWithCurrent: isWithCurrent)
        default:
            expect(false, "rule 7: only waiters are released")
        }
    }

    mutating func fail(_ waiter: UInt64) {
        let index = Int(waiter)
        let isWaiting = callers[index].phase == .waitingToPass || callers[index].phase == .waitingForRefresh
        expect(isWaiting, "rule 7: only waiters fail")
        callers[index] = Caller()
    }

    /// Checks the rules for a call that is about to be sent.
    private mutating func checkSending(_ index: Int) {
        if case .unread = machine.storage { expect(false, "rule 12: nothing is sent before the store has been read") }
        expect(!running.contains { machine.isWanted($0.job) }, "rule 4: nothing is sent while a refresh runs")
        if let began = callers[index].began {
            expect(began == machine.session, "rule 11: no call of another session is admitted")
        }
        if let token = machine.token {
            expect(facts.over != token.value, "rule 7: nothing is sent with a token whose session is over")
            let hasExpired = token.expiresAt.map { $0 <= now } ?? false
            expect(
                !hasExpired || facts.isUntried || facts.isWrongClock || facts.isLoggedOut,
                "rule 5: a token that has expired is refreshed before sending")
        }
    }
}
