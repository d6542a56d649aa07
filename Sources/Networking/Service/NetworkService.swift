/// One backend domain: write a subclass for each, with a method a call.
///
/// ```swift
/// final class ProfileService: NetworkService, @unchecked Sendable {
///     func profile(_ id: Int) async throws -> Profile { try await request(ProfileEndpoint.fetch(id: id)) }
/// }
///
/// let profiles = ProfileService(environment: NetworkEnvironment(baseURL: api), authorizedBy: session)
/// ```
///
/// Every call is in ``NetworkRequesting``. A subclass restates `@unchecked Sendable`, and is safe as long as what it stores is
/// immutable or locked; in a module whose default isolation is the main actor, mark it `nonisolated`. A struct or an actor that adopts
/// ``NetworkRequesting`` is checked by the compiler in full. A call is answered also when its service is gone.
open class NetworkService: NetworkRequesting, @unchecked Sendable {  // because it stores one `let`
    /// The parts that the service's requests pass through.
    public final let client: NetworkClient

    /// Makes a service of a client. A subclass that stores something of its own calls this one:
    /// `super.init(client: NetworkClient(environment: environment, authorizedBy: session))`.
    public init(client: NetworkClient) {
        self.client = client
    }

    /// Makes a service. Every part has a default; see
    /// ``NetworkClient/init(environment:transport:redirects:duplicates:cookies:cache:admission:requestAdaptingService:errorHandlingService:settings:observers:clock:random:)``.
    public init(
        environment: NetworkEnvironment = NetworkEnvironment(), transport: (any Transport)? = nil,
        redirects: RedirectPolicy = .standard, duplicates: DuplicateRequestPolicy? = nil, cookies: CookieJar? = nil,
        cache: ResponseCache? = nil, admission: [any AdmissionPolicy]? = nil,
        requestAdaptingService: RequestAdaptingService = RequestAdaptingService([DefaultHeadersAdapter()]),
        errorHandlingService: ErrorHandlingService = ErrorHandlingService([]),
        settings: RequestSettings = RequestSettings(), observers: [any RequestObserver] = [],
        clock: NetworkClock = .continuous, random: RandomSource = .system
    ) {
        client = NetworkClient(
            environment: environment, transport: transport, redirects: redirects, duplicates: duplicates,
            cookies: cookies, cache: cache, admission: admission, requestAdaptingService: requestAdaptingService,
            errorHandlingService: errorHandlingService, settings: settings, observers: observers, clock: clock,
            random: random)
    }
}
