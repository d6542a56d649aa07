import Foundation
import Networking

// The tokens of the clients.
extension FleetRun {
    /// Returns whether the request may be sent now. If not, the call waits for a token, or has ended.
    mutating func passSession(_ attempt: inout FleetAttempt) -> Bool {
        let client = Int(attempt.client)
        let session = FleetClients.session
        switch clients.sessions[client].passage(of: session, at: date) {
        case .open:
            attempt.generation = UInt16(truncatingIfNeeded: clients.sessions[client].generation)
            return true
        case .wait:
            returnProbe(&attempt)
            perform(
                clients.sessions[client].wait(attempt.waiter(isRefused: false), of: session, toPassAt: date),
                of: attempt.client)
        case .closed:
            returnProbe(&attempt)
            fail(attempt, with: .noToken)
        }
        return false
    }

    /// Notifies the session of a response. Returns the judgement of the session if the response refuses the token.
    mutating func judgeToken(_ attempt: FleetAttempt) -> AccessTokenMachine.Judgement? {
        let client = Int(attempt.client)
        guard !clients.sessions.isEmpty, attempt.outcome.status != nil else { return nil }
        clients.sessions[client].noteResponse(toGeneration: Int(attempt.generation))
        guard attempt.outcome == .unauthorized else { return nil }
        let (judgement, effects) = clients.sessions[client].judge(
            refusalOfGeneration: Int(attempt.generation), of: FleetClients.session,
            hasRefreshed: member(of: attempt).hasRefreshed)
        perform(effects, of: attempt.client)
        return judgement
    }

    /// Handles a refused token.
    mutating func refuse(_ attempt: FleetAttempt, _ judgement: AccessTokenMachine.Judgement?) {
        var attempt = attempt
        let client = Int(attempt.client)
        guard let judgement else { return refuseWithoutSession(attempt) }
        switch judgement {
        case .giveUp:
            fail(attempt, with: .unacceptableStatus)
        case .repeatWithCurrent:
            var member = member(of: attempt)
            guard member.mayRepeatWithCurrent() else { return fail(attempt, with: .unacceptableStatus) }
            attempt.repeats = member.repeats.rawValue
            send(attempt)
        case .waitForRefresh:
            perform(
                clients.sessions[client].wait(
                    attempt.waiter(isRefused: true), forRefreshOfGeneration: Int(attempt.generation),
                    of: FleetClients.session),
                of: attempt.client)
        }
    }

    /// Handles the response to the request for a new token.
    mutating func endRefresh(_ attempt: FleetAttempt) {
        let client = Int(attempt.client)
        guard !attempt.isAlone else { return endRefreshAlone(attempt) }
        guard let job = clients.jobs.removeValue(forKey: attempt.client) else { return }
        if attempt.outcome == .ok {
            let token = AccessToken("new", expiresAt: date.addingTimeInterval(3_600))
            perform(
                clients.sessions[client].succeed(job, with: token, from: .refresh, isKept: true, at: date),
                of: attempt.client)
        } else {
            let error = NetworkError(.unacceptableStatus)
            perform(clients.sessions[client].fail(job, with: error, isRejection: false), of: attempt.client)
        }
    }

    private mutating func perform(_ effects: [AccessTokenMachine.Effect], of client: UInt32) {
        for effect in effects {
            switch effect {
            case .start(let job):
                clients.jobs[client] = job
                send(FleetAttempt(client: Int(client), kind: .refresh))
            case .release(let waiter, let origin):
                release(waiter, origin)
            case .fail(let waiter, _):
                fail(FleetAttempt(waiter: waiter), with: .noToken)
            case .cancel, .announce, .keep:
                break
            }
        }
    }

    /// Sends a call whose wait for a token has ended.
    private mutating func release(_ waiter: AccessTokenMachine.Waiter, _ origin: AccessTokenMachine.Origin) {
        var attempt = FleetAttempt(waiter: waiter)
        var member = member(of: attempt)
        if FleetAttempt.isRefused(waiter) {
            guard member.mayRepeat(with: origin) else { return fail(attempt, with: .unacceptableStatus) }
        } else {
            member.pass(with: origin)
        }
        attempt.repeats = member.repeats.rawValue
        send(attempt)
    }

    /// Returns those properties of the call that the rules of the session need.
    private func member(of attempt: FleetAttempt) -> SessionTicket.Member {
        var member = SessionTicket.Member(of: FleetClients.session)
        let repeats = SessionTicket.Member.Repeats(rawValue: attempt.repeats)
        if repeats.contains(.afterRefresh) { member.pass(with: .refresh) }
        if repeats.contains(.withCurrent) { _ = member.mayRepeatWithCurrent() }
        return member
    }

    // MARK: Without the library

    /// A call without a session requests a new token for itself, once.
    private mutating func refuseWithoutSession(_ attempt: FleetAttempt) {
        guard attempt.repeats == 0 else { return fail(attempt, with: .unacceptableStatus) }
        var refresh = attempt
        refresh.kind = .refresh
        refresh.isAlone = true
        send(refresh)
    }

    private mutating func endRefreshAlone(_ attempt: FleetAttempt) {
        var call = attempt
        call.kind = .call
        call.isAlone = false
        guard attempt.outcome == .ok else { return fail(call, with: .unacceptableStatus) }
        clients.hasNewToken[Int(attempt.client)] = true
        call.repeats = 1
        send(call)
    }
}
