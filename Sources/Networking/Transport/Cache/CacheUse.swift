package import Foundation

/// The response of a cache to a request ([RFC 9111 section 4](https://www.rfc-editor.org/rfc/rfc9111#section-4)).
package enum CacheUse: Sendable {
    /// The stored response.
    case use
    /// The stored response, which is stale. It is validated in the background (RFC 5861 section 3).
    case useAndRevalidate
    /// The response of the server. If a response is stored, the request to the server validates it.
    case send
    /// No response, because the request must not be sent and no suitable response is stored.
    case refuse
}

extension CachedResponse {
    /// Returns what the cache does with a request for which this response is stored.
    package func bestUse(for request: CacheRequest, at now: Date) -> CacheUse {
        if request.rule == .only { return .use }
        let age = freshness.age(at: now)
        let staleness = age - freshness.lifetime
        // A request with `max-age=0` is a reload. A reload does not validate a fresh immutable response.
        let isImmutable = freshness.isImmutable && staleness < 0 && request.maximumAge == 0
        let isPermitted = !freshness.needsValidation && !(isImmutable ? request.forbidsUse : request.needsValidation)
        let isYoung = isImmutable || request.maximumAge.map { age <= $0 } ?? true
        if isPermitted, isYoung {
            if staleness < 0, -staleness >= request.minimumFreshness { return .use }
            if !freshness.mustRevalidate {
                if let accepted = request.maximumStaleness, staleness <= accepted { return .use }
                if staleness < freshness.staleWhileRevalidate, request.minimumFreshness == 0,
                    !request.request.parts.cache.awaitsValidation
                {
                    return request.isOnlyIfCached ? .use : .useAndRevalidate
                }
            }
        }
        return request.isOnlyIfCached ? .refuse : .send
    }

    /// Whether the response may be used after a failure: the server responded with an error status (RFC 5861 section
    /// 4), or the request got no response.
    package func mayReplace(_ failure: CacheFailure, of request: CacheRequest, at now: Date) -> Bool {
        guard !freshness.needsValidation, !freshness.mustRevalidate, !request.needsValidation else { return false }
        if failure == .noResponse, request.rule == .staleIfOffline { return true }
        let staleness = freshness.age(at: now) - freshness.lifetime
        return staleness < max(freshness.staleIfError, request.staleIfError)
    }
}

/// A failure after which a stale response may be used.
package enum CacheFailure: Equatable, Sendable {
    /// The request got no response, or it could not be sent.
    case noResponse
    /// The server responded with 500, 502, 503 or 504.
    case serverError

    /// Creates ``serverError`` if the status is 500, 502, 503 or 504; otherwise returns nil.
    init?(_ status: HTTPStatus) {
        guard [500, 502, 503, 504].contains(status.code) else { return nil }
        self = .serverError
    }

    /// Creates ``noResponse`` if the error means that no response arrived; otherwise returns nil.
    init?(_ error: any Error) {
        let kinds: Set<NetworkError.Kind> = [
            .notConnected, .cannotResolveHost, .cannotConnect, .connectTimedOut, .idleTimedOut,
            .connectionLostBeforeHead, .tlsFailed, .noToken, .circuitOpen, .rateLimited, .notProcessed,
        ]
        guard let error = error as? NetworkError, kinds.contains(error.kind) else { return nil }
        self = .noResponse
    }
}
