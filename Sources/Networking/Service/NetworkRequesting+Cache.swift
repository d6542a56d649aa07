/// Access to the response cache of a service.
extension NetworkRequesting {
    /// Returns the stored response for a call, fresh or stale, without waiting. Returns nil if the service has no
    /// cache, if the cache stores no response for the call, or if the stored response cannot be read.
    ///
    /// Only ``SynchronousRequestAdapter``s adapt the request. A response that was stored for other credentials than the
    /// ones they add is not returned.
    public func cachedResponse<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> Response<Value>? {
        guard let cache = client.configuration.cache,
            let request = try? client.adaptedRequestNow(of: endpoint, as: converter, with: settings),
            let response = cache.response(to: request)?.response(to: request, at: cache.date()),
            let value = try? converter.convertNow(response, decoder(for: endpoint, settings))
        else { return nil }
        return Response(value, response)
    }

    /// Removes the stored responses for a call from the service's cache, for all credentials.
    public func removeCached(_ endpoint: some Endpoint, with settings: RequestSettings = RequestSettings()) {
        guard let request = try? client.adaptedRequestNow(of: endpoint, as: .void, with: settings) else { return }
        client.configuration.cache?.removeResponses(from: request.url)
    }
}
