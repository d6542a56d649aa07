import Foundation

// The methods for the gate, the adapter and the handler.
extension AccessTokenSupervisor {
    /// Adds the current token to a request of a call, and notes the token in the request. Adds no field if there is no
    /// token.
    ///
    /// - Parameter addFields: Adds other fields that belong to the token.
    /// - Throws: ``NetworkError/Kind/noToken`` if the call belongs to another session, unless its token is optional.
    ///   ``NetworkError/Kind/invalidRequest`` if the token is empty, or begins with its scheme.
    func authorize(
        _ request: inout HTTPRequest, of call: SessionTicket.Call,
        adding addFields: (@Sendable (AccessToken, inout HTTPHeaders) -> Void)?
    ) throws {
        let (credential, user) = state.withLock { ($0.machine.credential(of: call.member), $0.currentUser()) }
        // A request that an error handler has returned may still have the fields of an earlier token.
        request.headers.removeAll { $0.isFromSession }
        switch credential {
        case .closed(let error): throw NetworkError.noToken(because: error, request)
        case .anonymous: request.belong(to: call)
        case .token(nil, _): request.carry(SessionTicket.Token(nil), of: user, in: call)
        case .token(let token?, let mark):
            try NetworkError.require(!token.value.isEmpty, "access token: expected a text, found an empty one")
            var fields = HTTPHeaders()
            addFields?(token, &fields)
            for field in fields {
                // All of these fields are sensitive, so that no text shows the data of a user.
                let secret = HTTPHeader(field.name, field.value, isSensitive: true)
                request.headers.set(secret.from(.session(user)))
            }
            let type = token.scheme ?? call.authorizationType
            let scheme = type.scheme
            try NetworkError.require(
                !token.value.beginsWithScheme(scheme),
                "access token: its value begins with its scheme; write it without \"\(scheme)\"")
            request.headers.set(.authorization(type, token.value).from(.session(user)))
            request.carry(SessionTicket.Token(mark), of: user, in: call)
        }
    }

    /// Notes, in the request, the token that the app itself has added to the request.
    ///
    /// - Throws: ``NetworkError/Kind/noToken`` if the call belongs to another session, whose token the request may
    ///   carry.
    func mark(_ request: inout HTTPRequest, of call: SessionTicket.Call) throws {
        guard let field = request.headers[.authorization] else { return }
        let value = field.split(separator: " ", maxSplits: 1).last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
        switch state.withLock({ $0.machine.mark(ofToken: value, in: call.member) }) {
        case nil: return
        case .success(let mark): request.carry(SessionTicket.Token(mark), of: nil, in: call)
        case .failure(let error): throw NetworkError.noToken(because: error, request)
        }
    }

    /// Notes the current session on the first request of a call, if the call may carry a token.
    ///
    /// - Parameters:
    ///   - number: The number of the session in which the call began. Default: the current session.
    ///   - isFirst: Returns true if the handler of the session is the first error handler of the service that can
    ///     decide.
    func beginCall(
        with request: inout HTTPRequest, of endpoint: any Endpoint, inSession number: Int?,
        isFirst: @escaping @Sendable () -> Bool
    ) {
        if let call = newCall(for: request, of: endpoint, number, isFirst) { request.belong(to: call) }
    }

    private func newCall(
        for request: HTTPRequest, of endpoint: any Endpoint, _ number: Int?, _ isFirst: @escaping @Sendable () -> Bool
    ) -> SessionTicket.Call? {
        let type = request.authorizationType(of: endpoint)
        guard type.asksForToken else { return nil }
        return SessionTicket.Call(
            of: self, session: number ?? sessionNumber, request: request, as: type, isFirst: isFirst)
    }

    /// Returns the session of the call of a request. Returns nil if the request carries no token, because it needs no
    /// token, is part of a refresh, or goes to another origin.
    func call(of request: HTTPRequest, _ endpoint: any Endpoint) -> SessionTicket.Call? {
        let known = request.parts.read(SessionTicket.self) { $0.call }
        let new = known == nil && request.isUnresolved ? newCall(for: request, of: endpoint, nil) { false } : nil
        guard let call = known ?? new, call.isOf(self), request.admission != .refresh else { return nil }
        guard request.origin == call.home || request.origin.map(origins.contains) ?? false else { return nil }
        return call
    }

    /// Returns whether a request of a call may be sent now.
    func passage(of call: SessionTicket.Call) -> AccessTokenMachine.Passage {
        let now = clock.date()
        return state.withLock { $0.machine.passage(of: call.member, at: now) }
    }

    /// Waits until the requests of a call may be sent.
    func waitToPass(of call: SessionTicket.Call) async throws {
        let refreshed = try await wait(for: call) { $0.wait($1, of: call.member, toPassAt: $2) }
        // If the token comes from a refresh, the call has used its only refresh. If this token is refused, the call
        // ends.
        change(call) { $0.pass(refreshed: refreshed) }
    }

    /// Changes the state of a call in the session.
    private func change<Value: Sendable>(
        _ call: SessionTicket.Call, _ change: (inout SessionTicket.Member) -> Value
    ) -> Value {
        state.withLock { _ in change(&call.member) }
    }

    /// Rule 11: the number of the current session.
    var sessionNumber: Int { state.withLock { $0.machine.sessionNumber } }
}

