public import Foundation

/// The calls with callbacks. One of the two closures is called, once, after the response has been decoded elsewhere.
/// The call continues when the returned object is released.
///
/// Without a queue, closures belong to the main actor: `self?.label.text = $0.name` compiles in a view controller. A
/// command-line program must serve its main queue for them to be called, or name a queue.
extension NetworkRequesting {
    /// Sends a request whose response is read by the type of the closure's parameter. On the main actor.
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

    /// Sends a request whose response is read by the type of the closure's parameter. On a queue.
    @discardableResult
    @preconcurrency
    public func request<Value: Decodable & Sendable>(
        for endpoint: some Endpoint<Untyped>, on queue: DispatchQueue,
        with settings: RequestSettings = RequestSettings(),
        success: @escaping @Sendable (Value) -> Void, failure: @escaping @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        let converter: ResponseConverter<Value> = automatic(for: endpoint, settings)
        return task(endpoint, as: converter, with: settings).calling(on: queue, { success($0.value) }, failure)
    }

    /// Sends a request; the first closure gets the value, read by its type, and the response. On the main actor.
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

    /// Sends a request; the first closure gets the value, read by its type, and the response. On a queue.
    @discardableResult
    @preconcurrency
    public func request<Value: Decodable & Sendable>(
        for endpoint: some Endpoint<Untyped>, on queue: DispatchQueue,
        with settings: RequestSettings = RequestSettings(),
        success: @escaping @Sendable (Response<Value>) -> Void, failure: @escaping @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        let converter: ResponseConverter<Value> = automatic(for: endpoint, settings)
        return task(endpoint, as: converter, with: settings).calling(on: queue, success, failure)
    }

    /// Sends a request whose response has nothing to read. On the main actor.
    @discardableResult
    @preconcurrency
    public func request(
        for endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable () -> Void, failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        task(endpoint, as: .void, with: settings).calling({ _ in success() }, failure)
    }

    /// Sends a request whose response has nothing to read. On a queue.
    @discardableResult
    @preconcurrency
    public func request(
        for endpoint: some Endpoint<Untyped>, on queue: DispatchQueue,
        with settings: RequestSettings = RequestSettings(),
        success: @escaping @Sendable () -> Void, failure: @escaping @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        task(endpoint, as: .void, with: settings).calling(on: queue, { _ in success() }, failure)
    }

    /// Sends a request; the first closure gets what a converter reads. On the main actor.
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

    /// Sends a request; the first closure gets what a converter reads. On a queue.
    @discardableResult
    @preconcurrency
    public func request<Value: Sendable>(
        for endpoint: some Endpoint, as converter: ResponseConverter<Value>, on queue: DispatchQueue,
        with settings: RequestSettings = RequestSettings(),
        success: @escaping @Sendable (Value) -> Void, failure: @escaping @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        return task(endpoint, as: converter, with: settings).calling(on: queue, { success($0.value) }, failure)
    }

    /// Sends a request; the first closure gets what a converter reads, and the response. On the main actor.
    @discardableResult
    @_disfavoredOverload  // a closure that works with either gets the value
    @preconcurrency
    public func request<Value: Sendable>(
        for endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable (Response<Value>) -> Void,
        failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        return task(endpoint, as: converter, with: settings).calling(success, failure)
    }

    /// Sends a request; the first closure gets what a converter reads, and the response. On a queue.
    @discardableResult
    @_disfavoredOverload  // a closure that works with either gets the value
    @preconcurrency
    public func request<Value: Sendable>(
        for endpoint: some Endpoint, as converter: ResponseConverter<Value>, on queue: DispatchQueue,
        with settings: RequestSettings = RequestSettings(),
        success: @escaping @Sendable (Response<Value>) -> Void, failure: @escaping @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        return task(endpoint, as: converter, with: settings).calling(on: queue, success, failure)
    }
}

/// Callbacks for endpoints that know their result.
extension NetworkRequesting {
    /// Sends a request; the first closure gets its value. On the main actor.
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

    /// Sends a request; the first closure gets its value. On a queue.
    @discardableResult
    @preconcurrency
    public func request<Call: TypedEndpoint>(
        for endpoint: Call, on queue: DispatchQueue, with settings: RequestSettings = RequestSettings(),
        success: @escaping @Sendable (Call.ResponseValue) -> Void, failure: @escaping @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        return task(endpoint, as: converter(of: endpoint, settings), with: settings).calling(
            on: queue, { success($0.value) }, failure)
    }

    /// Sends a request; the first closure gets its value and the response. On the main actor.
    @discardableResult
    @_disfavoredOverload  // a closure that works with either gets the value
    @preconcurrency
    public func request<Call: TypedEndpoint>(
        for endpoint: Call, with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable (Response<Call.ResponseValue>) -> Void,
        failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        return task(endpoint, as: converter(of: endpoint, settings), with: settings).calling(success, failure)
    }

    /// Sends a request; the first closure gets its value and the response. On a queue.
    @discardableResult
    @_disfavoredOverload  // a closure that works with either gets the value
    @preconcurrency
    public func request<Call: TypedEndpoint>(
        for endpoint: Call, on queue: DispatchQueue, with settings: RequestSettings = RequestSettings(),
        success: @escaping @Sendable (Response<Call.ResponseValue>) -> Void,
        failure: @escaping @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        return task(endpoint, as: converter(of: endpoint, settings), with: settings).calling(
            on: queue, success, failure)
    }
}

extension RequestTask {
    fileprivate func calling(
        _ success: @escaping @MainActor @Sendable (Response<Value>) -> Void,
        _ failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> RequestTask {
        onResponse { result in
            switch result {
            case .success(let response): success(response)
            case .failure(let error): failure(error)
            }
        }
    }

    fileprivate func calling(
        on queue: DispatchQueue, _ success: @escaping @Sendable (Response<Value>) -> Void,
        _ failure: @escaping @Sendable (any Error) -> Void
    ) -> RequestTask {
        onResponse(on: queue) { result in
            switch result {
            case .success(let response): success(response)
            case .failure(let error): failure(error)
            }
        }
    }
}
