/// Puts the supervisor's token on every request whose endpoint is authorized, under the endpoint's scheme.
///
/// It reads the token each time, so that a retry carries the new one. Without a token it sets no field. Requests of a refresh get none.
public struct TokenRequestAdapter: SynchronousRequestAdapter {
    private let supervisor: AccessTokenSupervisor

    /// Makes an adapter; `supervisor.adapter` is the same.
    public init(accessTokenSupervisor: AccessTokenSupervisor) {
        supervisor = accessTokenSupervisor
    }

    /// Sets `Authorization`, in place of one that is there, and marks the request with the token it carries.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        guard endpoint.authorizationType != .none, request[option: AdmissionOption.self] != .refresh else { return }
        let (token, generation) = supervisor.current
        if let token { request.headers.set(.authorization(endpoint.authorizationType, token.value)) }
        request[option: CarriedTokenOption.self] = SentToken(of: supervisor, generation: generation)
        request[option: RefusedStatuses.self].formUnion(supervisor.unauthorizedStatuses)
    }
}

/// Which token a request carries, and what was found about it when the server refused it.
///
/// The gate hears of a refusal first, so that a refresh runs before the place is handed on; the handler asks next and must get the
/// same answer, whatever has happened in between.
final class SentToken: CarriedToken {
    /// Whose token it is.
    let supervisor: ObjectIdentifier
    let generation: Int
    let judgement = Locked<AccessTokenMachine.Judgement?>(nil)

    init(of supervisor: AccessTokenSupervisor, generation: Int) {
        self.supervisor = ObjectIdentifier(supervisor)
        self.generation = generation
    }
}

/// How often a call has been sent again because of its token; it travels with the call's original request.
struct TokenRepeats: OptionSet, RequestOption, Sendable {
    static var defaultOption: TokenRepeats { [] }

    let rawValue: UInt8

    /// By rule 2, with the current token.
    static let withCurrent = TokenRepeats(rawValue: 1)
    /// By rule 3, after a refresh.
    static let afterRefresh = TokenRepeats(rawValue: 2)
}
