public import Foundation

/// What is told while the call runs and when it is over. Each may be registered several times and at any time; what has
/// happened by then is told at once. `queue` is the call's own unless one is given.
extension RequestTask {
    /// Calls `action` once the request has been made.
    @discardableResult
    public func onStart(on queue: DispatchQueue? = nil, _ action: @escaping @Sendable () -> Void) -> Self {
        let queue = queue ?? self.queue
        let hasStarted = Locked(false)
        track.observe { event in
            guard case .attempting = event else { return }
            let isFirst = hasStarted.withLock { hasStarted in
                defer { hasStarted = true }
                return !hasStarted
            }
            if isFirst { queue.async(execute: action) }
        }
        return self
    }

    /// Calls `action` with the newest progress, as often as the queue gets to it, until the call is over.
    @discardableResult
    public func onProgress(
        on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (RequestProgress) -> Void
    ) -> Self {
        track.meter.observe(on: queue ?? self.queue, action)
        return self
    }

    /// Calls `action` for each attempt, when it is over, whether it went well or not, and before the call's other
    /// answers.
    @discardableResult
    public func onDebug(on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (RequestAttempt) -> Void) -> Self
    {
        let queue = queue ?? self.queue
        track.observe { event in
            if case .attempted(let attempt) = event { queue.async { action(attempt) } }
        }
        return self
    }

    /// Calls `action` with the value, where the call succeeds.
    @discardableResult
    public func onSuccess(on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (Value) -> Void) -> Self {
        onCompletion(on: queue) { if case .success(let value) = $0 { action(value) } }
    }

    /// Calls `action` with the error, where the call fails.
    @discardableResult
    public func onFailure(on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (any Error) -> Void) -> Self {
        onCompletion(on: queue) { if case .failure(let error) = $0 { action(error) } }
    }

    /// Calls `action` with the answer, whatever it is.
    @discardableResult
    public func onCompletion(
        on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> Self {
        onResponse(on: queue) { action($0.map(\.value)) }
    }

    /// Calls `action` with the answer and its response, or with the error.
    @discardableResult
    public func onResponse(
        on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (Result<Response<Value>, any Error>) -> Void
    ) -> Self {
        let queue = queue ?? self.queue
        callbacks.add()
        observe { [callbacks] result in
            queue.async {
                action(result)
                callbacks.finishOne()
            }
        }
        return self
    }

    /// Calls `action` where the call ends cancelled; of several, the one registered last comes first.
    @discardableResult
    public func onCancel(on queue: DispatchQueue? = nil, _ action: @escaping @Sendable () -> Void) -> Self {
        let queue = queue ?? self.queue
        cancellations.add { queue.async(execute: action) }
        return self
    }

    /// The same as ``onFailure(on:_:)``.
    @discardableResult
    public func handle(on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (any Error) -> Void) -> Self {
        onFailure(on: queue, action)
    }

    /// The same as ``onCompletion(on:_:)``.
    @discardableResult
    public func finally(
        on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> Self {
        onCompletion(on: queue, action)
    }
}

/// What is done when a call ends cancelled, the last thing first.
final class CancellationList: Sendable {
    private enum State: Sendable {
        case open([@Sendable () -> Void])
        case over(wasCancelled: Bool)
    }

    private let state = Locked(State.open([]))

    func add(_ action: @escaping @Sendable () -> Void) {
        let isNow = state.withLock { state in
            switch state {
            case .open(let actions):
                state = .open(actions + [action])
                return false
            case .over(let wasCancelled):
                return wasCancelled
            }
        }
        if isNow { action() }
    }

    /// The call is over.
    func end(wasCancelled: Bool) {
        let actions: [@Sendable () -> Void] = state.withLock { state in
            guard case .open(let actions) = state else { return [] }
            state = .over(wasCancelled: wasCancelled)
            return wasCancelled ? actions.reversed() : []
        }
        for action in actions { action() }
    }
}
