public import Foundation

/// The responses that one or several services store in memory: a private cache, [RFC
/// 9111](https://www.rfc-editor.org/rfc/rfc9111).
///
/// A stored response is used only for requests with the same URL, the same values of the fields that its `Vary` names,
/// and the same credentials, as adapters have set them. A service has no cache unless one is set:
/// `$0.cache = ResponseCache()`. All methods can be called from any thread.
public final class ResponseCache: Sendable {
    /// The maximum size in bytes. Above it, the responses of the least recently used URLs are removed first.
    let capacity: Int
    let date: @Sendable () -> Date
    private let heuristicFreshness: Double
    private let state = Locked(CachePages())

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: The maximum size in bytes. Default: 16 MiB. A response larger than an eighth of it is not stored,
    ///     and at most eight responses are stored for a URL.
    ///   - heuristicFreshness: The fraction of the time since `Last-Modified` for which a response is fresh if the
    ///     server does not say how long, at most one week (RFC 9111 section 4.2.2). Default: 0.1, as in browsers. With
    ///     0, such a response is validated before each use.
    ///   - clock: The clock that measures the age of responses.
    public init(capacity: Int = 16 << 20, heuristicFreshness: Double = 0.1, clock: NetworkClock = .continuous) {
        self.capacity = capacity
        self.heuristicFreshness = heuristicFreshness.isNaN ? 0 : heuristicFreshness
        date = clock.date
    }

    /// The number of stored responses.
    package var count: Int { state.withLock { $0.count } }

    /// Removes every response.
    public func removeAll() {
        state.withLock { $0.removeAll() }
    }

    /// Removes the responses of a URL, whatever their credentials are.
    public func removeResponses(from url: URL) {
        state.withLock { $0.remove(CachePages.key(url)) }
    }

    /// Returns the stored response for a request, fresh or not; of several, the most recent one (RFC 9111 section 4).
    func response(to request: HTTPRequest) -> CachedResponse? {
        let key = CachePages.key(request.url)
        return state.withLock { $0.response(at: key, to: request) }
    }

    /// Records that a request is being sent. If the responses of its URL are removed meanwhile, or a request that was
    /// sent later has stored a response, its response is not stored.
    func begin(_ url: URL) -> CachePages.Exchange {
        state.withLock { $0.begin(CachePages.key(url)) }
    }

    func end(_ exchange: CachePages.Exchange) {
        state.withLock { $0.end(exchange) }
    }

    /// Returns a claim to validate the responses of a URL; nil if they are being validated already.
    func claimRevalidation(of url: URL) -> CachePages.Exchange? {
        state.withLock { $0.claim(CachePages.key(url)) }
    }

    func endRevalidation(_ claim: CachePages.Exchange) {
        state.withLock { $0.endClaim(claim) }
    }

    /// Removes one stored response.
    func remove(_ response: CachedResponse, of url: URL) {
        state.withLock { $0.remove(response, at: CachePages.key(url)) }
    }

    /// Stores what a response of the server tells about a URL, and returns the response to the caller.
    ///
    /// - Parameters:
    ///   - stored: The stored response for the request, before it was sent.
    ///   - isValidating: Whether the request was made conditional to validate `stored`.
    ///   - requested: The time at which the request was sent.
    func receive(
        _ response: HTTPResponse, to asked: CacheRequest, _ stored: CachedResponse?, _ isValidating: Bool,
        requested: Date, _ exchange: CachePages.Exchange
    ) -> HTTPResponse {
        let received = date()
        let fresh = { [heuristicFreshness] (status: HTTPStatus, headers: HTTPHeaders) in
            CacheFreshness(status, headers, requested: requested, received: received, heuristic: heuristicFreshness)
        }
        if var stored, response.status == .notModified,
            isValidating ? stored.part == nil && stored.isConfirmed(by: response) : stored.isNamed(by: response)
        {
            let mayRemain = stored.refresh(by: response, to: asked, at: received, fresh)
            keep(mayRemain ? stored : nil, asked, exchange)
            guard isValidating else { return response }
            return stored.response(to: asked, at: received, .revalidated)?.settingCookies(of: response) ?? response
        }
        if asked.request.method == .head {
            guard var stored, response.status == .ok else { return response }
            let isCurrent = stored.status == .ok && stored.part == nil && stored.isNamed(by: response)
            let mayRemain = isCurrent && stored.refresh(by: response, to: asked, at: received, fresh)
            keep(mayRemain ? stored : nil, asked, exchange)
            return response
        }
        let freshness = fresh(response.status, response.headers)
        let new = CachedResponse(response, to: asked, freshness)
        if response.status == .partialContent {
            guard let new else { return response }
            if var combined = stored, combined.combine(with: new) {
                keep(combined, asked, exchange)
                guard asked.range == nil else { return response }
                return combined.response(to: asked, at: received, .network) ?? response
            }
            if stored == nil || stored?.part != nil { keep(new, asked, exchange) }
            return response
        }
        // Other statuses than these say nothing about the stored response.
        if new != nil || response.status.isSuccessful || [404, 410].contains(response.status.code) {
            keep(new, asked, exchange)
        }
        return response
    }

    private func keep(_ response: CachedResponse?, _ asked: CacheRequest, _ exchange: CachePages.Exchange) {
        state.withLock { $0.keep(response, to: asked.request, exchange, capacity) }
    }
}

extension HTTPResponse {
    /// Returns the response with the cookies that another one sets.
    fileprivate func settingCookies(of other: HTTPResponse) -> HTTPResponse {
        var response = self
        for cookie in other.headers.values(for: .setCookie) { response.headers.append(HTTPHeader(.setCookie, cookie)) }
        return response
    }
}

extension ResponseCache: ResetParticipant {
    /// Removes every response.
    public func reset() {
        removeAll()
    }
}

extension ResponseCache: RedactedReflectable {
    /// The number of stored responses.
    var redactedDescription: String { "\(count) responses" }
}
