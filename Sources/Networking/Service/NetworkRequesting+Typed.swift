import Foundation

/// Calls of endpoints that know their answer.
extension NetworkRequesting {
    /// Sends a request and answers with its value.
    ///
    /// - Throws: ``ServerFailure`` with what the server says, where the body of a refusal is that and the service maps errors
    ///   (``GeneralErrorHandler``); otherwise what every call throws.
    @discardableResult
    public func request<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) async throws -> Call.Value {
        try await send(endpoint, as: converter(of: endpoint, settings), with: settings).value
    }

    /// Sends a request and answers with its value and the response.
    public func response<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Call.Value> {
        try await send(endpoint, as: converter(of: endpoint, settings), with: settings)
    }

    /// Starts a call in a task of its own, at once.
    public func task<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) -> RequestTask<Call.Value> {
        task(endpoint, as: converter(of: endpoint, settings), with: settings)
    }

    /// Sends a request; the closure gets its value.
    @discardableResult
    public func request<Call: TypedEndpoint>(
        for endpoint: Call, with settings: RequestSettings = RequestSettings(),
        success: @escaping SuccessHandler<Call.Value>, failure: @escaping FailureHandler
    ) -> any CancellableRequest {
        request(
            for: endpoint, as: converter(of: endpoint, settings), with: settings, success: success, failure: failure)
    }

    /// Sends a request; the closure gets its value and the response.
    @discardableResult
    @_disfavoredOverload  // a closure that works with either gets the value
    public func request<Call: TypedEndpoint>(
        for endpoint: Call, with settings: RequestSettings = RequestSettings(),
        success: @escaping SuccessHandler<Response<Call.Value>>, failure: @escaping FailureHandler
    ) -> any CancellableRequest {
        task(endpoint, as: converter(of: endpoint, settings), with: settings).answering(success, failure)
    }

    /// What the service's cache has for a call: see ``cachedResponse(_:as:with:)``.
    public func cached<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) -> Call.Value? {
        cached(endpoint, as: converter(of: endpoint, settings), with: settings)
    }

    private func converter<Call: TypedEndpoint>(
        of endpoint: Call, _ settings: RequestSettings
    ) -> ResponseConverter<Call.Value> {
        endpoint.converter(decoder: decoder(for: endpoint, settings))
    }
}
