import Foundation

/// The session of a call, the number of times that the call was sent, and the reasons for which it was repeated. The
/// object is attached to the call's requests.
final class CallSession: HTTPRequest.Attachment {
    static var isSensitive: Bool { false }

    /// The authorization type of the call.
    let authorizationType: AuthorizationType
    /// The origin that receives the token.
    let home: HTTPOrigin?
    private let supervisor: ObjectIdentifier
    /// The state of the call in the session. Only the supervisor uses it, and only under its own lock: it decides from
    /// this state and its own state together.
    @exclusivity(unchecked) nonisolated(unsafe) var member: SessionMember  // because of the supervisor's lock

    /// - Parameter session: The session. Nil if there is no session yet: the call then joins the session in which it is
    ///   first sent.
    init(
        of supervisor: AccessTokenSupervisor, session: UUID?, as authorizationType: AuthorizationType, home: HTTPOrigin?
    ) {
        self.supervisor = ObjectIdentifier(supervisor)
        self.authorizationType = authorizationType
        self.home = home
        member = SessionMember(of: session)
    }

    func isOf(_ supervisor: AccessTokenSupervisor) -> Bool { self.supervisor == ObjectIdentifier(supervisor) }
}

extension CarriedToken {
    /// The state of the call in its session. A supervisor reads this property only for requests to which the supervisor
    /// has added a token.
    var callSession: CallSession? { call as? CallSession }
}

/// A part of a service that belongs to a session.
protocol AccessTokenPart: Sendable {
    var supervisor: AccessTokenSupervisor { get }
}

extension TokenGate: AccessTokenPart {}
extension TokenRequestAdapter: AccessTokenPart {}
extension UnauthorizedErrorHandler: AccessTokenPart {}
