/// The configuration of a service, with a property for each part. Every property has a default.
///
/// ```swift
/// let profiles = ProfileService(environment: NetworkEnvironment(baseURL: api), authorizedBy: session) {
///     $0.retry = .standard                          // two retries, after a random wait
///     $0.retry?.budget = RetryPolicy.Budget()              // for at most a tenth of the calls
///     $0.circuitBreaker = CircuitBreaker()
///     $0.duplicates = .always(.join)
///     $0.errorHandlingService = ErrorHandlingService([LoggingErrorHandler()])
/// }
/// ```
///
/// The order in which the parts process a request does not depend on the order in which they are set:
///
/// 1. Admission: circuit breaker, back-off gate, the app's own policies, concurrency limit, then the session's token.
/// 2. Adapting: the adapters in their order, then the session's token.
/// 3. Sending: downloads, duplicates, redirects, cookies, cache, transport.
/// 4. After a failure: the session's handler, the app's handlers, retries, the mapping to the app's errors.
///
/// If a list already contains a `RetryErrorHandler`, a `GeneralErrorHandler`, or the adapter, gate or handler of a
/// session, this part is not added a second time. The parts of a session can be set separately: the adapter only adds
/// the token; the handler refreshes the token and also adds the gate. Setting ``session`` adds all of them. If parts of
/// two different sessions are set, every call fails.
///
/// These parts are objects: the limit, the gate, the breaker, the cookie jar, the cache and the session. Services that
/// are created from the same configuration share these objects, and so do clients that are derived with
/// ``NetworkClient/with(_:)``.
public struct NetworkConfiguration: Sendable {
    /// The server, and the parts that are added to every request to this server. Without a base URL here, every
    /// endpoint needs a base URL of its own.
    public var environment: NetworkEnvironment
    /// Adds tokens to the requests that need authorization, and refreshes them. Default: nil; no request carries a
    /// token.
    public var session: AccessTokenSupervisor?

    /// The maximum number of requests in progress at the same time. Default: 64 for each host. Nil: no limit.
    public var concurrencyLimit: ConcurrencyLimit? = ConcurrencyLimit()
    /// Delays requests while a host requests a pause (`Retry-After`). Default: a new gate for this configuration, with
    /// the configuration's ``clock``. Nil: no gate.
    public var backoffGate: BackoffGate? = BackoffGate() {
        didSet { isGateChosen = true }
    }
    /// Makes requests fail immediately for some time if their host has failed often. Default: nil.
    public var circuitBreaker: CircuitBreaker?
    /// The app's own policies. A request passes them after the breaker and the gate, and before the limit. Default:
    /// none.
    public var admissionPolicies: [any AdmissionPolicy] = []

    /// Adapts each request before it is sent. Default: no adapters.
    public var requestAdaptingService = RequestAdaptingService()

    /// The policy for requests that are equal to a request in progress. Default: nil; each request is sent.
    public var duplicates: DuplicateRequestPolicy?
    /// The policy that decides which redirects are followed. Default: ``RedirectPolicy/standard``.
    public var redirects = RedirectPolicy.standard
    /// Stores cookies. Default: nil; cookies are neither stored nor sent.
    public var cookies: CookieJar?
    /// Stores responses (RFC 9111). A reset of the service empties the cache. Default: nil; no response is stored.
    public var cache: ResponseCache?
    /// Sends the requests. Nil means ``PlatformTransport/shared``. Default: nil.
    public var transport: (any Transport)?

    /// Handles failures, before the retries and the error mapping. Default: no handlers.
    public var errorHandlingService = ErrorHandlingService()
    /// The policy that decides when failed requests are sent again. A policy of the call, of its endpoint or of
    /// ``settings`` takes precedence. Default: nil; failed requests are not sent again.
    public var retry: RetryPolicy?
    /// The type of the server's error bodies: `$0.serverError = ShopError.self`. If the body of an error response can
    /// be read as this type, with the decoder of the call, the call ends with a ``ServerFailure``. The type of a
    /// ``TypedEndpoint`` or of ``AdHocEndpoint/failing(as:)`` takes precedence. Default: nil.
    public var serverError: (any (Decodable & Sendable).Type)?
    /// Maps the error that a call ends with. Default: ``ErrorMapping/general``.
    public var errorMapping = ErrorMapping.general

    /// The settings that apply if neither the call nor its endpoint sets another value: timeouts, validators, encoder,
    /// decoder, options.
    public var settings = RequestSettings()
    /// The observers of the calls. More can be added while the app runs: ``NetworkRequesting/observers``. Default:
    /// none.
    public var observers: [any RequestObserver] = []
    /// Measures timeouts and delays. Parts that are created elsewhere, such as a circuit breaker, have clocks of their
    /// own. Default: ``NetworkClock/continuous``.
    public var clock = NetworkClock.continuous {
        didSet {
            guard !isGateChosen else { return }
            backoffGate = BackoffGate(clock: clock)
            isGateChosen = false
        }
    }
    /// The source of random numbers for retries, idempotency keys and call ids. Default: ``RandomSource/system``.
    public var random = RandomSource.system

    /// Whether the app has set `backoffGate`. If not, a change of the clock replaces the gate.
    private var isGateChosen = false

    /// Creates a configuration with an environment. The other parts have their defaults.
    public init(environment: NetworkEnvironment = NetworkEnvironment()) {
        self.environment = environment
    }

    /// A mapping from the final error of a failed call to the error that the call throws. The mapping is called once
    /// for each failed call, including cancelled calls, after all handlers.
    ///
    /// ```swift
    /// $0.errorMapping = .init { error, failure in
    ///     switch error {
    ///     case GeneralRequestError.noInternetConnection: AppError.offline
    ///     default: failure.status == .serviceUnavailable ? AppError.maintenance : error
    ///     }
    /// }
    /// ```
    public struct ErrorMapping: Sendable {
        let isGeneral: Bool
        let map: ErrorHandlingService.Mapping?

