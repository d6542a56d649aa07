/// Answers from a cache what may be answered so, and keeps what may be kept.
///
/// A service puts it in its place with `cache:`, next to the engine, where a request carries everything that it is sent with. Whoever sets
/// conditions or ranges by hand gets what the server answers.
public struct CachingTransport: Transport {
    private let base: any Transport
    private let cache: ResponseCache

    /// Wraps a transport.
    public init(_ base: any Transport, cache: ResponseCache) {
        self.base = base
        self.cache = cache
    }

    /// Sends the request, unless its answer is known.
    public func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse {
        let rule = request[option: CachingRule.self] ?? .standard
        guard rule != .none else { return try await base.send(request, answering: timing) }
        guard request.method == .get, case .whenComplete(let limit) = timing, !request.hasConditions else {
            let response = try await base.send(request, answering: timing)
            // What has been changed is not what was kept (RFC 9111 section 4.4).
            if !request.method.isSafe, response.status.isSuccessful { cache.removeAnswers(from: request.url) }
            return response
        }
        var kept = rule == .reload ? nil : cache.answer(to: request)
        if let kept, kept.isFresh(for: request, at: cache.date()) { return kept.answer(to: request, at: cache.date()) }
        var asked = request
        if kept?.makeConditional(&asked) != true { kept = nil }
        var response = try await base.send(asked, answering: timing)
        if response.status == .notModified, var kept {
            kept.refresh(by: response, at: cache.date())
            cache.keep(kept, to: request)
            return kept.answer(to: request, at: cache.date())
        }
        if response.content.isPending(upTo: limit) {
            response.content = try await response.content.collected(upTo: limit)
        }
        if let new = CachedResponse(response, to: request, at: cache.date()) {
            cache.keep(new, to: request)
        } else if response.status.isSuccessful {
            cache.removeAnswers(from: request.url)
        }
        return response
    }
}

extension HTTPRequest {
    fileprivate var hasConditions: Bool {
        let names: [HTTPHeaderName] = [.ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange, .range]
        return names.contains { headers.contains($0) }
    }
}
