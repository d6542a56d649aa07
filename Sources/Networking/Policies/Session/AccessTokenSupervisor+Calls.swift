import Foundation

// The methods for the gate, the adapter and the handler.
extension AccessTokenSupervisor {
    /// Returns the field with the token, and the mark that a request with this token carries. The field is nil if there
    /// is no token.
    ///
    /// - Throws: ``NetworkError/Kind/noToken`` if the call belongs to another session.
    func authorize(by call: CallSession, on request: HTTPRequest) throws -> (field: HTTPHeader?, mark: CarriedToken) {
        let (token, generation, session) = state.withLock { state in
            (state.machine.token?.value, state.machine.generation, state.machine.session)
        }
        guard let number = call.change({ $0.join(session) }) else {
            throw NetworkError.noToken(because: SessionEnded(), request)
        }
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

    /// Returns whether a request of a session may be sent now.
    func passage(of session: UUID?) -> AccessTokenMachine.Passage {
        let now = clock.date()
        return state.withLock { $0.machine.passage(of: session, at: now) }
    }

    /// Waits until requests of a session may be sent.
    ///
    /// - Returns: The origin of the token.
    @discardableResult
    func waitToPass(of session: UUID?) async throws -> AccessTokenMachine.Origin {
        try await wait { $0.wait($1, of: session, toPassAt: $2) }
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
    func judge(_ response: HTTPResponse) -> AccessTokenMachine.Judgement? {
        guard let sent = response.request[attachment: CarriedToken.self], let call = sent.callSession, call.isOf(self)
        else {
            return nil
        }
        guard isRefusal(response) else {
            state.withLock { $0.machine.noteResponse(toGeneration: sent.generation) }
            return nil
        }
        return call.judgement(of: sent) {
            let hasRefreshed = call.hasRefreshed
            var judgement = AccessTokenMachine.Judgement.giveUp
            run { machine, _ in
                machine.noteResponse(toGeneration: sent.generation)
                let effects: [AccessTokenMachine.Effect]
                (judgement, effects) = machine.judge(
                    refusalOfGeneration: sent.generation, of: sent.session, hasRefreshed: hasRefreshed)
                return effects
            }
            return judgement
        }
    }

    private func isRefusal(_ response: HTTPResponse) -> Bool {
        unauthorizedStatuses.contains(response.status)
            && !response.headers.challenges.contains { $0.error == "insufficient_scope" }
    }
}
