import Foundation

/// The session that a call belongs to, and how often the call has been sent again because of its token. It travels with
/// the call's request.
final class CallSession: HTTPRequest.Option, Sendable {
    static var defaultValue: CallSession? { nil }

    /// How the call is authorized.
    let authorizationType: AuthorizationType
    /// The origin that gets the token.
    let home: HTTPOrigin?
    private let supervisor: ObjectIdentifier
    private let member: Locked<SessionMember>

    /// - Parameter session: Nil if there is none yet: the call joins the one in which it is first sent.
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

    /// Whether the call's own refresh has brought a token.
    var hasRefreshed: Bool { member.withLock { $0.hasRefreshed } }

    /// What the rules know about the call, to be changed.
    func change<Value: Sendable>(_ change: (inout SessionMember) -> Value) -> Value { member.withLock { change(&$0) } }

    /// The judgement of a refusal; made when it is asked for first. The gate hears of a refusal first, so that a
    /// refresh runs before the permit is handed on; the handler asks next and must get the same judgement, whatever has
    /// happened in between.
    func judgement(
        of sent: SentToken, _ judge: () -> AccessTokenMachine.Judgement
    ) -> AccessTokenMachine.Judgement {
        if let known = member.withLock({ $0.judgement(ofSend: sent.number) }) { return known }
        let made = judge()
        member.withLock { $0.note(made, ofSend: sent.number) }
        return made
    }
}

/// Which token a request carries.
final class SentToken: CarriedToken {
    /// Which of the requests it is that the call has sent.
    let number: Int
    let generation: Int
    let session: UUID
    let call: CallSession
    let refusedStatuses: Set<HTTPStatus>

    init(
        _ number: Int, generation: Int, session: UUID, of call: CallSession, refusedBy statuses: Set<HTTPStatus>
    ) {
        self.number = number
        self.generation = generation
        self.session = session
        self.call = call
        refusedStatuses = statuses
    }
}

/// A part of a service that belongs to a session.
protocol AccessTokenPart: Sendable {
    var supervisor: AccessTokenSupervisor { get }
}

extension TokenGate: AccessTokenPart {}
extension TokenRequestAdapter: AccessTokenPart {}
extension UnauthorizedErrorHandler: AccessTokenPart {}