// What follows from the responses to authorized requests.
extension AccessTokenSupervisor {
    /// Receives the head of the response to a request. If the head shows that the token is refused, and no other error
    /// handler can decide before the handler of the session, a refresh begins.
    func hear(headOf response: HTTPResponse) {
        guard response.request.parts.transfer?.isRefusal(headOf: response) == true else { return }
        hear(refusal: response)
    }

    /// Receives the complete response, after its head. If the body shows that the token is refused, and no other error
    /// handler can decide before the handler of the session, a refresh begins. The gate calls this method before the
    /// permit is released.
    func hear(_ response: HTTPResponse) {
        guard response.isRefusal else { return hear(acceptance: response) }
        if response.isRefusalByBody { hear(refusal: response) }
    }

    private func hear(acceptance response: HTTPResponse) {
        state.hear(acceptance: response, of: ObjectIdentifier(self))
    }

    private func hear(refusal response: HTTPResponse) {
        let sending = response.request.parts.session?.sending(of: ObjectIdentifier(self))
        guard let (call, sent) = sending else { return }
        let startsRefresh = call.isFirst()  // not under the lock
        let endpoint = AccessTokenMachine.RefusingEndpoint(call.endpointName(), status: response.status.code)
        run { machine, _ in
            guard var mark = sent.mark else { return [] }
            defer { sent.mark = mark }
            return machine.hear(refusalOf: &mark, by: endpoint, in: call.member, startsRefresh: startsRefresh)
        }
    }

    /// Waits until a call whose token was refused may be sent again. If there is a newer token, does not wait;
    /// otherwise waits for the refresh. If no refresh is in progress, a refresh begins.
    ///
    /// - Returns: The reason for the repetition; nil if the call has already been repeated for this reason.
    /// - Throws: The reason why there is no token.
    func waitToRepeat(_ call: SessionTicket.Call, _ sent: SessionTicket.Token, status: Int) async throws -> String? {
        let endpoint = AccessTokenMachine.RefusingEndpoint(call.endpointName(), status: status)
        let refreshed = try await wait { machine, waiter, _ in
            guard var mark = sent.mark else { return [.fail(waiter, TokenUnavailable.none)] }
            defer { sent.mark = mark }
            return machine.arrive(waiter, with: &mark, by: endpoint, in: call.member)
        }
        guard change(call, { $0.mayRepeat(refreshed: refreshed) }) else { return nil }
        return refreshed == nil ? "there is a newer token" : "the token was refreshed"
    }

    /// How the session recognises a response which means that the token of the request is refused.
    var refusal: RefusalRule {
        let (statuses, refuses, id, state) = (unauthorizedStatuses, refuses, ObjectIdentifier(self), state)
        @Sendable func carriesToken(_ response: HTTPResponse) -> Bool {
            guard response.source == .network else { return false }
            return response.request.parts.read(SessionTicket.self) { ticket in
                ticket.token?.carriesToken == true && ticket.call?.supervisor == id
            } ?? false
        }
        return RefusalRule { response in
            guard statuses.contains(response.status), carriesToken(response) else { return false }
            return !response.headers.challenges.contains { $0.error == "insufficient_scope" }
        } body: { response in
            guard let refuses, carriesToken(response) else { return false }
            return refuses(response)
        } progress: { response in
            state.hear(progress: response, of: id)
        }
    }
}

// The rule for refusals calls these methods, so it retains the state and not the session. If a weak reference to the
// session existed, retaining and releasing the session would take longer.
extension Locked<AccessTokenSupervisor.State> {
    /// Receives a response that does not refuse the token.
    ///
    /// - Parameter supervisor: The identity of the session's supervisor.
    fileprivate func hear(acceptance response: HTTPResponse, of supervisor: ObjectIdentifier) {
        let sending = response.request.parts.read(SessionTicket.self) { $0.sending(of: supervisor) }
        guard let (call, sent) = sending else { return }
        let isAccepted = response.status.isSuccessful || response.status.isRedirection
        withLock { state in
            guard let mark = sent.mark else { return }
            state.machine.hear(acceptanceOf: mark, by: isAccepted ? call.endpointName() : nil)
        }
    }

    /// Receives the response to one of several requests of an attempt. If the server has accepted the token earlier in
    /// the attempt and now refuses it, the token has expired. The call may then wait for another refresh.
    ///
    /// - Parameter supervisor: The identity of the session's supervisor.
    fileprivate func hear(progress response: HTTPResponse, of supervisor: ObjectIdentifier) {
        hear(acceptance: response, of: supervisor)
        guard let (call, _) = response.request.parts.session?.sending(of: supervisor) else { return }
        withLock { _ in call.member.advance() }
    }
}

extension String {
    /// Returns whether the text begins with the name of a scheme, in any case, and a space.
    fileprivate func beginsWithScheme(_ scheme: String) -> Bool {
        guard !scheme.isEmpty, utf8.dropFirst(scheme.utf8.count).first == UInt8(ascii: " ") else { return false }
        return HTTPGrammar.isEqualIgnoringCase(utf8.prefix(scheme.utf8.count), scheme.utf8)
    }
}

/// A part of a service that belongs to a session.
protocol AccessTokenPart: Sendable {
    var supervisor: AccessTokenSupervisor { get }
}
