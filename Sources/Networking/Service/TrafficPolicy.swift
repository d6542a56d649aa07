/// How a service treats its servers: how much at once, what it does when they are tired, what it repeats. The order of the parts is fixed, so
/// that it cannot be assembled wrongly:
///
/// 1. circuit breaker, back-off gate, policies of the app's own, limit, then the token's gate: before adapting, so that whoever waits carries
///    nothing stale;
/// 2. adapters;
/// 3. duplicates, redirects, cookies, cache, engine;
/// 4. after a failure: the token's handler, handlers of the app, the retry policy with its budget, the general mapping.
///
/// ```swift
/// var traffic = TrafficPolicy()                       // 64 requests a host, back-off gate
/// traffic.retry = .standard                           // two retries with growing, random waits …
/// traffic.retryBudget = RetryBudget()                 // … for no more than a tenth of the calls
/// traffic.circuitBreaker = CircuitBreaker()
/// traffic.duplicates = .join
/// let profiles = ProfileService(environment: environment, authorizedBy: session, traffic: traffic)
/// ```
///
/// Limit, gate, breaker, budget and jar are objects: services that are given the same policy share them, as those that talk to one server
/// should. Gate, breaker and jar tell the time by clocks of their own; in a test with a manual clock, give it to each.
public struct TrafficPolicy: Sendable {
    /// How many requests at once: 64 a host unless said otherwise.
    public var limit: ConcurrencyLimit
    /// What holds requests back once a host has asked for time.
    public var backoffGate: BackoffGate
    /// What gives a failing host up for a while; none unless one is given.
    public var circuitBreaker: CircuitBreaker?
    /// When failed requests are sent again; never unless a policy is given.
    public var retry: RetryPolicy?
    /// What all retries are paid from; nothing bounds their sum unless one is given.
    public var retryBudget: RetryBudget?
    /// Where chance comes from: the retries' jitter, idempotency keys.
    public var random: RandomSource
    /// What becomes of equal requests; each is sent unless this or the request's own policy says otherwise.
    public var duplicates: DuplicateRequestPolicy?
    /// The service's cookies; none are kept unless a jar is given.
    public var cookies: CookieJar?
    /// The answers that the service keeps; none are kept unless a cache is given.
    public var cache: ResponseCache?
    /// Policies of the app's own; each stands where its ``AdmissionPolicy/stage`` says, between gate and limit unless it says something else.
    public var policies: [any AdmissionPolicy]

    /// Makes a policy: the limit and the gate, and what is asked for besides.
    public init(
        limit: ConcurrencyLimit = ConcurrencyLimit(), backoffGate: BackoffGate = BackoffGate(),
        circuitBreaker: CircuitBreaker? = nil, retry: RetryPolicy? = nil, retryBudget: RetryBudget? = nil,
        random: RandomSource = .system, duplicates: DuplicateRequestPolicy? = nil, cookies: CookieJar? = nil,
        cache: ResponseCache? = nil, policies: [any AdmissionPolicy] = []
    ) {
        self.limit = limit
        self.backoffGate = backoffGate
        self.circuitBreaker = circuitBreaker
        self.retry = retry
        self.retryBudget = retryBudget
        self.random = random
        self.duplicates = duplicates
        self.cookies = cookies
        self.cache = cache
        self.policies = policies
    }

    /// The parts that decide when a request may go.
    var admission: [any AdmissionPolicy] {
        let parts: [(any AdmissionPolicy)?] = [circuitBreaker, backoffGate, limit]
        return parts.compactMap { $0 } + policies
    }

    /// The part that has failed requests sent again; without a policy, only those that have one of their own.
    var handler: RetryErrorHandler { RetryErrorHandler(retry, budget: retryBudget, random: random) }
}
