/// An adapter that adds the token of a supervisor to every request whose endpoint is authorized. The authorization type
/// of the endpoint determines the scheme, such as `Bearer`.
///
/// The adapter reads the token before each attempt, so that a retry carries the current token. If there is no token,
/// the adapter sets no field. The adapter adds no token to the requests of a refresh. Only requests to the origin of
/// the service's environment, and to the origins that the supervisor lists, get the token.
public struct TokenRequestAdapter: SynchronousRequestAdapter, FieldAdapter {
    let supervisor: AccessTokenSupervisor

    /// Creates an adapter. The property `supervisor.adapter` returns the same adapter.
    public init(accessTokenSupervisor: AccessTokenSupervisor) {
        supervisor = accessTokenSupervisor
    }

    /// Sets `Authorization`, replaces an existing value, and marks the request with the token that it carries.
    ///
    /// - Throws: ``NetworkError/Kind/noToken`` if the session of the call has ended.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws {
        guard let call = supervisor.call(of: request, endpoint) else { return }
        try supervisor.authorize(&request, of: call)
    }
}
