/// A transport that returns fresh responses from a cache, and stores the responses that may be stored.
///
/// A service with a cache puts it directly around the engine, where a request has all its final header fields.
/// A request that has its own conditions or ranges is always sent to the server.
package struct CachingTransport: Transport {
    private let base: any Transport
    private let cache: ResponseCache

    /// Wraps a transport.
    package init(_ base: any Transport, cache: ResponseCache) {
        self.base = base
        self.cache = cache
    }

    /// Sends the request, unless the cache has a fresh response.
    package func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        let rule = request[option: CachingOption.self] ?? .standard
        guard rule != .off, request.method == .get, request.body.isEmpty, case .buffered(let limit) = delivery,
            !request.hasConditions
        else {
            return try await pass(request, delivery)
        }
        let changes = cache.changes
        var kept = rule == .reload ? nil : cache.response(to: request)
        if let kept, kept.isFresh(for: request, at: cache.date()) {
            return kept.response(to: request, at: cache.date())
        }
        var conditionalRequest = request
        if kept?.makeConditional(&conditionalRequest) != true { kept = nil }
        var response = try await base.send(conditionalRequest, delivering: delivery)
        // The cache has added these conditions. They are removed from the response's request, so that a redirect does
        // not copy them to the request to its target.
        response.request.headers.remove(.ifNoneMatch)
        response.request.headers.remove(.ifModifiedSince)
        if response.status == .notModified, let kept { return unchanged(kept, by: response, to: request, changes) }
        if response.content.isPending(upTo: limit) {
            response = try await response.collected(upTo: limit)
        }
        if response.status.isSuccessful {
            cache.keep(CachedResponse(response, to: request, at: cache.date()), to: request, since: changes)
        }
        return response
    }

    /// Returns the stored response after the server has confirmed it with a 304.
    private func unchanged(
        _ kept: CachedResponse, by response: HTTPResponse, to request: HTTPRequest, _ changes: UInt64
    ) -> HTTPResponse {
        var kept = kept
        let isKept = kept.refresh(by: response, at: cache.date())
        cache.keep(isKept ? kept : nil, to: request, since: changes)
        var updated = kept.response(to: request, at: cache.date())
        for cookie in response.headers.values(for: .setCookie) {
            updated.headers.append(HTTPHeader(.setCookie, cookie))
        }
        return updated
    }

    /// Sends a request that the cache does not handle. A non-error response to an unsafe method removes the stored
    /// responses of the URL (RFC 9111 section 4.4).
    private func pass(_ request: HTTPRequest, _ delivery: BodyDelivery) async throws -> HTTPResponse {
        let response = try await base.send(request, delivering: delivery)
        if !request.method.isSafe, (200..<400).contains(response.status.code) {
            cache.removeResponses(from: request.url)
        }
        return response
    }
}

extension HTTPRequest {
    fileprivate var hasConditions: Bool {
        let names: [HTTPHeader.Name] = [.ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange, .range]
        return names.contains { headers.contains($0) }
    }
}
