/// The responses that a service keeps.
extension NetworkRequesting {
    /// What the service's cache has for a call, fresh or not, read at once; nil if it has nothing, where that cannot
    /// be read, and where the service has no cache.
    ///
    /// Only ``SynchronousRequestAdapter``s adapt the request. A response for other credentials than theirs is not
    /// found.
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

    /// Forgets what the service's cache has for a call, whomever it is for.
    public func removeCached(_ endpoint: some Endpoint, with settings: RequestSettings = RequestSettings()) {
        guard let request = try? client.adaptedRequestNow(of: endpoint, as: .void, with: settings) else { return }
        client.configuration.cache?.removeResponses(from: request.url)
    }
}
