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
    private let member: Locked<SessionMember>

    /// - Parameter session: The session. Nil if there is no session yet: the call then joins the session in which it is
    ///   first sent.
    init(
        of supervisor: AccessTokenSupervisor, session: UUID?, as authorizationType: AuthorizationType, home: HTTPOrigin?
    ) {
        self.supervisor = ObjectIdentifier(supervisor)
        self.authorizationType = authorizationType
        self.home = home
        member = Locked(SessionMember(of: session))
    }

    func isOf(_ supervisor: AccessTokenSupervisor) -> Bool { self.supervisor == ObjectIdentifier(supervisor) }

    var session: UUID? { member.withLock { $0.session } }

    /// Whether a refresh for this call has already brought a token.
    var hasRefreshed: Bool { member.withLock { $0.hasRefreshed } }

    /// Changes the state of the call in the session.
    func change<Value: Sendable>(_ change: (inout SessionMember) -> Value) -> Value { member.withLock { change(&$0) } }

    /// Returns the judgement of a refusal. The gate calls this method first. This first call makes the judgement, so
    /// that a refresh begins before the permit is released. The handler calls the method later and must get the same
    /// judgement, even if the session has changed since.
    func judgement(
        of sent: CarriedToken, _ judge: () -> AccessTokenMachine.Judgement
    ) -> AccessTokenMachine.Judgement {
        if let known = member.withLock({ $0.judgement(ofSend: sent.number) }) { return known }
        let made = judge()
        member.withLock { $0.note(made, ofSend: sent.number) }
        return made
    }
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
