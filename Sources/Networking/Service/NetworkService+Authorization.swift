extension NetworkService {
    /// Makes a service of ``NetworkClient/init(environment:authorizedBy:transport:limit:adapters:handlers:settings:clock:)``, where every
    /// parameter is told. A subclass that stores something of its own cannot call it and calls ``init(client:)`` in its place.
    public convenience init(
        environment: NetworkEnvironment, authorizedBy session: AccessTokenSupervisor, transport: (any Transport)? = nil,
        limit: ConcurrencyLimit = ConcurrencyLimit(), adapters: [any RequestAdapter] = [DefaultHeadersAdapter()],
        handlers: [any ErrorHandler] = [], settings: RequestSettings = RequestSettings(),
        clock: NetworkClock = .continuous
    ) {
        self.init(
            client: NetworkClient(
                environment: environment, authorizedBy: session, transport: transport, limit: limit, adapters: adapters,
                handlers: handlers, settings: settings, clock: clock))
    }
}

extension NetworkClient {
    /// Makes a client whose authorized calls carry the token of a session, with its three parts in their places: the gate last among
    /// the policies, the adapter after the default headers, the handler before the general mapping.
    ///
    /// - Parameters:
    ///   - environment: The server.
    ///   - session: The token. Services that share it share its refresh.
    ///   - transport: What carries requests; the shared engine of the platform where none is named.
    ///   - limit: How many requests a host at once; pass one object to services that share a server.
    ///   - adapters: What dresses a request before the token is put on.
    ///   - handlers: What deals with failures after the token's handler and before the general mapping.
    ///   - settings: What holds where neither call nor endpoint says anything.
    ///   - clock: What tells the time.
    public convenience init(
        environment: NetworkEnvironment, authorizedBy session: AccessTokenSupervisor, transport: (any Transport)? = nil,
        limit: ConcurrencyLimit = ConcurrencyLimit(), adapters: [any RequestAdapter] = [DefaultHeadersAdapter()],
        handlers: [any ErrorHandler] = [], settings: RequestSettings = RequestSettings(),
        clock: NetworkClock = .continuous
    ) {
        self.init(
            environment: environment, transport: transport, admission: [limit, session.gate],
            requestAdaptingService: RequestAdaptingService(adapters + [session.adapter]),
            errorHandlingService: ErrorHandlingService([session.handler] + handlers + [GeneralErrorHandler()]),
            settings: settings, clock: clock)
    }
}
