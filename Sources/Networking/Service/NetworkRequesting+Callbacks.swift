/// The calls with callbacks. Exactly one of the two is called, once, on the call's queue: the main queue unless set. Decoding has happened
/// elsewhere by then. The call goes on when the returned object is dropped.
extension NetworkRequesting {
    /// Is told about the value.
    public typealias SuccessHandler<Value> = @Sendable (Value) -> Void
    /// Is told about the error.
    public typealias FailureHandler = @Sendable (any Error) -> Void

    /// Sends a request; the type of the closure's parameter decides how the answer is read, as in the asynchronous `request`.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        for endpoint: some Endpoint, with settings: RequestSettings = RequestSettings(),
        success: @escaping SuccessHandler<Value>, failure: @escaping FailureHandler
    ) -> any CancellableRequest {
        request(
            for: endpoint, as: automatic(for: endpoint, settings), with: settings, success: success, failure: failure)
    }

    /// Sends a request; the closure gets the value, read by its type, and the response.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        for endpoint: some Endpoint, with settings: RequestSettings = RequestSettings(),
        success: @escaping SuccessHandler<Response<Value>>, failure: @escaping FailureHandler
    ) -> any CancellableRequest {
        task(endpoint, as: automatic(for: endpoint, settings), with: settings)
            .answering(success, failure)
    }

    /// Sends a request whose answer has nothing to read.
    @discardableResult
    public func request(
        for endpoint: some Endpoint, with settings: RequestSettings = RequestSettings(),
        success: @escaping @Sendable () -> Void, failure: @escaping FailureHandler
    ) -> any CancellableRequest {
        request(for: endpoint, as: .void, with: settings, success: { success() }, failure: failure)
    }

    /// Sends a request; the closure gets what a converter reads.
    @discardableResult
    public func request<Value: Sendable>(
        for endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings(), success: @escaping SuccessHandler<Value>,
        failure: @escaping FailureHandler
    ) -> any CancellableRequest {
        task(endpoint, as: converter, with: settings).answering({ success($0.value) }, failure)
    }
}

extension RequestTask {
    func answering(
        _ success: @escaping @Sendable (Response<Value>) -> Void, _ failure: @escaping @Sendable (any Error) -> Void
    ) -> RequestTask {
        onResponse { result in
            switch result {
            case .success(let response): success(response)
            case .failure(let error): failure(error)
            }
        }
    }
}
