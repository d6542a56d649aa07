/// Puts the supervisor's token on every request whose endpoint is authorized, under the endpoint's scheme.
///
/// It reads the token each time, so that a retry carries the new one. Without a token it sets no field. Requests of a
/// refresh get none, nor do requests to another origin than that of the service's environment, unless the supervisor
/// lists it.
public struct TokenRequestAdapter: SynchronousRequestAdapter {
    let supervisor: AccessTokenSupervisor

    /// Makes an adapter; `supervisor.adapter` is the same.
    public init(accessTokenSupervisor: AccessTokenSupervisor) {
        supervisor = accessTokenSupervisor
    }

    /// Sets `Authorization`, in place of one that is there, and marks the request with the token it carries.
    ///
    /// - Throws: ``NetworkError/Kind/noToken`` if the session of the call has ended.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws {
        guard let call = supervisor.call(of: request, endpoint) else { return }
        let (token, mark) = try supervisor.authorize(by: call, on: request)
        if let token { request.headers.set(.authorization(call.authorizationType, token.value)) }
        request[option: CarriedTokenOption.self] = mark
    }
}
