/// The configuration of a service, with a property for each part. Every property has a default.
///
/// ```swift
/// let profiles = ProfileService(environment: NetworkEnvironment(baseURL: api), authorizedBy: session) {
///     $0.retry = .standard                          // two retries, after a random wait
///     $0.retry?.budget = RetryPolicy.Budget()              // for at most a tenth of the calls
///     $0.circuitBreaker = CircuitBreaker()
///     $0.duplicates = .join
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
/// session, this part is not added a second time. Adding the adapter, gate or handler of a session to a list also sets
/// ``session``. If parts of two different sessions are set, every call fails.
///
/// The limit, gate, breaker, cookie jar, cache and session are objects. Services that are created from the same
/// configuration share them, and so do clients that are derived with ``NetworkClient/with(_:)``.
public struct NetworkConfiguration: Sendable {
    /// The server, and the parts that are added to every request to it. Without a base URL here, every endpoint needs a
    /// base URL of its own.
    public var environment: NetworkEnvironment
    /// Adds tokens to the requests that need authorization, and refreshes them. Default: nil; no request carries a
    /// token.
    public var session: AccessTokenSupervisor?

    /// The number of requests that may be in progress at the same time. Default: 64 for each host. Nil: no limit.
    public var concurrencyLimit: ConcurrencyLimit? = ConcurrencyLimit()
    /// Delays requests while a host requests a pause (`Retry-After`). Default: a gate of this configuration that uses
    /// its ``clock``. Nil: no gate.
    public var backoffGate: BackoffGate? {
        get { gate.value }
        set { gate = .chosen(newValue) }
    }
    /// Makes requests fail immediately for some time if their host has failed often. Default: nil.
    public var circuitBreaker: CircuitBreaker?
    /// The app's own policies. A request passes them after the breaker and the gate, and before the limit. Default:
    /// none.
    public var admissionPolicies: [any AdmissionPolicy] = []

    /// Adapts each request before it is sent. Default: a ``HeadersAdapter`` that adds the fields of
    /// ``HTTPHeaders/standard`` that the request does not contain.
    public var requestAdaptingService = RequestAdaptingService([HeadersAdapter(.standard, .keepExisting)])

    /// The policy for requests that are equal to a request in progress. Default: nil; each request is sent.
    public var duplicates: DuplicateRequestPolicy?
    /// The policy that decides which redirects are followed. Default: ``RedirectPolicy/standard``.
    public var redirects = RedirectPolicy.standard
    /// Stores cookies. Default: nil; cookies are neither stored nor sent.
    public var cookies: CookieJar?
    /// Stores responses (RFC 9111). A reset of the service empties it. Default: nil; no response is stored.
    public var cache: ResponseCache?
    /// Sends the requests. Nil means ``PlatformTransport/shared``. Default: nil.
    public var transport: (any Transport)?

    /// Handles failures, before the retries and the error mapping. Default: no handlers.
    public var errorHandlingService = ErrorHandlingService()
    /// The policy that decides when failed requests are sent again. A policy of the call, of its endpoint or of
    /// ``settings`` takes precedence. Default: nil; failed requests are not sent again.
    public var retry: RetryPolicy?
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
        didSet { if case .standard = gate { gate = .standard(BackoffGate(clock: clock)) } }
    }
    /// The source of random numbers for retries, idempotency keys and call ids. Default: ``RandomSource/system``.
    public var random = RandomSource.system

    private enum Gate: Sendable {
        case standard(BackoffGate)
        case chosen(BackoffGate?)

        var value: BackoffGate? {
            switch self {
            case .standard(let gate): gate
            case .chosen(let gate): gate
            }
        }
    }

    private var gate = Gate.standard(BackoffGate())

    /// Creates a configuration whose other parts have their defaults.
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
        let map: (@Sendable (any Error, RequestFailure) -> any Error)?

        /// Maps to the endpoint's own error (`error(for:)`). If the endpoint has none, maps to ``GeneralRequestError``,
        /// as described at ``GeneralErrorHandler``.
        public static let general = ErrorMapping(isGeneral: true, map: nil)
        /// Throws errors unchanged: a ``NetworkError``, or the error that a handler has created. The endpoint's
        /// `error(for:)` is not called.
        public static let unmapped = ErrorMapping(isGeneral: false, map: nil)

        private init(isGeneral: Bool, map: (@Sendable (any Error, RequestFailure) -> any Error)?) {
            self.isGeneral = isGeneral
            self.map = map
        }

        /// Creates a mapping that applies the general mapping first and then the closure.
        ///
        /// - Parameter map: Receives the failure and the error that results from handlers and general mapping. Returns
        ///   the error that the call throws.
        public init(_ map: @escaping @Sendable (_ error: any Error, _ failure: RequestFailure) -> any Error) {
            self.init(isGeneral: true, map: map)
        }
    }
}
