/// The answers that a service keeps.
extension NetworkRequesting {
    /// What the service's cache has for a call, fresh or not, read at once; nil where it has nothing, where that cannot
    /// be read, and where the service has no cache.
    ///
    /// Only ``SynchronousRequestAdapter``s adapt the request. A response for other credentials than theirs is not
    /// found.
    public func cachedResponse<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> Response<Value>? {
        guard let cache = client.configuration.cache,
            let request = client.dressedNow(endpoint, settings, converter.dress),
            let response = cache.answer(to: request)?.answer(to: request, at: cache.date()),
            let value = try? converter.convertNow(response, decoder(for: endpoint, settings))
        else { return nil }
        return Response(value, response)
    }

    /// What the service's cache has for a call, fresh or not, as a converter reads it: see
    /// ``cachedResponse(_:as:with:)``.
    public func cached<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> Value? {
        cachedResponse(endpoint, as: converter, with: settings)?.value
    }

    /// What the service's cache has for a call, fresh or not, read by the value's type: see
    /// ``cachedResponse(_:as:with:)``.
    public func cached<Value: Decodable & Sendable>(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) -> Value? {
        cached(endpoint, as: automatic(for: endpoint, settings), with: settings)
    }

    /// Forgets what the service's cache has for a call, whomever it is for.
    public func removeCached(_ endpoint: some Endpoint, with settings: RequestSettings = RequestSettings()) {
        guard let request = client.dressedNow(endpoint, settings) else { return }
        client.configuration.cache?.removeAnswers(from: request.url)
    }
}

extension NetworkClient {
    /// The request of a call as far as it can be made without waiting.
    fileprivate func dressedNow(
        _ endpoint: any Endpoint, _ settings: RequestSettings, _ dress: (inout HTTPRequest) -> Void = { _ in }
    ) -> HTTPRequest? {
        guard var request = try? makeRequest(endpoint, CopyOnWrite(resolved(settings, for: endpoint))) else {
            return nil
        }
        dress(&request)
        guard (try? requestAdaptingService.adaptNow(&request, for: endpoint)) != nil else { return nil }
        if let cookies = configuration.cookies {
            request = CookieTransport(transport, jar: cookies).addingCookies(to: request)
        }
        return request
    }
}
