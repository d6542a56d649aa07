/// The calls with callbacks. One of the two closures is called, once, after the response has been decoded elsewhere.
/// The call continues when the returned object is released.
///
/// The closures belong to the main actor: `self?.label.text = $0.name` compiles in a view controller. A command-line
/// program whose main thread is blocked uses a task and names a queue: `task(_:as:).onCompletion(on: queue) { … }`.
extension NetworkRequesting {
    /// Sends a request whose response is read by the type of the closure's parameter.
    @discardableResult
    @preconcurrency
    public func request<Value: Decodable & Sendable>(
        for endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable (Value) -> Void,
        failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        let converter: ResponseConverter<Value> = automatic(for: endpoint, settings)
        return task(endpoint, as: converter, with: settings).calling({ success($0.value) }, failure)
    }

    /// Sends a request; the first closure gets the value, read by its type, and the response.
    @discardableResult
    @preconcurrency
    public func request<Value: Decodable & Sendable>(
        for endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable (Response<Value>) -> Void,
        failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        let converter: ResponseConverter<Value> = automatic(for: endpoint, settings)
        return task(endpoint, as: converter, with: settings).calling(success, failure)
    }

    /// Sends a request whose response has nothing to read.
    @discardableResult
    @preconcurrency
    public func request(
        for endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable () -> Void, failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        task(endpoint, as: .void, with: settings).calling({ _ in success() }, failure)
    }

    /// Sends a request; the first closure gets what a converter reads.
    @discardableResult
    @preconcurrency
    public func request<Value: Sendable>(
        for endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable (Value) -> Void,
        failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        return task(endpoint, as: converter, with: settings).calling({ success($0.value) }, failure)
    }
}

/// Callbacks for endpoints that know their result.
extension NetworkRequesting {
    /// Sends a request; the first closure gets its value.
    @discardableResult
    @preconcurrency
    public func request<Call: TypedEndpoint>(
        for endpoint: Call, with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable (Call.ResponseValue) -> Void,
        failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        return task(endpoint, as: converter(of: endpoint, settings), with: settings).calling(
            { success($0.value) }, failure)
    }
}

extension RequestTask {
    fileprivate func calling(
        _ success: @escaping @MainActor @Sendable (Response<Value>) -> Void,
        _ failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> RequestTask {
        onCompletion { result in
            switch result {
            case .success(let response): success(response)
            case .failure(let error): failure(error)
            }
        }
    }
}
