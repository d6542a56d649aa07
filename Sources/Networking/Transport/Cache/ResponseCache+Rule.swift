extension ResponseCache {
    /// How a call uses its service's cache: `RequestSettings { $0.caching = .reload }`.
    public enum Rule: Hashable, Sendable {
        /// A fresh response is used without a request. A stale response is validated first, unless its
        /// `stale-while-revalidate` or `stale-if-error` permits its use. This is the default.
        case fresh
        /// Like ``fresh``, but a stale response is also used if the request gets no response, for example because there
        /// is no network, or if the request cannot be sent because its token cannot be refreshed or the circuit breaker
        /// is open. Responses with `must-revalidate` or `no-cache` are not used in this case.
        case staleIfOffline
        /// Only a stored response is used, whether it is fresh or stale. No request is sent. If no response is stored,
        /// the call fails with ``NetworkError/Kind/notCached``.
        case only
        /// The request is sent without conditions, and its response is stored.
        case reload
        /// The cache is neither read nor written.
        case off
    }
}
