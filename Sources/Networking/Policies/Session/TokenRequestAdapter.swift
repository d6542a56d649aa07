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
