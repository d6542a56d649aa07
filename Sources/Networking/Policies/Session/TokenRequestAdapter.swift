/// An adapter that adds the token of a supervisor to every request whose endpoint is authorized. The authorization type
/// of the endpoint determines the scheme, such as `Bearer`, unless the token has a scheme of its own.
///
/// The adapter reads the token before each attempt, so that a retry carries the current token. If there is no token,
/// the adapter sets no field. The adapter adds no token to the requests of a refresh. Only requests to the origin of
/// the service's environment, and to the origins that the supervisor lists, get the token.
///
/// The adapter only adds the token. In a service without ``UnauthorizedErrorHandler``, calls wait until the store has
/// been read, but no refresh starts. If the session of a call has ended, the call ends with
/// ``NetworkError/Kind/noToken``.
public struct TokenRequestAdapter: SynchronousRequestAdapter, FieldAdapter, AccessTokenPart {
    let supervisor: AccessTokenSupervisor
    private let addFields: (@Sendable (AccessToken, inout HTTPHeaders) -> Void)?

    /// Creates an adapter. The property `supervisor.adapter` returns the same adapter.
    ///
    /// - Parameters:
    ///   - accessTokenSupervisor: The supervisor of the session.
    ///   - addFields: Adds other fields that belong to the token, for example from ``AccessToken/userInfo``. The
    ///     closure receives the token that the adapter adds, and an empty collection of fields. Default: none.
    public init(
        accessTokenSupervisor: AccessTokenSupervisor,
        adding addFields: (@Sendable (AccessToken, inout HTTPHeaders) -> Void)? = nil
    ) {
        supervisor = accessTokenSupervisor
        self.addFields = addFields
    }

    /// Sets `Authorization`, replaces an existing value, and marks the request with the token that it carries.
    ///
    /// - Throws: ``NetworkError/Kind/noToken`` if the session of the call has ended.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws {
        guard let call = supervisor.call(of: request, endpoint) else { return }
        try supervisor.authorize(&request, of: call, adding: addFields)
    }
}

/// An adapter that marks the requests to which the app, not the library, has added the session's token. The handler of
/// the session then knows which token was refused. It runs last, and changes no field.
struct TokenMarkingAdapter: SynchronousRequestAdapter, FieldAdapter, AccessTokenPart {
    let supervisor: AccessTokenSupervisor

    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws {
        if let call = supervisor.call(of: request, endpoint) { try supervisor.mark(&request, of: call) }
    }
}

/// A gate that makes authorized requests wait while the token is read or refreshed. Before a request is sent, the gate
/// also starts a refresh if the token is about to expire.
///
/// The gate receives each refusal before the permit of the refused request is released.
struct TokenGate: StagedAdmissionPolicy, AccessTokenPart {
    let supervisor: AccessTokenSupervisor
    /// Whether the service has no handler for refused tokens. If true, the gate waits only until the store has been
    /// read.
    var isForStoreOnly = false

    var stage: AdmissionStage { .token }

    /// Returns a permit if the token can be sent, or if the request needs no token.
    ///
    /// - Throws: ``NetworkError/Kind/noToken`` if the session of the call has ended.
    func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionPermit? {
        guard let call = supervisor.call(of: request, endpoint) else { return AdmissionPermit() }
        if isForStoreOnly || request.usesOnlyCache { return supervisor.isUnread ? nil : AdmissionPermit() }
        switch supervisor.passage(of: call) {
        case .open: return AdmissionPermit()
        case .wait: return nil
        case .closed(let error): throw NetworkError.noToken(because: error, request)
        }
    }

    /// Waits for a token that can be sent.
    ///
    /// - Throws: ``NetworkError/Kind/noToken`` with the error of the refresh as the underlying error.
    func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
        guard let call = supervisor.call(of: request, endpoint) else { return AdmissionPermit() }
        do {
            if isForStoreOnly {
                try await supervisor.load()
            } else if request.usesOnlyCache {
                _ = try? await supervisor.load()  // if the token cannot be read, the cache may still be used
            } else {
                try await supervisor.waitToPass(of: call)
            }
        } catch  where !(error is Interruption) {
            throw NetworkError.noToken(because: error, request, isStoreUnreadable: supervisor.isStoreUnreadable)
        }
        return AdmissionPermit()
    }

    /// Checks whether the head of the response shows that the token is refused.
    func heard(_ permit: AdmissionPermit, _ head: HTTPResponse) {
        if !isForStoreOnly { supervisor.hear(headOf: head) }
    }

    /// Checks whether the body of the response shows that the token is refused, or whether the server has accepted the
    /// token.
    func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
        if !isForStoreOnly, case .responded(let response) = outcome { supervisor.hear(response) }
    }
}

extension HTTPRequest {
    /// Whether the response of the request must come from the cache, so that nothing is sent.
    fileprivate var usesOnlyCache: Bool { parts.cache.rule == .only }
}

extension NetworkError {
    /// Returns the error of a request that is not sent because there is no token for it.
    static func noToken(
        because cause: any Error, _ request: HTTPRequest?, isStoreUnreadable: Bool = false
    ) -> NetworkError {
        let known = (cause as? any CausedByNetworkError).map { "\($0)" } ?? "\(NetworkError.wrapping(cause))"
        let words =
            switch cause {
            case let reason as TokenUnavailable: "\(reason)"
            case is SessionEnded: "the session in which the call began has ended"
            case is AccessToken.Rejected: AccessToken.Rejected.words
            default: isStoreUnreadable ? "the token store cannot be read now: \(known)" : known
            }
        return NetworkError(.noToken, reason: "no access token: \(words)", request: request, underlying: cause)
    }
}
