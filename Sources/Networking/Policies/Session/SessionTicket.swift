import Foundation

/// The part of a request that belongs to its session: the state of the call, and the token with which the request is
/// sent.
package struct SessionTicket: HTTPRequest.Part {
    /// The state of the call in its session; nil outside the call.
    private(set) var call: Call?
    /// The token that the request carries; nil before the token is added, and at other origins.
    private(set) var token: Token?
    /// The user of the session whose token the request carries; nil if the request carries no token.
    private(set) var user: HTTPHeader.User?

    /// Another origin does not get the token, so a response of that origin cannot refuse the token.
    package var outsideOrigin: SessionTicket? { call.map { SessionTicket(call: $0) } }

    /// Outside its call, a request keeps only the user of its session, so that its response is stored for this user.
    package var outsideCall: SessionTicket? { user.map { SessionTicket(user: $0) } }

    package var identity: [String] { user.map { [$0.id] } ?? [] }
}

extension SessionTicket {
    /// A call of a session: how it is authorized, where its token may go, and how often it was repeated.
    final class Call: Sendable {
        /// The scheme with which the token is sent.
        let authorizationType: AuthorizationType
        /// The origin that receives the token.
        let home: HTTPOrigin?
        let supervisor: ObjectIdentifier
        /// The number of the session in which the call began.
        let session: Int
        /// Returns true if the handler of the session is the first error handler that can decide.
        let isFirst: @Sendable () -> Bool
        /// The error of the refresh for which the call waited last, if the session continues. The handler of the
        /// session sets it.
        @exclusivity(unchecked) nonisolated(unsafe) var refreshError: (any Error)?  // because one task makes the call
        private let (method, path): (HTTPMethod, EndpointPath?)
        /// The state of the call in the session. This property is used only under the lock of the supervisor's state,
        /// because the supervisor decides from both states together.
        @exclusivity(unchecked) nonisolated(unsafe) var member: Member  // because of the supervisor's lock

        init(
            of supervisor: AccessTokenSupervisor, session: Int, request: HTTPRequest, as type: AuthorizationType,
            isFirst: @escaping @Sendable () -> Bool
        ) {
            self.supervisor = ObjectIdentifier(supervisor)
            self.session = session
            (method, path) = (request.method, request.endpointPath)
            let (authorizationType, isOptional) = type.unwrapped
            self.authorizationType = authorizationType
            home = request.home
            self.isFirst = isFirst
            member = Member(of: session, isOptional: isOptional)
        }

        func isOf(_ supervisor: AccessTokenSupervisor) -> Bool { self.supervisor == ObjectIdentifier(supervisor) }

        /// The method, the origin and the path template of the endpoint, which do not depend on the values of the
        /// endpoint.
        func endpointName() -> String { "\(method) \(home.map { "\($0)" } ?? "")/\(path?.template ?? "")" }
    }

    /// The token of one request. The request has this object even if the session has no token.
    final class Token: Sendable {
        /// The generation of the session when the token was added; nil if there was no token.
        let generation: Int?
        /// What the session knows about the token; nil if there was none.
        @exclusivity(unchecked) nonisolated(unsafe) var mark: Mark?  // because of the supervisor's lock

        /// Whether the request carries a token.
        var carriesToken: Bool { generation != nil }

        init(_ mark: Mark?) {
            generation = mark?.generation
            self.mark = mark
        }
    }

    /// Returns the call and the token of a request that carries a token of a session.
    func sending(of supervisor: ObjectIdentifier) -> (Call, Token)? {
        guard let call, let token, token.carriesToken, call.supervisor == supervisor else { return nil }
        return (call, token)
    }
}

extension HTTPRequest.Parts {
    /// The ticket of the request's session; nil if its call needs no token.
    var session: SessionTicket? { self[SessionTicket.self] }
}

extension HTTPRequest {
    /// The number of the token that the request carries, counted from 0 for the first token of the session; nil if the
    /// request carries none.
    var tokenGeneration: Int? {
        guard headers.contains(.authorization) else { return nil }
        return parts.read(SessionTicket.self) { $0.token?.generation }
    }

    /// Assigns the request to a call that belongs to a session.
    mutating func belong(to call: SessionTicket.Call) { parts[SessionTicket.self] = SessionTicket(call: call) }

    /// Notes the token that the request carries.
    mutating func carry(_ token: SessionTicket.Token, of user: HTTPHeader.User?, in call: SessionTicket.Call) {
        parts[SessionTicket.self] = SessionTicket(call: call, token: token, user: user)
    }
}
