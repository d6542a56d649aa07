import Foundation
import Networking

// The steps of a call through the gate, the adapter, the transport and the error handlers.
extension TokenWorld {
    mutating func make(_ step: TokenMove.CallerStep, by index: Int) {
        switch step {
        case .begin: begin(index)
        case .ask: ask(index)
        case .enter: enter(index)
        case .take: take(index)
        case .adapt: adapt(index)
        case .succeed: answer(index)
        case .refuse: refuse(index)
        case .arrive: arrive(index)
        case .endChain: end(index)
        case .retry: retry(index)
        case .cancel: cancel(index)
        }
    }

    /// The name of the endpoint that a caller uses.
    private func endpoint(_ index: Int) -> Int { options.roles[index] == .nested ? 1 : 0 }

    private func refusing(_ index: Int) -> AccessTokenMachine.RefusingEndpoint {
        AccessTokenMachine.RefusingEndpoint("\(endpoint(index))", status: 401)
    }

    private mutating func begin(_ index: Int) {
        callers[index].phase = .queued
        let isOptional = options.roles[index] == .optional
        callers[index].member = SessionTicket.Member(of: machine.sessionNumber, isOptional: isOptional)
        rules.begin(index, isOptional: isOptional)
        guard options.roles[index] == .asker else { return }
        callers[index].phase = .waitingToPass
        rules.wait(index)
        rules.isAsked = true
        perform(machine.wait(UInt64(index), forRefreshOf: machine.sessionNumber))
    }

    private mutating func ask(_ index: Int) {
        switch machine.passage(of: callers[index].member, at: now) {
        case .open:
            admit(index)
            callers[index].phase = .permitAcquired
        case .wait: callers[index].phase = .entering
        case .closed:
            rules.close(index)
            end(index)
        }
    }

    private mutating func enter(_ index: Int) {
        callers[index].phase = .waitingToPass
        rules.wait(index)
        perform(machine.wait(UInt64(index), of: callers[index].member, toPassAt: now))
    }

    private mutating func take(_ index: Int) {
        callers[index].taken = machine.token?.value
        rules.take(index)
    }

    private mutating func adapt(_ index: Int) {
        guard options.roles[index] != .own else { return adaptOwn(index) }
        switch machine.credential(of: callers[index].member) {
        case .closed:
            rules.close(index)
            return end(index)
        case .anonymous, .token(nil, _):
            send(index, with: nil, nil)
        case .token(let token?, let mark):
            send(index, with: token, mark)
        }
    }

    /// The app adds the token that it has taken. The adapter of the session only identifies this token.
    private mutating func adaptOwn(_ index: Int) {
        let known = callers[index].taken.flatMap { machine.mark(ofToken: $0, in: callers[index].member) }
        if case .failure = known {
            rules.close(index)
            return end(index)
        }
        callers[index].mark = try? known?.get()
        callers[index].taken = nil
        rules.sendTaken(index, isKnown: callers[index].mark != nil)
        callers[index].phase = .sent
    }

    private mutating func send(_ index: Int, with token: AccessToken?, _ mark: SessionTicket.Mark?) {
        rules.send(index, with: token?.value, whileCurrentIs: self.token)
        callers[index].mark = mark
        callers[index].phase = .sent
    }

    private mutating func answer(_ index: Int) {
        rules.accept(index, at: endpoint(index))
        let endpoint = "\(endpoint(index))"
        if let mark = callers[index].mark { machine.hear(acceptanceOf: mark, by: endpoint) }
        end(index)
    }

    /// The server refuses the token of a call. A call without a token is not a call of the session.
    private mutating func refuse(_ index: Int) {
        guard var mark = callers[index].mark else { return end(index) }
        callers[index].phase = .refused
        guard options.roles[index] != .follower else { return }
        rules.refuse(index, at: endpoint(index))
        if options.roles[index].isFirst { rules.want(index) }
        rules.cause = .head(index)
        let effects = machine.hear(
            refusalOf: &mark, by: refusing(index), in: callers[index].member,
            startsRefresh: options.roles[index].isFirst)
        callers[index].mark = mark
        perform(effects)
    }

