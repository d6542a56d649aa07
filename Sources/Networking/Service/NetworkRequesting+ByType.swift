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
