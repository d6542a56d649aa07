import Foundation

/// What a request carries for its session: the state of its call, and the token that it is sent with. It is the part of
/// a request that belongs to the session.
package struct SessionTicket: HTTPRequest.Part {
    /// The state of the call in its session; nil outside the call.
    private(set) var call: Call?
    /// The token that the request carries; nil before the token is added, and at other origins.
    private(set) var token: Token?
    /// The user of the session whose token the request carries; nil if it carries none.
    private(set) var user: HTTPHeader.User?

    /// Another origin does not get the token, so its refusal is no refusal of the token.
    package var outsideOrigin: SessionTicket? { call.map { SessionTicket(call: $0) } }

    /// The session's id, so that a response is stored for the user of the request.
    package var outsideCall: SessionTicket? { user.map { SessionTicket(user: $0) } }

    package var identity: [String] { user.map { [$0.id] } ?? [] }
}

extension SessionTicket {
    /// A call of a session: how it is authorized, where its token may go, and how often it was repeated.
    final class Call: Sendable {
        /// The authorization type of the call.
        let authorizationType: AuthorizationType
        /// The origin that receives the token.
        let home: HTTPOrigin?
        let supervisor: ObjectIdentifier
        /// The state of the call in the session. Only the supervisor uses it, and only under its own lock: it decides
        /// from this state and its own state together.
        @exclusivity(unchecked) nonisolated(unsafe) var member: Member  // because of the supervisor's lock

        /// - Parameter session: The session. Nil if there is no session yet: the call then joins the session in which
        ///   it is first sent.
        init(
            of supervisor: AccessTokenSupervisor, session: UUID?, as authorizationType: AuthorizationType,
            home: HTTPOrigin?
        ) {
            self.supervisor = ObjectIdentifier(supervisor)
            self.authorizationType = authorizationType
            self.home = home
            member = Member(of: session)
        }

        func isOf(_ supervisor: AccessTokenSupervisor) -> Bool { self.supervisor == ObjectIdentifier(supervisor) }
    }

    /// The token of one request. If the session has no token, the request has this object, too.
    final class Token: Sendable {
        typealias Judgement = AccessTokenMachine.Judgement

        /// The generation of the session when the token was added.
        let generation: Int
        let session: UUID

        /// What happens to the request if the server refuses the token; nil before it has refused it. The gate decides,
        /// before the permit of the request is handed on; the handler gets the same judgement, even if the session has
        /// changed since.
        @exclusivity(unchecked) nonisolated(unsafe) var judgement: Judgement?  // because of the supervisor's lock

        init(generation: Int, session: UUID) {
            self.generation = generation
            self.session = session
        }
    }
}

extension HTTPRequest.Parts {
    /// The ticket of the request's session; nil if its call needs no token.
    var session: SessionTicket? { self[SessionTicket.self] }
}

extension HTTPRequest {
    /// The number of the token that the request carries, counted from 0 for the first token of the session; nil if the
    /// request carries none.
    var tokenGeneration: Int? { headers.contains(.authorization) ? parts.session?.token?.generation : nil }

    /// Makes the request a request of a call of a session.
    mutating func belong(to call: SessionTicket.Call) { parts[SessionTicket.self] = SessionTicket(call: call) }

    /// Notes the token that the request carries.
    mutating func carry(_ token: SessionTicket.Token, of user: HTTPHeader.User?, in call: SessionTicket.Call) {
        parts[SessionTicket.self] = SessionTicket(call: call, token: token, user: user)
    }
}
