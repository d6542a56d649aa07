/// The calls of ``AdHocEndpoint``, so that what is written inline is checked by the compiler as part of the call:
/// `request(.post("notes").body(.encoded(headers: []) { … }))`. They do what those of every endpoint do.
extension NetworkRequesting {
    /// Sends a request and returns the value and the response it was read from.
    public func send<Value: Sendable>(
        _ endpoint: AdHocEndpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Value> {
        try await client.pipeline(endpoint, as: converter, with: settings).run()
    }

    /// Sends a request and returns a value, read by its type.
    public func request<Value: Decodable & Sendable>(
        _ endpoint: AdHocEndpoint, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await send(endpoint, as: automatic(for: endpoint, settings), with: settings).value
    }

    /// Sends a request whose response has nothing to read.
    public func request(_ endpoint: AdHocEndpoint, with settings: RequestSettings = RequestSettings()) async throws {
        _ = try await send(endpoint, as: .void, with: settings)
    }

    /// Sends a request and returns what a converter reads.
    public func request<Value: Sendable>(
        _ endpoint: AdHocEndpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        try await send(endpoint, as: converter, with: settings).value
    }

    /// Sends a request and returns a value, read by its type, and the response.
    public func response<Value: Decodable & Sendable>(
        _ endpoint: AdHocEndpoint, with settings: RequestSettings = RequestSettings()
    ) async throws -> Response<Value> {
        try await send(endpoint, as: automatic(for: endpoint, settings), with: settings)
    }

    /// Starts a call in a task of its own, at once.
    public func task<Value: Sendable>(
        _ endpoint: AdHocEndpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> RequestTask<Value> {
        RequestTask(client.pipeline(endpoint, as: converter, with: settings))
    }
}
