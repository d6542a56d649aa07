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

/// Calls that cannot be made, so that the compiler says what to write in their place.
extension NetworkRequesting {
    /// A type that cannot be read.
    @available(
        *, unavailable,
        message: "the answer's type has to be Decodable and Sendable; for [String: Any] say `as: .jsonObject`"
    )
    @_disfavoredOverload
    public func request<Value>(
        _ endpoint: some Endpoint, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        throw NetworkError(.invalidRequest, reason: "\(Value.self) is not Decodable and Sendable")
    }
}

/// Calls whose answer is named by its type: read as ``NetworkRequesting/request(_:with:)`` reads it.
extension NetworkRequesting {
    /// Sends a request and answers with a value of a type: text for `String`, bytes for `Data`, everything else from JSON.
    @_disfavoredOverload  // what is written with a dot is a converter
    public func request<Value: Decodable & Sendable>(
        _ endpoint: some Endpoint, as type: Value.Type, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await request(endpoint, as: automatic(for: endpoint, settings), with: settings)
    }

    /// Starts a call in a task of its own, at once; its value is of a type, read as above.
    @_disfavoredOverload  // as above
    public func task<Value: Decodable & Sendable>(
        _ endpoint: some Endpoint, as type: Value.Type, with settings: RequestSettings = RequestSettings()
    ) -> RequestTask<Value> {
        task(endpoint, as: automatic(for: endpoint, settings), with: settings)
    }
}