    private mutating func arrive(_ index: Int) {
        guard var mark = callers[index].mark else { return end(index) }
        if options.roles[index] == .follower { rules.refuse(index, at: endpoint(index)) }
        rules.want(index)
        rules.cause = .arrival(index)
        let effects = machine.arrive(
            UInt64(index), with: &mark, by: refusing(index), in: callers[index].member)
        callers[index].mark = mark
        let own = effects.compactMap { effect -> TokenRules.Arrival? in
            switch effect {
            case .release(UInt64(index), let refreshed): .again(refreshed: refreshed != nil)
            case .fail(UInt64(index), _): .ends
            default: nil
            }
        }
        rules.arrive(index, at: endpoint(index), own.first ?? .waits)
        callers[index].phase = .waitingForRefresh
        if own.isEmpty { rules.wait(index) }
        perform(effects)
    }

    /// A handler that precedes the session's handler asks for a retry.
    private mutating func retry(_ index: Int) {
        rules.retry(index)
        callers[index].mark = nil
        callers[index].phase = .queued
    }

    private mutating func end(_ index: Int) {
        rules.end(index)
        callers[index] = Caller()
    }

    /// Ends a call, and the call that one of its handlers has made.
    private mutating func cancel(_ index: Int) {
        let wanted = running.map { machine.isWanted($0.job) }
        let nested = index == 0 ? callers.indices.filter { options.roles[$0] == .nested } : []
        for index in nested + [index] {
            machine.leave(UInt64(index))
            callers[index] = Caller()
            rules.leave(index, isUnchanged: wanted == running.map { machine.isWanted($0.job) })
        }
    }

    /// Continues a call that the machine releases.
    mutating func release(_ waiter: UInt64, refreshed: Int?) {
        let index = Int(waiter)
        let isWaiting = rules.calls[index].isWaiting
        switch callers[index].phase {
        case .waitingToPass where options.roles[index] == .asker:
            rules.answerAsker(index)
            end(index)
        case .waitingToPass:
            rules.release(index, refreshed: refreshed != nil, isRefused: false)
            admit(index)
            callers[index].member.pass(refreshed: refreshed)
            callers[index].phase = .permitAcquired
        case .waitingForRefresh:
            if isWaiting { rules.release(index, refreshed: refreshed != nil, isRefused: true) }
            guard callers[index].member.mayRepeat(refreshed: refreshed) else { return end(index) }
            rules.repeatCall(index, refreshed: refreshed != nil)
            callers[index].mark = nil
            callers[index].phase = .queued
        default:
            rules.continueWaiting(false)
        }
    }

    mutating func fail(_ waiter: UInt64) {
        let index = Int(waiter)
        rules.continueWaiting(callers[index].phase == .waitingToPass || callers[index].phase == .waitingForRefresh)
        if callers[index].phase == .waitingToPass, options.roles[index] != .asker { rules.fail(index) }
        end(index)
    }

    private mutating func admit(_ index: Int) {
        rules.admit(
            index, isStoreRead: isStoreKnown, runs: running.contains(where: \.counts), token: machine.token?.value,
            hasExpired: machine.token?.expiresAt.map { $0 <= now } ?? false)
    }

    /// Lets the rules check whether a refresh may begin.
    mutating func noteStart(of job: AccessTokenMachine.Job) {
        rules.begin(
            isAlone: !running.contains { !$0.isAbandoned }, endpoints: callers.indices.map(endpoint),
            areFirst: options.roles.map(\.isFirst))
        guard job.kind == .refresh else { return }
        rules.beginRefresh(of: job.token?.value, isExpired: job.token?.expiresAt.map { $0 <= now } ?? false)
    }
}
