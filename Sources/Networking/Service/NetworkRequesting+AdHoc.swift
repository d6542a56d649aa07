/// Overloads of the call methods for ``AdHocEndpoint``. With them, the compiler can infer the types in an endpoint that
/// is written inside a call: `request(.post("notes").body(.encoded(headers: []) { … }))`. The overloads behave like the
/// methods that take any endpoint.
extension NetworkRequesting {
    /// Sends a request and returns the value together with the response that it was decoded from.
    public func response<Value: Sendable>(
        _ endpoint: AdHocEndpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Value> {
        let (value, outcome) = try await client.pipeline(endpoint, as: converter, with: settings).value(converter)
        return Response(value, outcome)
    }

    /// Sends a request and returns the value. The type of the value determines how the response is read.
    public func request<Value: Decodable & Sendable>(
        _ endpoint: AdHocEndpoint, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await request(endpoint, as: .automatic(), with: settings)
    }

    /// Sends a request and ignores the body of the response.
    public func request(_ endpoint: AdHocEndpoint, with settings: RequestSettings = RequestSettings()) async throws {
        try await request(endpoint, as: .void, with: settings)
    }

    /// Sends a request and returns the value that a converter decodes.
    public func request<Value: Sendable>(
        _ endpoint: AdHocEndpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await client.pipeline(endpoint, as: converter, with: settings).value(converter).0
    }

    /// Sends a request and returns the value together with the response. The type of the value determines how the
    /// response is read.
    public func response<Value: Decodable & Sendable>(
        _ endpoint: AdHocEndpoint, with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Value> {
        try await response(endpoint, as: .automatic(), with: settings)
    }

    /// Starts a call immediately, in a task of its own.
    public func task<Value: Sendable>(
        _ endpoint: AdHocEndpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> RequestTask<Value> {
        RequestTask(endpoint, on: client, converter, with: client.resolved(settings, for: endpoint))
    }
}
