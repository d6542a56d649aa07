/// What a service is made of: the parts through which every one of its requests passes.
///
/// It is made by ``NetworkService``; adopt ``NetworkRequesting`` with one of your own where a class is not wanted.
public final class NetworkClient: Sendable {
    /// The server and what goes to it with every request.
    public let environment: NetworkEnvironment
    /// What decides when a request may go.
    public let admission: [any AdmissionPolicy]
    /// What dresses a request.
    public let requestAdaptingService: RequestAdaptingService
    /// What deals with failures.
    public let errorHandlingService: ErrorHandlingService
    /// What holds where neither call nor endpoint says anything.
    public let settings: RequestSettings
    /// What tells the time.
    public let clock: NetworkClock
    /// What carries a request, redirects followed.
    let transport: any Transport

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - environment: The server; without one every endpoint needs a base URL of its own.
    ///   - transport: What carries requests; ``PlatformTransport/shared`` where none is named.
    ///   - redirects: Which redirects are followed.
    ///   - admission: What decides when a request may go; a limit of 64 a host unless said otherwise. Put a token's gate last.
    ///   - requestAdaptingService: What dresses a request; the default headers unless said otherwise.
    ///   - errorHandlingService: What deals with failures; nothing unless said otherwise, so that raw errors are thrown.
    ///   - settings: What holds where neither call nor endpoint says anything.
    ///   - clock: What tells the time.
    public init(
        environment: NetworkEnvironment = NetworkEnvironment(), transport: (any Transport)? = nil,
        redirects: RedirectPolicy = .standard, admission: [any AdmissionPolicy] = [ConcurrencyLimit()],
        requestAdaptingService: RequestAdaptingService = RequestAdaptingService([DefaultHeadersAdapter()]),
        errorHandlingService: ErrorHandlingService = ErrorHandlingService([]),
        settings: RequestSettings = RequestSettings(), clock: NetworkClock = .continuous
    ) {
        self.environment = environment
        self.transport = RedirectFollowingTransport(transport ?? PlatformTransport.shared, policy: redirects)
        self.admission = admission
        self.requestAdaptingService = requestAdaptingService
        self.errorHandlingService = errorHandlingService
        self.settings = settings.over(.standard)
        self.clock = clock
    }

    /// The journey of one call.
    func pipeline<Value: Sendable>(
        _ endpoint: any Endpoint, as converter: ResponseConverter<Value>, with settings: RequestSettings
    ) -> RequestPipeline<Value> {
        RequestPipeline(
            client: self, endpoint: endpoint, converter: converter, settings: resolved(settings, for: endpoint))
    }

    /// The settings of one call: what the call says, then the endpoint, then the service.
    func resolved(_ settings: RequestSettings, for endpoint: any Endpoint) -> RequestSettings {
        settings.over(endpoint.settings).over(self.settings)
    }
}
