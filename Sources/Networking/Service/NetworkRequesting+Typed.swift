import Foundation

/// Calls of endpoints that declare the type of their result.
extension NetworkRequesting {
    /// Sends a request and returns the value of the response.
    ///
    /// - Throws: ``ServerFailure`` with the decoded error of the server, if the body of an error response can be read
    ///   as this error and the service maps errors. Otherwise, the same errors as every other call.
    @discardableResult
    public func request<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) async throws -> Call.ResponseValue {
        try await response(endpoint, with: settings).value
    }

    /// Sends a request and returns the value together with the response.
    public func response<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Call.ResponseValue> {
        let (pipeline, converter) = client.pipeline(endpoint, with: settings)
        return try await pipeline.response(converter)
    }

    /// Starts a call immediately, in a task of its own.
    public func task<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) -> RequestTask<Call.ResponseValue> {
        let (resolved, converter) = client.resolved(settings, with: endpoint)
        return RequestTask(endpoint, on: client, converter, with: resolved)
    }

    /// Returns the stored response for a call from the service's cache: see ``cachedResponse(_:as:with:)``.
    public func cachedResponse<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) -> Response<Call.ResponseValue>? {
        let (pipeline, converter) = client.pipeline(endpoint, with: settings)
        return cachedResponse(pipeline, converter)
    }

    /// Returns the stored response for a call, and then the response of the server: see
    /// ``cachedThenFresh(_:as:with:)``.
    public func cachedThenFresh<Call: TypedEndpoint>(
        _ endpoint: Call, with settings: RequestSettings = RequestSettings()
    ) -> ResponseCache.CachedThenFresh<Call.ResponseValue> {
        let awaiting = settings.awaitingValidation
        return ResponseCache.CachedThenFresh(
            stored: { cachedResponse(endpoint, with: settings) },
            load: { try await response(endpoint, with: awaiting) })
    }
}

/// An overload that cannot be called. It exists so that the compiler can say what to write instead.
extension NetworkRequesting {
    /// Reports that the type of the value cannot be decoded.
    @available(
        *, unavailable,
        message:
            "expected a Decodable and Sendable type; for a Response use `response(_:)`, for [String: Any] `.jsonObject`"
    )
    @_disfavoredOverload
    public func request<Value>(
        _ endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        throw NetworkError(.invalidRequest, reason: "\(Value.self) is not Decodable and Sendable")
    }
}
