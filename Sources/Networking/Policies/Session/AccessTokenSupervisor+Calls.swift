import Foundation

// The methods for the gate, the adapter and the handler.
extension AccessTokenSupervisor {
    /// Adds the current token to a request of a call, and notes it in the request. Adds no field if there is no token.
    ///
    /// - Throws: ``NetworkError/Kind/noToken`` if the call belongs to another session.
    func authorize(_ request: inout HTTPRequest, of call: SessionTicket.Call) throws {
        let (token, generation, session, user, isMember) = state.withLock { state in
            (
                state.machine.token?.value, state.machine.generation, state.machine.session, state.currentUser(),
                call.member.join(state.machine.session)
            )
        }
        guard isMember else { throw NetworkError.noToken(because: SessionEnded(), request) }
        if let token { request.headers.set(.authorization(call.authorizationType, token).from(.session(user))) }
        request.carry(SessionTicket.Token(generation: generation, session: session), of: user, in: call)
    }

    /// Notes the current session on the first request of a call, if the call carries a token.
    func beginCall(with request: inout HTTPRequest, of endpoint: any Endpoint) {
        if let call = newCall(for: request, of: endpoint) { request.belong(to: call) }
    }

    private func newCall(for request: HTTPRequest, of endpoint: any Endpoint) -> SessionTicket.Call? {
        let type = request.authorizationType(of: endpoint)
        guard type != .none, type != .inherited else { return nil }
        return SessionTicket.Call(
            of: self, session: state.withLock { $0.machine.sessionOfNewCall }, as: type, home: request.home)
    }

    /// Returns the session of the call of a request. Returns nil if the request carries no token, because it needs no
    /// token, is part of a refresh, or goes to another origin.
    func call(of request: HTTPRequest, _ endpoint: any Endpoint) -> SessionTicket.Call? {
        let known = request.parts.session?.call
        let new = known == nil && request.isUnresolved ? newCall(for: request, of: endpoint) : nil
        guard let call = known ?? new, call.isOf(self), request.admission != .refresh else { return nil }
        guard request.origin == call.home || request.origin.map(origins.contains) ?? false else { return nil }
        return call
    }

    /// Changes the state of a call in the session.
    func change<Value: Sendable>(_ call: SessionTicket.Call, _ change: (inout SessionTicket.Member) -> Value) -> Value {
        state.withLock { _ in change(&call.member) }
    }

    /// Returns whether a request of a call may be sent now.
    func passage(of call: SessionTicket.Call) -> AccessTokenMachine.Passage {
        let now = clock.date()
        return state.withLock { $0.machine.passage(of: call.member.session, at: now) }
    }

    /// Waits until the requests of a call may be sent.
    func waitToPass(of call: SessionTicket.Call) async throws {
        let origin = try await wait { $0.wait($1, of: call.member.session, toPassAt: $2) }
        // A token from a refresh uses up the one refresh of this call: if the token is refused, the call ends.
        change(call) { $0.pass(with: origin) }
    }

    /// Returns the error of the refresh that started because a token was refused. Nil if that refresh did not fail.
    func refreshError(of sent: SessionTicket.Token) -> (any Error)? {
        state.withLock { $0.machine.refreshError(ofGeneration: sent.generation) }
    }

    /// Waits for the refresh that started because a token was refused.
    func waitForRefresh(of sent: SessionTicket.Token) async throws -> AccessTokenMachine.Origin {
        try await wait { machine, waiter, _ in
            machine.wait(waiter, forRefreshOfGeneration: sent.generation, of: sent.session)
        }
    }

    /// Returns the judgement about a request whose token the response refuses. Nil if the response does not refuse the
    /// token, or if the request carried no token of this supervisor.
    ///
    /// The gate calls this method first, and this call judges, so that a refresh begins before the permit is released.
    /// The handler calls the method later and must get the same judgement, even if the session has changed since.
    func judge(_ response: HTTPResponse) -> AccessTokenMachine.Judgement? {
        guard let ticket = response.request.parts.session, let sent = ticket.token, let call = ticket.call,
            call.isOf(self)
        else { return nil }
        guard response.isRefusal else {
            state.withLock { $0.machine.noteResponse(toGeneration: sent.generation) }
            return nil
        }
        var judgement = AccessTokenMachine.Judgement.giveUp
        run { machine, _ in
            if let known = sent.judgement {
                judgement = known
                return []
            }
            machine.noteResponse(toGeneration: sent.generation)
            let effects: [AccessTokenMachine.Effect]
            (judgement, effects) = machine.judge(
                refusalOfGeneration: sent.generation, of: sent.session, hasRefreshed: call.member.hasRefreshed)
            sent.judgement = judgement
            return effects
        }
        return judgement
    }

    /// Returns whether a response refuses the token of its request. The response keeps the decision: see
    /// ``HTTPResponse/isRefusal``. The closure does not retain the session.
    var refusal: @Sendable (HTTPResponse) -> Bool {
        let (statuses, id) = (unauthorizedStatuses, ObjectIdentifier(self))
        return { response in
            guard statuses.contains(response.status), let ticket = response.request.parts.session,
                ticket.token != nil, ticket.call?.supervisor == id
            else { return false }
            return !response.headers.challenges.contains { $0.error == "insufficient_scope" }
        }
    }
}

/// A part of a service that belongs to a session.
protocol AccessTokenPart: Sendable {
    var supervisor: AccessTokenSupervisor { get }
}
