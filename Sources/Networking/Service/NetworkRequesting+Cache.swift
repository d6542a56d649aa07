/// Access to the response cache of a service.
extension NetworkRequesting {
    /// Returns the stored response for a call, fresh or stale, without waiting. Returns nil if the service has no
    /// cache, if the rule of the call is ``ResponseCache/Rule/off``, if the cache stores no successful response for the
    /// call, or if the stored response cannot be read.
    ///
    /// Only ``SynchronousRequestAdapter``s adapt the request. A response that was stored for credentials other than
    /// those of the adapted request is not returned.
    public func cachedResponse<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> Response<Value>? {
        guard let cache = client.configuration.cache,
            let request = try? client.adaptedRequestNow(of: endpoint, as: converter, with: settings),
            request[option: CachingOption.self] != .off,
            let asked = CacheRequest(request, .only, .buffered(limit: .max)),
            let response = cache.response(to: request)?.response(to: asked, at: cache.date(), .cache),
            response.status.isSuccessful,
            let value = try? converter.convertNow(response, decoder(for: endpoint, settings))
        else { return nil }
        return Response(value, response)
    }

    /// Returns the stored response for a call at once, fresh or stale, and then the response of the server. For
    /// example, an app shows a list without waiting, and updates the list when the new response arrives.
    ///
    /// ```swift
    /// for try await news in service.cachedThenFresh(NewsEndpoint.latest, as: .json([Story].self)) {
    ///     show(news.value)
    /// }
    /// ```
    ///
    /// If the stored response is fresh, nothing is sent, and the sequence ends after this response. Without a stored
    /// response, the sequence has one element. Each iterator makes the call once; the iterator throws the error of the
    /// call.
    public func cachedThenFresh<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> ResponseCache.CachedThenFresh<Value> {
        var awaiting = settings
        awaiting.options.set(AwaitingValidationOption.self, true)
        return ResponseCache.CachedThenFresh(
            stored: { cachedResponse(endpoint, as: converter, with: settings) },
            load: { [awaiting] in try await send(endpoint, as: converter, with: awaiting) })
    }

    /// Removes the stored responses for a call from the service's cache, for all credentials.
    public func removeCached(_ endpoint: some Endpoint, with settings: RequestSettings = RequestSettings()) {
        guard let request = try? client.adaptedRequestNow(of: endpoint, as: .void, with: settings) else { return }
        client.configuration.cache?.removeResponses(from: request.url)
    }
}
