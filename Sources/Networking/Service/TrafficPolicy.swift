/// How a service treats its servers: how much at once, what it does when they are tired, what it repeats. The order of the parts is fixed, so
/// that it cannot be assembled wrongly:
///
/// 1. circuit breaker, back-off gate, limit, then the token's gate: before adapting, so that whoever waits carries nothing stale;
/// 2. adapters;
/// 3. duplicates, redirects, cookies, engine;
/// 4. after a failure: the token's handler, the retry policy with its budget, handlers of the app, the general mapping.
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
/// Limit, gate, breaker and budget are objects: services that talk to the same server share them.
public struct TrafficPolicy: Sendable {
    /// How many requests at once: 64 a host unless said otherwise.
    public var limit: ConcurrencyLimit
    /// What holds requests back once a host has asked for time; nil makes one of the service's own, on its clock.
    public var backoffGate: BackoffGate?
    /// What gives a failing host up for a while; none unless one is given.
    public var circuitBreaker: CircuitBreaker?
    /// When failed requests are sent again; never unless a policy is given.
    public var retry: RetryPolicy?
    /// What all retries of the service are paid from; nothing bounds their sum unless one is given.
    public var retryBudget: RetryBudget?
    /// Where the retries' jitter comes from.
    public var random: RandomSource
    /// What becomes of equal requests; each is sent unless said otherwise.
    public var duplicates: DuplicateRequestPolicy?
    /// The service's cookies; none are kept unless a jar is given.
    public var cookies: CookieJar?

    /// Makes a policy: the limit and the gate, and what is asked for besides.
    public init(
        limit: ConcurrencyLimit = ConcurrencyLimit(), backoffGate: BackoffGate? = nil,
        circuitBreaker: CircuitBreaker? = nil, retry: RetryPolicy? = nil, retryBudget: RetryBudget? = nil,
        random: RandomSource = .system, duplicates: DuplicateRequestPolicy? = nil, cookies: CookieJar? = nil
    ) {
        self.limit = limit
        self.backoffGate = backoffGate
        self.circuitBreaker = circuitBreaker
        self.retry = retry
        self.retryBudget = retryBudget
        self.random = random
        self.duplicates = duplicates
        self.cookies = cookies
    }

    /// The parts that decide when a request may go.
    func admission(on clock: NetworkClock) -> [any AdmissionPolicy] {
        let parts: [(any AdmissionPolicy)?] = [
            circuitBreaker, backoffGate ?? BackoffGate(clock: clock), retryBudget, limit,
        ]
        return parts.compactMap { $0 }
    }

    /// The part that has failed requests sent again; empty where there is none.
    var handlers: [any ErrorHandler] {
        retry.map { [RetryErrorHandler($0, budget: retryBudget, random: random)] } ?? []
    }
}
