import Foundation
import Networking

// The tokens of the clients.
extension FleetRun {
    /// Returns whether the request may be sent now. If not, the call waits for a token, or has ended.
    mutating func passSession(_ attempt: inout FleetAttempt) -> Bool {
        let (client, call) = (Int(attempt.client), SessionTicket.Member(of: 0))
        switch clients.sessions[client].passage(of: call, at: date) {
        case .open:
            attempt.generation = UInt16(truncatingIfNeeded: clients.sessions[client].generation)
            return true
        case .wait:
            returnProbe(&attempt)
            perform(
                clients.sessions[client].wait(attempt.waiter(isRefused: false), of: call, toPassAt: date),
                of: attempt.client)
        case .closed:
            returnProbe(&attempt)
            fail(attempt, with: .noToken)
        }
        return false
    }

    /// Notifies the session of a response. No other handler precedes the session's handler, so a refusal may start a
    /// refresh.
    ///
    /// - Returns: The refused token; nil if the response refuses none.
    mutating func hear(_ attempt: FleetAttempt) -> SessionTicket.Mark? {
        let client = Int(attempt.client)
        guard !clients.sessions.isEmpty, attempt.outcome.status != nil else { return nil }
        var mark = SessionTicket.Mark(generation: Int(attempt.generation), session: 0)
        guard attempt.outcome == .unauthorized else {
            clients.sessions[client].hear(
                acceptanceOf: mark, by: attempt.outcome == .ok ? FleetRun.endpoint.name : nil)
            return nil
        }
        perform(
            clients.sessions[client].hear(
                refusalOf: &mark, by: FleetRun.endpoint, in: member(of: attempt), startsRefresh: true),
            of: attempt.client)
        return mark
    }

    /// Handles a refused token.
    mutating func refuse(_ attempt: FleetAttempt, _ mark: SessionTicket.Mark?) {
        guard var mark else { return refuseWithoutSession(attempt) }
        perform(
            clients.sessions[Int(attempt.client)].arrive(
                attempt.waiter(isRefused: true), with: &mark, by: FleetRun.endpoint, in: member(of: attempt)),
            of: attempt.client)
    }

    private static let endpoint = AccessTokenMachine.RefusingEndpoint("GET /", status: 401)

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
            perform(clients.sessions[client].fail(job, with: error, isLogOut: false), of: attempt.client)
        }
    }

    private mutating func perform(_ effects: [AccessTokenMachine.Effect], of client: UInt32) {
        for effect in effects {
            switch effect {
            case .start(let job):
                clients.jobs[client] = job
                send(FleetAttempt(client: Int(client), kind: .refresh))
            case .release(let waiter, let refreshed):
                release(waiter, refreshed)
            case .fail(let waiter, _):
                let isRefused = FleetAttempt.isRefused(waiter)
                fail(FleetAttempt(waiter: waiter), with: isRefused ? .unacceptableStatus : .noToken)
            case .cancel, .announce, .keep:
                break
            }
        }
    }

    /// Sends a call whose wait for a token has ended.
    private mutating func release(_ waiter: AccessTokenMachine.Waiter, _ refreshed: Int?) {
        var attempt = FleetAttempt(waiter: waiter)
        var member = member(of: attempt)
        if FleetAttempt.isRefused(waiter) {
            guard member.mayRepeat(refreshed: refreshed) else { return fail(attempt, with: .unacceptableStatus) }
        } else {
            member.pass(refreshed: refreshed)
        }
        attempt.repeats = (member.isRepeated ? 1 : 0) | (member.refreshedGeneration == nil ? 0 : 2)
        send(attempt)
    }

    /// Returns those properties of the call that the rules of the session need.
    private func member(of attempt: FleetAttempt) -> SessionTicket.Member {
        var member = SessionTicket.Member(of: 0)
        if attempt.repeats & 1 != 0 { _ = member.mayRepeat(refreshed: nil) }
        if attempt.repeats & 2 != 0 { member.pass(refreshed: clients.sessions[Int(attempt.client)].tokenGeneration) }
        return member
    }

    // MARK: Without the library

    /// Without a session, each call requests a new token for itself, once.
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
