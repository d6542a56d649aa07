/// Sends the requests of a service: see ``NetworkConfiguration`` for its parts.
///
/// ``NetworkService`` makes one. Make one yourself for a struct or an actor that adopts ``NetworkRequesting``.
public final class NetworkClient: Sendable {
    /// The parts as they were set.
    public let configuration: NetworkConfiguration
    /// The observers of the calls. They can be changed while the app runs.
    public let observers: RequestObservers
    /// The token's supervisor; nil if requests carry no token, an error if they would carry those of two.
    let session: Result<AccessTokenSupervisor?, NetworkError>
    let admission: [any AdmissionPolicy]
    let requestAdaptingService: RequestAdaptingService
    let errorHandlingService: ErrorHandlingService
    /// Duplicates, redirects, cookies, cache, then the transport of the configuration.
    let transport: any Transport
    /// The service's, with a value for everything.
    let settings: RequestSettings
    /// The calls in progress.
    let calls = RunningCalls()
    private let sharedEnvironment: CopyOnWrite<NetworkEnvironment>

    var clock: NetworkClock { configuration.clock }

    /// How many calls are in progress.
    package var runningCallCount: Int { calls.count }

    /// Makes a client of a configuration.
    public init(configuration: NetworkConfiguration) {
        self.configuration = configuration
        observers = RequestObservers(configuration.observers)
        session = configuration.soleSession()
        let supervisor = try? session.get()
        admission = configuration.admission(supervisor)
        requestAdaptingService = configuration.adapting(supervisor)
        errorHandlingService = configuration.handling(supervisor)
        transport = configuration.sending()
        settings = configuration.settings.over(.standard)
        sharedEnvironment = CopyOnWrite(configuration.environment)
    }

    /// Makes a client: see ``NetworkService/init(environment:authorizedBy:configure:)``.
    public convenience init(
        environment: NetworkEnvironment = NetworkEnvironment(), authorizedBy session: AccessTokenSupervisor? = nil,
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) {
        var configuration = NetworkConfiguration(environment: environment)
        configuration.session = session
        configure(&configuration)
        self.init(configuration: configuration)
    }

    /// A client that differs in some parts and shares the other ones: its limit, cookies, session and so on are the
    /// same objects.
    ///
    /// ```swift
    /// let media = NetworkService(client: profiles.client.with { $0.environment = NetworkEnvironment(baseURL: cdn) })
    /// ```
    ///
    /// Its calls and its observers are its own: a reset of one client ends no call of the other one. With another
    /// clock it has a back-off gate of its own, unless the configuration names a gate.
    public func with(_ change: (inout NetworkConfiguration) -> Void) -> NetworkClient {
        var configuration = configuration
        change(&configuration)
        return NetworkClient(configuration: configuration)
    }

    /// Ends every call of the service, except those it is called from, with ``NetworkError/Kind/resetting``, and
    /// returns when all of them have returned and every ``ResetParticipant`` has forgotten. Calls that are made after
    /// the others have been ended are sent. A token refresh continues, with its calls. Two resets at the same time
    /// reset the participants once.
    public func reset() async {
        await calls.reset(configuration.resetParticipants)
    }

    /// Cancels every call in progress for whose endpoint the closure returns true. Default: all of them.
    ///
    /// - Returns: How many calls this made end.
    @discardableResult
    public func cancelAll(where shouldCancel: (any Endpoint) -> Bool = { _ in true }) -> Int {
        calls.cancel(where: shouldCancel)
    }

    /// The journey of one call.
    func pipeline<Value: Sendable>(
        _ endpoint: any Endpoint, as converter: ResponseConverter<Value>, with settings: RequestSettings
    ) -> RequestPipeline<Value> {
        RequestPipeline(
            client: self, endpoint: endpoint, converter: converter,
            settings: CopyOnWrite(resolved(settings, for: endpoint)))
    }

    /// The request of an endpoint, as part of the session that there is now.
    func makeRequest(_ endpoint: any Endpoint, _ settings: CopyOnWrite<RequestSettings>) throws -> HTTPRequest {
        let environment = settings.value.sharedEnvironment ?? sharedEnvironment
        var request = try EndpointRequest(endpoint: endpoint, environment: environment)
            .make(settings.value, random: configuration.random)
        if let session = try session.get() { session.beginCall(with: &request, of: endpoint) }
        return request
    }

    /// The request of an endpoint after adapters and cookies, which is not sent.
    func adaptedRequest<Value: Sendable>(
        of endpoint: any Endpoint, as converter: ResponseConverter<Value>, with settings: RequestSettings
    ) async throws -> HTTPRequest {
        var request = try pipeline(endpoint, as: converter, with: settings).makeRequest()
        try await requestAdaptingService.adapt(&request, for: endpoint)
        return withCookies(request)
    }

    /// The same as far as it can be had without waiting.
    func adaptedRequestNow<Value: Sendable>(
        of endpoint: any Endpoint, as converter: ResponseConverter<Value>, with settings: RequestSettings
    ) throws -> HTTPRequest {
        var request = try pipeline(endpoint, as: converter, with: settings).makeRequest()
        try requestAdaptingService.adaptNow(&request, for: endpoint)
        return withCookies(request)
    }

    private func withCookies(_ request: HTTPRequest) -> HTTPRequest {
        guard let cookies = configuration.cookies else { return request }
        return CookieTransport(transport, jar: cookies).addingCookies(to: request)
    }

    /// The settings of one call: what the call says, then the endpoint, then the service.
    func resolved(_ settings: RequestSettings, for endpoint: any Endpoint) -> RequestSettings {
        var resolved = settings
        resolved.complete(with: RequestSettings(of: endpoint))
        resolved.complete(with: self.settings)
        return resolved
    }
}
