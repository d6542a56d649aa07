extension NetworkService {
    /// Makes a service of ``NetworkClient/init(environment:authorizedBy:traffic:transport:redirects:adapters:handlers:settings:observers:clock:)``, where
    /// every parameter is told. A subclass that stores something of its own cannot call it and calls ``init(client:)`` in its place.
    public convenience init(
        environment: NetworkEnvironment, authorizedBy session: AccessTokenSupervisor?,
        traffic: TrafficPolicy? = nil, transport: (any Transport)? = nil,
        redirects: RedirectPolicy = .standard, adapters: [any RequestAdapter] = [DefaultHeadersAdapter()],
        handlers: [any ErrorHandler] = [], settings: RequestSettings = RequestSettings(),
        observers: [any RequestObserver] = [], clock: NetworkClock = .continuous
    ) {
        self.init(
            client: NetworkClient(
                environment: environment, authorizedBy: session, traffic: traffic, transport: transport,
                redirects: redirects, adapters: adapters, handlers: handlers, settings: settings, observers: observers,
                clock: clock))
    }
}

extension NetworkClient {
    /// Makes a client whose parts stand in their places: those of the traffic policy, the three of the session, the general mapping last.
    ///
    /// - Parameters:
    ///   - environment: The server.
    ///   - session: The token; services that share it share its refresh. Nil for a service without tokens.
    ///   - traffic: How much at once, what is repeated, and the like; unless one is given, a policy of the client's own, on its clock.
    ///   - transport: What carries requests; the shared engine of the platform where none is named.
    ///   - redirects: Which redirects are followed.
    ///   - adapters: What dresses a request before the token is put on.
    ///   - handlers: What deals with failures after the token's handler and before retries and the general mapping.
    ///   - settings: What holds where neither call nor endpoint says anything.
    ///   - observers: Who watches the calls.
    ///   - clock: What tells the time.
    public convenience init(
        environment: NetworkEnvironment, authorizedBy session: AccessTokenSupervisor?,
        traffic: TrafficPolicy? = nil, transport: (any Transport)? = nil,
        redirects: RedirectPolicy = .standard, adapters: [any RequestAdapter] = [DefaultHeadersAdapter()],
        handlers: [any ErrorHandler] = [], settings: RequestSettings = RequestSettings(),
        observers: [any RequestObserver] = [], clock: NetworkClock = .continuous
    ) {
        let traffic = traffic ?? TrafficPolicy(backoffGate: BackoffGate(clock: clock))
        let token: [any AdmissionPolicy] = session.map { [$0.gate] } ?? []
        let dressing: [any RequestAdapter] = session.map { [$0.adapter] } ?? []
        let repairing: [any ErrorHandler] = session.map { [$0.handler] } ?? []
        self.init(
            environment: environment, transport: transport, redirects: redirects, duplicates: traffic.duplicates,
            cookies: traffic.cookies, cache: traffic.cache, admission: traffic.admission + token,
            requestAdaptingService: RequestAdaptingService(adapters + dressing),
            errorHandlingService: ErrorHandlingService(
                repairing + handlers + [traffic.handler, GeneralErrorHandler()]),
            settings: settings, observers: observers, clock: clock, random: traffic.random)
    }
}
