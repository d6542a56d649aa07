import Networking

/// An adapter of the app: adds the version of the app to each request.
struct VersionAdapter: RequestAdapter {
    let version: String

    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        request.headers["X-App-Version"] = version
    }
}

/// An error handler of the app: ends a call with the app's error if the server asks for a subscription. In the chain,
/// it follows the session's handler, so that it does not delay a token refresh.
struct SubscriptionHandler: ErrorHandler {
    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        failure.status == .paymentRequired ? .fail(ContactError.subscriptionRequired) : .next(failure.error)
    }
}

extension ContactService {
    /// Creates the service with its two chains: each request passes the adapters before it is sent, and each failure
    /// passes the handlers.
    ///
    /// `ContactService(environment: environment, authorizedBy: session) { $0.retry = … }` puts the session's adapter
    /// and handler, and the retries, at the same positions.
    convenience init(_ environment: NetworkEnvironment, session: AccessTokenSupervisor, retry: RetryPolicy) {
        self.init(
            environment: environment,
            requestAdaptingService: RequestAdaptingService([
                VersionAdapter(version: "3.1"),
                TokenRequestAdapter(accessTokenSupervisor: session),
            ]),
            errorHandlingService: ErrorHandlingService([
                UnauthorizedErrorHandler(accessTokenSupervisor: session),
                SubscriptionHandler(),
                RetryErrorHandler(retry),
                GeneralErrorHandler(),
            ]))
    }
}

extension CallReport {
    /// What the chains did in each attempt: the fields that the adapters added, the status, and the decisions of the
    /// handlers.
    var chains: String {
        attempts.map { attempt in
            let fields = attempt.request?.headers.map(\.name.rawValue) ?? []
            let added = fields.filter { ["X-App-Version", "Authorization"].contains($0) }.joined(separator: ", ")
            let outcome = attempt.response.map { "\($0.status)" } ?? "no response"
            let decisions = attempt.decisions.map { "\($0)" }.joined(separator: "; ")
            return "    attempt \(attempt.number): adapters added \(added); the server: \(outcome)"
                + (decisions.isEmpty ? "" : "; handlers: \(decisions)")
        }.joined(separator: "\n")
    }
}
