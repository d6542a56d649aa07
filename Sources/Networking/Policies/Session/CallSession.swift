import Foundation

/// The session that a call belongs to, and how often the call has been sent again because of its token. It travels with the call's request.
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

    /// Whether the call belongs to a session; one that belongs to none joins it.
    func joins(_ session: UUID) -> Bool {
        state.withLock { state in
            state.session = state.session ?? session
            return state.session == session
        }
    }

    /// Counts a repeat; false if it has been granted before.
    func insert(_ reason: Repeats) -> Bool { state.withLock { $0.repeats.insert(reason).inserted } }
}

/// Which token a request carries, and what was found about it when the server refused it.
///
/// The gate hears of a refusal first, so that a refresh runs before the permit is handed on; the handler asks next and must get the
/// same judgement, whatever has happened in between.
final class SentToken: CarriedToken {
    let generation: Int
    let session: UUID
    let call: CallSession
    private let judgement = Locked<AccessTokenMachine.Judgement?>(nil)

    init(generation: Int, session: UUID, of call: CallSession) {
        self.generation = generation
        self.session = session
        self.call = call
    }

    /// The judgement of the refusal; made when it is asked for first.
    func judged(_ judge: () -> AccessTokenMachine.Judgement) -> AccessTokenMachine.Judgement {
        if let known = judgement.withLock({ $0 }) { return known }
        let made = judge()
        return judgement.withLock { known in
            known = known ?? made
            return known ?? made
        }
    }
}

/// A part of a service that belongs to a session.
protocol AccessTokenPart: Sendable {
    var supervisor: AccessTokenSupervisor { get }
}

extension TokenGate: AccessTokenPart {}
extension TokenRequestAdapter: AccessTokenPart {}
extension UnauthorizedErrorHandler: AccessTokenPart {}
