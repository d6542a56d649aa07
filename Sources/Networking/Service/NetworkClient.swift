/// What a service is made of: the parts through which every one of its requests passes.
///
/// It is made by ``NetworkService``; adopt ``NetworkRequesting`` with one of your own where a class is not wanted.
public final class NetworkClient: Sendable {
    /// The server and what goes to it with every request.
    public var environment: NetworkEnvironment { sharedEnvironment.value }
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
    /// Where chance comes from.
    public let random: RandomSource
    /// Who watches the calls; it can be changed while the app runs.
    public let observers: RequestObservers
    /// What carries a request: duplicates, redirects, cookies, cache, then what the service was given.
    let transport: any Transport
    /// The cookies of the service.
    let cookies: CookieJar?
    /// The answers that the service keeps.
    let cache: ResponseCache?
    /// The token's supervisor; nil if requests carry no token, an error if they would carry those of two.
    let session: Result<AccessTokenSupervisor?, NetworkError>
    /// The calls under way.
    let calls = RunningCalls()
    private let sharedEnvironment: CopyOnWrite<NetworkEnvironment>

    /// How many calls are under way.
    package var runningCallCount: Int { calls.count }
    /// What may take part in a reset, besides handlers.
    private let parts: [any Sendable]

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - environment: The server; without one every endpoint needs a base URL of its own.
    ///   - transport: What carries requests; ``PlatformTransport/shared`` where none is named.
    ///   - redirects: Which redirects are followed.
    ///   - duplicates: What becomes of equal requests; each is sent unless this or the request's own policy says
    ///     otherwise.
    ///   - cookies: The service's cookies; none are kept unless a jar is given.
    ///   - cache: The answers that the service keeps; none are kept unless a cache is given. A reset empties it.
    ///   - admission: What decides when a request may go; a back-off gate and a limit of 64 a host unless said
    ///     otherwise. They are put in the order of their ``AdmissionPolicy/stage``.
    ///   - requestAdaptingService: What dresses a request; the default headers unless said otherwise.
    ///   - errorHandlingService: The error handlers. Default: none, so that errors are thrown as they are.
    ///   - settings: What holds where neither call nor endpoint says anything.
    ///   - observers: Who watches the calls.
    ///   - clock: What tells the time.
    ///   - random: Where chance comes from: idempotency keys, the ids of calls that are watched.
    public init(
        environment: NetworkEnvironment = NetworkEnvironment(), transport: (any Transport)? = nil,
        redirects: RedirectPolicy = .standard, duplicates: DuplicateRequestPolicy? = nil, cookies: CookieJar? = nil,
        cache: ResponseCache? = nil, admission: [any AdmissionPolicy]? = nil,
        requestAdaptingService: RequestAdaptingService = RequestAdaptingService([DefaultHeadersAdapter()]),
        errorHandlingService: ErrorHandlingService = ErrorHandlingService([]),
        settings: RequestSettings = RequestSettings(), observers: [any RequestObserver] = [],
        clock: NetworkClock = .continuous, random: RandomSource = .system
    ) {
        let base = transport ?? PlatformTransport.shared
        let policies = admission ?? TrafficPolicy(backoffGate: BackoffGate(clock: clock)).admission
        sharedEnvironment = CopyOnWrite(environment)
        self.transport = NetworkClient.chain(base, cache, cookies, redirects, duplicates)
        self.cookies = cookies
        self.cache = cache
        self.admission = policies.enumerated()
            .sorted { ($0.element.stage, $0.offset) < ($1.element.stage, $1.offset) }.map(\.element)
        self.requestAdaptingService = requestAdaptingService
        self.errorHandlingService = errorHandlingService
        self.settings = settings.over(.standard)
        self.observers = RequestObservers(observers)
        self.clock = clock
        self.random = random
        session = NetworkClient.session(
            of: policies + requestAdaptingService.adapters + errorHandlingService.handlers)
        parts = [base] + policies + requestAdaptingService.adapters + [cache].compactMap { $0 }
    }

    /// Whatever takes part in a reset, once each, with the handlers that are there just now.
    private var participants: [any ResetParticipant] {
        var seen: Set<ObjectIdentifier> = []
        return (parts + errorHandlingService.current).compactMap { $0 as? any ResetParticipant }.filter {
            !(type(of: $0) is AnyClass) || seen.insert(ObjectIdentifier($0 as AnyObject)).inserted
        }
    }

    /// The one session that the parts of a service belong to.
    private static func session(of parts: [any Sendable]) -> Result<AccessTokenSupervisor?, NetworkError> {
        var first: (supervisor: AccessTokenSupervisor, part: any Sendable)?
        for part in parts {
            guard let supervisor = (part as? any AccessTokenPart)?.supervisor else { continue }
            guard let known = first else {
                first = (supervisor, part)
                continue
            }
            guard known.supervisor === supervisor else {
                return .failure(
                    NetworkError(
                        .invalidRequest,
                        reason:
                            "session: a service has one AccessTokenSupervisor, and this one has two: \(type(of: known.part)) and "
                            + "\(type(of: part)) belong to different ones; make a service for each"))
            }
        }
        return .success(first?.supervisor)
    }

    /// The transports in their order, the outermost last.
    private static func chain(
        _ base: any Transport, _ cache: ResponseCache?, _ cookies: CookieJar?, _ redirects: RedirectPolicy,
        _ duplicates: DuplicateRequestPolicy?
    ) -> any Transport {
        let caching: any Transport = cache.map { CachingTransport(base, cache: $0) } ?? base
        let carrying: any Transport = cookies.map { CookieTransport(caching, jar: $0) } ?? caching
        let following = RedirectFollowingTransport(carrying, policy: redirects)
        return DuplicateHandlingTransport(following, policy: duplicates)
    }

    /// Ends every call of the service, except those it is called from, with ``NetworkError/Kind/resetting``, and
    /// returns when all of them have returned and every ``ResetParticipant`` has forgotten. Calls that are made after
    /// the others have been ended are sent. A token refresh continues, with its calls. Two resets at the same time
    /// reset the participants once.
    public func reset() async {
        await calls.reset(participants)
    }

    /// Cancels every call under way whose endpoint the closure names; all of them unless said otherwise.
    ///
    /// - Returns: How many calls this made end.
    @discardableResult
    public func cancelAll(where isMeant: (any Endpoint) -> Bool = { _ in true }) -> Int {
        calls.cancel(where: isMeant)
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
            .make(timeouts: settings.value.timeouts, options: settings.value.options, random: random)
        if let session = try session.get() { session.beginCall(with: &request, of: endpoint) }
        return request
    }

    /// The settings of one call: what the call says, then the endpoint, then the service.
    func resolved(_ settings: RequestSettings, for endpoint: any Endpoint) -> RequestSettings {
        var resolved = settings
        var own = endpoint.settings
        own.options.merge(endpoint.options)
        resolved.complete(with: own)
        resolved.complete(with: self.settings)
        return resolved
    }
}
