import Foundation

/// Calls of endpoints that know their result.
extension NetworkRequesting {
    /// Sends a request and returns its value.
    ///
    /// - Throws: ``ServerFailure`` with the server's error if the body of a refusal is one and the service maps errors;
    ///   otherwise what every call throws.
    @discardableResult
    public func request<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) async throws -> Call.ResponseValue {
        try await send(endpoint, as: converter(of: endpoint, settings), with: settings).value
    }

    /// Sends a request and returns its value and the response.
    public func response<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Call.ResponseValue> {
        try await send(endpoint, as: converter(of: endpoint, settings), with: settings)
    }

    /// Starts a call in a task of its own, at once.
    public func task<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) -> RequestTask<Call.ResponseValue> {
        task(endpoint, as: converter(of: endpoint, settings), with: settings)
    }

    /// What the service's cache has for a call: see ``cachedResponse(_:as:with:)``.
    public func cachedResponse<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) -> Response<Call.ResponseValue>? {
        cachedResponse(endpoint, as: converter(of: endpoint, settings), with: settings)
    }

    func converter<Call: TypedEndpoint>(
        of endpoint: Call, _ settings: RequestSettings
    ) -> ResponseConverter<Call.ResponseValue> {
        endpoint.converter(decoder: decoder(for: endpoint, settings))
    }
}

/// Calls that cannot be made, so that the compiler says what to write in their place.
extension NetworkRequesting {
    /// A type that cannot be read.
    @available(
        *, unavailable,
        message:
            "the type has to be Decodable and Sendable; a Response is returned by `response(_:)`, a [String: Any] by `as: .jsonObject`"
    )
    @_disfavoredOverload
    public func request<Value>(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        throw NetworkError(.invalidRequest, reason: "\(Value.self) is not Decodable and Sendable")
    }
}
