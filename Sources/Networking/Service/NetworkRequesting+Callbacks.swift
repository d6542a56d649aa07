/// Methods that send requests and report the outcome to callbacks. Exactly one of the two closures is called, exactly
/// once. Before that, the response is decoded off the main actor. If the returned object is released, the call
/// continues.
///
/// The closures are isolated to the main actor: `self?.label.text = $0.name` compiles in a view controller. In a
/// command-line program whose main thread is blocked, use a task with a queue:
/// `task(_:as:).onCompletion(on: queue) { … }`.
extension NetworkRequesting {
    /// Sends a request and reads the response as the type of the closure's parameter.
    @discardableResult @preconcurrency
    public func request<Value: Decodable & Sendable>(
        for endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable (Value) -> Void,
        failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        task(endpoint, as: ResponseConverter<Value>.automatic(), with: settings).calling({ success($0.value) }, failure)
    }

    /// Sends a request and passes the value together with the response to `success`. The type of the value determines
    /// how the response is read.
    @discardableResult @preconcurrency
    public func request<Value: Decodable & Sendable>(
        for endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable (Response<Value>) -> Void,
        failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        task(endpoint, as: ResponseConverter<Value>.automatic(), with: settings).calling(success, failure)
    }

    /// Sends a request and ignores the body of the response.
    @discardableResult @preconcurrency
    public func request(
        for endpoint: some Endpoint<Untyped>, with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable () -> Void, failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        task(endpoint, as: .void, with: settings).calling({ _ in success() }, failure)
    }

    /// Sends a request. `success` receives the value that the converter reads.
    @discardableResult @preconcurrency
    public func request<Value: Sendable>(
        for endpoint: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings(), success: @escaping @MainActor @Sendable (Value) -> Void,
        failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        task(endpoint, as: converter, with: settings).calling({ success($0.value) }, failure)
    }
}

/// Methods with callbacks for endpoints that declare their result type.
extension NetworkRequesting {
    /// Sends a request and passes the value of its response to `success`.
    @discardableResult @preconcurrency
    public func request<Call: TypedEndpoint>(
        for endpoint: Call, with settings: RequestSettings = RequestSettings(),
        success: @escaping @MainActor @Sendable (Call.ResponseValue) -> Void,
        failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> any CancellableRequest {
        task(endpoint, with: settings).calling({ success($0.value) }, failure)
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

/// Counts those callbacks of a call that have not run yet. The observers are notified of the end of the call only after
/// these callbacks have run.
package final class PendingCallbacks: Sendable {
    private struct State: Sendable {
        var count = 0
        var next: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    package init() {}

    /// Adds a registered callback to the count.
    func add() {
        state.withLock { $0.count += 1 }
    }

    /// Subtracts a callback that has run from the count.
    func finishOne() {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            state.count -= 1
            guard state.count == 0 else { return nil }
            defer { state.next = nil }
            return state.next
        }
        next?()
    }

    /// Calls `action` after all callbacks have run. If there are none, calls it immediately.
    func afterwards(_ action: @escaping @Sendable () -> Void) {
        let isNow = state.withLock { state in
            guard state.count > 0 else { return true }
            state.next = action
            return false
        }
        if isNow { action() }
    }
}
