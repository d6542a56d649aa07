/// What a service is made of: a property for each part, with a default.
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
/// The order in which a request passes through the parts does not depend on the order in which they are set:
///
/// 1. Admission: circuit breaker, back-off gate, the app's own policies, concurrency limit, then the session's token.
/// 2. Adapting: the adapters in their order, then the session's token.
/// 3. Sending: duplicates, redirects, cookies, cache, transport.
/// 4. After a failure: the session's handler, the app's handlers, retries, the mapping to the app's errors.
///
/// A part that a list has already is not added a second time: a `RetryErrorHandler`, a `GeneralErrorHandler`, or the
/// adapter, gate or handler of the session. Each of the latter, put into a list, sets ``session``; two sessions are
/// an error of every call.
///
/// Limit, gate, breaker, cookies, cache and session are objects. Services that are made with the same configuration
/// share them; so do clients that are derived by ``NetworkClient/with(_:)``.
public struct NetworkConfiguration: Sendable {
    /// The server, and what goes to it with every request. Without a base URL every endpoint needs one of its own.
    public var environment: NetworkEnvironment
    /// Adds tokens to the requests that are authorized, and has them refreshed. Default: nil; no request has a token.
    public var session: AccessTokenSupervisor?

    /// How many requests are in progress at a time. Default: 64 a host. Nil: any number.
    public var concurrencyLimit: ConcurrencyLimit? = ConcurrencyLimit()
    /// Holds requests back while a host asks for time (`Retry-After`). Default: a gate of this configuration, on its
    /// ``clock``. Nil: none.
    public var backoffGate: BackoffGate? {
        get { gate.value }
        set { gate = .chosen(newValue) }
    }
    /// Fails requests to a host at once for a while after it has failed often. Default: nil.
    public var circuitBreaker: CircuitBreaker?
    /// The app's own policies. They are asked after the breaker and the gate, and before the limit. Default: none.
    public var admissionPolicies: [any AdmissionPolicy] = []

    /// Adapts each request before it is sent. Default: a ``HeadersAdapter`` that adds ``HTTPHeaders/standard`` if the
    /// request has none of them.
    public var requestAdaptingService = RequestAdaptingService([HeadersAdapter(.standard, .keepExisting)])

    /// What happens to requests that are equal to one in progress. Default: nil; each is sent.
    public var duplicates: DuplicateRequestPolicy?
    /// Which redirects are followed. Default: ``RedirectPolicy/standard``.
    public var redirects = RedirectPolicy.standard
    /// Keeps cookies. Default: nil; none are kept or sent.
    public var cookies: CookieJar?
    /// Keeps responses (RFC 9111). A reset of the service empties it. Default: nil; none are kept.
    public var cache: ResponseCache?
    /// Sends requests. Default: nil, which is ``PlatformTransport/shared``.
    public var transport: (any Transport)?

    /// Handles failures, before retries and mapping. Default: no handlers.
    public var errorHandlingService = ErrorHandlingService()
    /// When failed requests are sent again. A policy of the call, its endpoint or ``settings`` comes first. Default:
    /// nil; never.
    public var retry: RetryPolicy?
    /// Maps the error that a call ends with. Default: ``ErrorMapping/general``.
    public var errorMapping = ErrorMapping.general

    /// What holds unless the call or its endpoint says otherwise: timeouts, validators, encoder, decoder, options.
    public var settings = RequestSettings()
    /// Observes the calls. More can be added while the app runs: ``NetworkRequesting/observers``. Default: none.
    public var observers: [any RequestObserver] = []
    /// Measures timeouts and delays. Default: ``NetworkClock/continuous``. Parts that are made elsewhere, such as a
    /// circuit breaker, have clocks of their own.
    public var clock = NetworkClock.continuous {
        didSet { if case .standard = gate { gate = .standard(BackoffGate(clock: clock)) } }
    }
    /// Brings the randomness of retries and idempotency keys. Default: ``RandomSource/system``.
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

    /// Makes a configuration whose other parts have their defaults.
    public init(environment: NetworkEnvironment = NetworkEnvironment()) {
        self.environment = environment
    }

    /// Makes the error that a call ends with of the one that its failure has led to. It is asked once a failed call,
    /// after every handler; also if the call was cancelled.
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

        /// The endpoint's own errors (`error(for:)`), then ``GeneralRequestError``, as ``GeneralErrorHandler`` says.
        public static let general = ErrorMapping(isGeneral: true, map: nil)
        /// Errors are thrown as they are: a ``NetworkError``, or what a handler has made of it. Endpoints are not
        /// asked.
        public static let unmapped = ErrorMapping(isGeneral: false, map: nil)

        private init(isGeneral: Bool, map: (@Sendable (any Error, RequestFailure) -> any Error)?) {
            self.isGeneral = isGeneral
            self.map = map
        }

        /// The general mapping, then the closure.
        ///
        /// - Parameter map: Gets the error as the general mapping or a handler has left it, and the failure, and
        ///   returns the error that is thrown.
        public init(_ map: @escaping @Sendable (_ error: any Error, _ failure: RequestFailure) -> any Error) {
            self.init(isGeneral: true, map: map)
        }
    }
}
