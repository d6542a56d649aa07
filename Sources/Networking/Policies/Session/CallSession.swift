import Foundation

/// The session that a call belongs to, and how often the call has been sent again because of its token. It travels with
/// the call's request.
final class CallSession: RequestOption, Sendable {
    static var defaultOption: CallSession? { nil }

    /// Why a call was sent again; each is granted once.
    struct Repeats: OptionSet, Sendable {
        let rawValue: UInt8

        /// Rule 2: with the current token.
        static let withCurrent = Repeats(rawValue: 1)
        /// Rule 3: after a refresh.
        static let afterRefresh = Repeats(rawValue: 2)
    }

    private struct State: Sendable {
        var session: UUID?
        var repeats: Repeats = []
        /// How often it has been sent.
        var sends = 0
        /// What was found about a token when the server refused it, and which one that was.
        var judged: (send: Int, judgement: AccessTokenMachine.Judgement)?
    }

    /// How the call is authorized.
    let authorizationType: AuthorizationType
    /// The origin that gets the token.
    let home: HTTPOrigin?
    private let supervisor: ObjectIdentifier
    private let state: Locked<State>

    /// - Parameter session: Nil if there is none yet: the call joins the one in which it is first sent.
    init(
        of supervisor: AccessTokenSupervisor, session: UUID?, as authorizationType: AuthorizationType, home: HTTPOrigin?
    ) {
        self.supervisor = ObjectIdentifier(supervisor)
        self.authorizationType = authorizationType
        self.home = home
        state = Locked(State(session: session))
    }

    func isOf(_ supervisor: AccessTokenSupervisor) -> Bool { self.supervisor == ObjectIdentifier(supervisor) }

    var session: UUID? { state.withLock { $0.session } }

    var repeats: Repeats { state.withLock { $0.repeats } }

    /// The call is about to be sent with a token of a session. A call that belongs to none joins it.
    ///
    /// - Returns: How often it has been sent, with this; nil if it belongs to another session.
    func join(_ session: UUID) -> Int? {
        state.withLock { state in
            state.session = state.session ?? session
            guard state.session == session else { return nil }
            state.sends += 1
            return state.sends
        }
    }

    /// The judgement of a refusal; made when it is asked for first. The gate hears of a refusal first, so that a
    /// refresh runs before the permit is handed on; the handler asks next and must get the same judgement, whatever has
    /// happened in between.
    func judgement(
        of sent: SentToken, _ judge: () -> AccessTokenMachine.Judgement
    ) -> AccessTokenMachine.Judgement {
        if let known = state.withLock({ $0.judged }), known.send == sent.number { return known.judgement }
        let made = judge()
        state.withLock { $0.judged = (sent.number, made) }
        return made
    }

    /// Counts a repeat; false if it has been granted before.
    func insert(_ reason: Repeats) -> Bool { state.withLock { $0.repeats.insert(reason).inserted } }
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