        /// Maps an error to the endpoint's own error (`error(for:)`). If the endpoint returns nil, maps the error to
        /// ``GeneralRequestError``, as described at ``GeneralErrorHandler``.
        public static let general = ErrorMapping(isGeneral: true, map: nil)
        /// Throws errors unchanged: a ``NetworkError``, or the error that a handler has created. The endpoint's
        /// `error(for:)` is not called.
        public static let unmapped = ErrorMapping(isGeneral: false, map: nil)

    }
}

extension NetworkConfiguration.ErrorMapping {
    /// Creates a mapping that applies the general mapping first and then the closure.
    ///
    /// - Parameter map: Receives the failure and the error that results from handlers and general mapping. Returns the
    ///   error that the call throws.
    public init(_ map: @escaping @Sendable (_ error: any Error, _ failure: RequestFailure) -> any Error) {
        self.init(isGeneral: true, map: map)
    }
}

// Puts the parts into the order in which they process a request.
extension NetworkConfiguration {
    /// Returns the policies that admit a request, in the order of their stages. If the handlers include the handler of
    /// a session, the gate of this session is added.
    func policies(_ session: AccessTokenSupervisor?) -> [any AdmissionPolicy] {
        let own: [(any AdmissionPolicy)?] = [circuitBreaker, backoffGate, concurrencyLimit]
        var policies = own.compactMap { $0 } + admissionPolicies
        if let session, !policies.contains(where: { $0 is TokenGate }) {
            policies.append(TokenGate(supervisor: session, isForStoreOnly: !hasUnauthorizedErrorHandler))
        }
        return policies.enumerated()
            .sorted { ($0.element.admissionStage, $0.offset) < ($1.element.admissionStage, $1.offset) }.map(\.element)
    }

    func adapting(_ session: AccessTokenSupervisor?) -> RequestAdaptingService {
        let adapters = requestAdaptingService.adapters
        guard let session, !adapters.contains(where: { $0 is TokenRequestAdapter }) else {
            return requestAdaptingService
        }
        let adding: any RequestAdapter =
            self.session == nil ? TokenMarkingAdapter(supervisor: session) : session.adapter
        return RequestAdaptingService(adapters + [adding])
    }

    private var hasUnauthorizedErrorHandler: Bool {
        session != nil || errorHandlingService.handlers.contains { $0 is UnauthorizedErrorHandler }
    }

    func handling() -> ErrorHandlingService {
        let handlers = errorHandlingService.handlers
        var first: [any ErrorHandler] = []
        if let session, !handlers.contains(where: { $0 is UnauthorizedErrorHandler }) { first.append(session.handler) }
        var last: [any ErrorHandler] = []
        if !handlers.contains(where: { $0 is RetryErrorHandler }) {
            last.append(RetryErrorHandler(retry, random: random))
        }
        if errorMapping.isGeneral, !handlers.contains(where: { $0 is GeneralErrorHandler }) {
            last.append(GeneralErrorHandler())
        }
        return errorHandlingService.between(first, and: last, mapping: errorMapping.map)
    }

    /// Returns the chain of transports. Of those that are created here, the last is the outermost.
    func sending() -> TransportChain {
        let base = transport ?? PlatformTransport.shared
        let storingCookies: any Transport = cookies.map { SetCookieTransport(base: base, jar: $0) } ?? base
        let caching: any Transport = cache.map { CachingTransport(base: storingCookies, cache: $0) } ?? storingCookies
        let carrying: any Transport = cookies.map { CookieTransport(base: caching, jar: $0) } ?? caching
        let following = RedirectFollowingTransport(base: carrying, policy: redirects)
        var completing: (@Sendable (HTTPRequest) -> HTTPRequest)?
        var state: (@Sendable () -> Int)?
        if let cookies {
            completing = { cookies.addingCookies(to: $0) }
            state = { cookies.changes }
        }
        return TransportChain(following) {
            DuplicateHandlingTransport($0, policy: duplicates, completing: completing, state: state)
        }
    }

    /// Returns the session that the parts belong to, or an error if they belong to two sessions. Both values are nil if
    /// no part has a session.
    func soleSession() -> (session: AccessTokenSupervisor?, error: NetworkError?) {
        var first = session.map { (supervisor: $0, part: "authorizedBy") }
        let parts: [any Sendable] = admissionPolicies + requestAdaptingService.adapters + errorHandlingService.handlers
        for part in parts {
            guard let supervisor = (part as? any AccessTokenPart)?.supervisor else { continue }
            let known = first ?? (supervisor, "\(type(of: part))")
            guard known.supervisor === supervisor else {
                let error = NetworkError(
                    .invalidRequest,
                    reason: "session: expected one AccessTokenSupervisor for each service, found two: "
                        + "\(known.part) and \(type(of: part)) belong to different supervisors; "
                        + "create one service for each supervisor")
                return (nil, error)
            }
            first = known
        }
        return (first?.supervisor, nil)
    }

    /// The parts that take part in a reset, each object once.
    var resetParticipants: [any ResetParticipant] {
        var seen: Set<ObjectIdentifier> = []
        let objects: [(any ResetParticipant)?] = [
            cache, cache?.revalidations, transport, circuitBreaker, backoffGate, concurrencyLimit,
        ]
        let parts: [any ResetParticipant] =
            admissionPolicies + requestAdaptingService.adapters + errorHandlingService.current
        return (objects.compactMap { $0 } + parts).filter {
            !(type(of: $0) is AnyClass) || seen.insert(ObjectIdentifier($0 as AnyObject)).inserted
        }
    }
}
