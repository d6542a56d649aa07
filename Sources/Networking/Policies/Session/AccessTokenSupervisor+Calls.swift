import Foundation

// The methods for the gate, the adapter and the handler.
extension AccessTokenSupervisor {
    /// Returns the field with the token, and the mark that a request with this token carries. The field is nil if there
    /// is no token.
    ///
    /// - Throws: ``NetworkError/Kind/noToken`` if the call belongs to another session.
    func authorize(by call: CallSession, on request: HTTPRequest) throws -> (field: HTTPHeader?, mark: CarriedToken) {
        let (token, generation, session, number) = state.withLock { state in
            let machine = state.machine
            return (machine.token?.value, machine.generation, machine.session, call.member.join(machine.session))
        }
        guard let number else { throw NetworkError.noToken(because: SessionEnded(), request) }
        let field = token.map { HTTPHeader.authorization(call.authorizationType, $0) }
        let mark = CarriedToken(
            number, generation: generation, session: session,
            field: session == AccessToken.unnamedSession ? nil : field?.value, of: call, refusedBy: unauthorizedStatuses
        )
        return (field, mark)
    }

    /// Notes the current session on the first request of a call, if the call carries a token.
    func beginCall(with request: inout HTTPRequest, of endpoint: any Endpoint) {
        let type = request.authorizationType(of: endpoint)
        guard type != .none, type != .inherited else { return }
        request[attachment: CallSession.self] = CallSession(
            of: self, session: state.withLock { $0.machine.sessionOfNewCall }, as: type, home: request.home)
    }

    /// Returns the session of the call of a request. Returns nil if the request carries no token, because it needs no
    /// token, is part of a refresh, or goes to another origin.
    func call(of request: HTTPRequest, _ endpoint: any Endpoint) -> CallSession? {
        var call = request[attachment: CallSession.self]
        if call == nil, request.isUnresolved {
            var request = request
            beginCall(with: &request, of: endpoint)
            call = request[attachment: CallSession.self]
        }
        guard let call, call.isOf(self), request.admission != .refresh else { return nil }
        guard request.origin == call.home || request.origin.map(origins.contains) ?? false else { return nil }
        return call
    }

    /// Changes the state of a call in the session.
    func change<Value: Sendable>(_ call: CallSession, _ change: (inout SessionMember) -> Value) -> Value {
        state.withLock { _ in change(&call.member) }
    }

    /// Returns whether a request of a call may be sent now.
    func passage(of call: CallSession) -> AccessTokenMachine.Passage {
        let now = clock.date()
        return state.withLock { $0.machine.passage(of: call.member.session, at: now) }
    }

    /// Waits until the requests of a call may be sent.
    func waitToPass(of call: CallSession) async throws {
        let origin = try await wait { $0.wait($1, of: call.member.session, toPassAt: $2) }
        // A token from a refresh uses up the one refresh of this call: if the token is refused, the call ends.
        change(call) { $0.pass(with: origin) }
    }

    /// Returns the error of the refresh that started because a token was refused. Nil if that refresh did not fail.
    func refreshError(of sent: CarriedToken) -> (any Error)? {
        state.withLock { $0.machine.refreshError(ofGeneration: sent.generation) }
    }

    /// Waits for the refresh that started because a token was refused.
    func waitForRefresh(of sent: CarriedToken) async throws -> AccessTokenMachine.Origin {
        try await wait { machine, waiter, _ in
            machine.wait(waiter, forRefreshOfGeneration: sent.generation, of: sent.session)
        }
    }

    /// Returns the decision about a request whose token the response refuses. Nil if the response does not refuse the
    /// token, or if the request carried no token of this supervisor.
    ///
    /// The gate calls this method first, and this call makes the decision, so that a refresh begins before the permit
    /// is released. The handler calls the method later and must get the same decision, even if the session has changed
    /// since.
    func judge(_ response: HTTPResponse) -> AccessTokenMachine.Judgement? {
        guard let sent = response.request[attachment: CarriedToken.self], let call = sent.callSession, call.isOf(self)
        else {
            return nil
        }
        guard isRefusal(response) else {
            state.withLock { $0.machine.noteResponse(toGeneration: sent.generation) }
            return nil
        }
        var judgement = AccessTokenMachine.Judgement.giveUp
        run { machine, _ in
            if let known = call.member.judgement(ofSend: sent.number) {
                judgement = known
                return []
            }
            machine.noteResponse(toGeneration: sent.generation)
            let effects: [AccessTokenMachine.Effect]
            (judgement, effects) = machine.judge(
                refusalOfGeneration: sent.generation, of: sent.session, hasRefreshed: call.member.hasRefreshed)
            call.member.note(judgement, ofSend: sent.number)
            return effects
        }
        return judgement
    }

    private func isRefusal(_ response: HTTPResponse) -> Bool {
        unauthorizedStatuses.contains(response.status)
            && !response.headers.challenges.contains { $0.error == "insufficient_scope" }
    }
}
