public import Foundation

/// Callbacks during the call and at its end. Each may be registered several times and at any time; what has happened
/// by then is reported at once.
///
/// Without a queue, closures belong to the main actor and are called there. Closures that are called on a queue are
/// called in the order in which they were registered if the queue is serial.
extension RequestTask {
    /// Calls a closure once the request has been made. On the main actor.
    @discardableResult
    @preconcurrency
    public func onStart(_ action: @escaping @MainActor @Sendable () -> Void) -> Self {
        onStart(on: .main) { MainActor.assumeIsolated { action() } }
    }

    /// Calls a closure once the request has been made. On a queue.
    @discardableResult
    @preconcurrency
    public func onStart(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Self {
        let hasStarted = Locked(false)
        track.observe { event in
            guard case .attemptStarted = event else { return }
            let isFirst = hasStarted.withLock { hasStarted in
                defer { hasStarted = true }
                return !hasStarted
            }
            if isFirst { queue.async(execute: action) }
        }
        return self
    }

    /// Calls a closure with the newest progress, as often as the queue gets to it, until the call ends. On the main
    /// actor.
    @discardableResult
    @preconcurrency
    public func onProgress(_ action: @escaping @MainActor @Sendable (RequestProgress) -> Void) -> Self {
        onProgress(on: .main) { value in MainActor.assumeIsolated { action(value) } }
    }

    /// Calls a closure with the newest progress, as often as the queue gets to it, until the call ends. On a queue.
    @discardableResult
    @preconcurrency
    public func onProgress(on queue: DispatchQueue, _ action: @escaping @Sendable (RequestProgress) -> Void) -> Self {
        track.meter.observe(on: queue, action)
        return self
    }

    /// Calls a closure for each attempt that has ended, before the closures of the call's end. On the main actor.
    @discardableResult
    @preconcurrency
    public func onAttempt(_ action: @escaping @MainActor @Sendable (RequestAttempt) -> Void) -> Self {
        onAttempt(on: .main) { value in MainActor.assumeIsolated { action(value) } }
    }

    /// Calls a closure for each attempt that has ended, before the closures of the call's end. On a queue.
    @discardableResult
    @preconcurrency
    public func onAttempt(on queue: DispatchQueue, _ action: @escaping @Sendable (RequestAttempt) -> Void) -> Self {
        track.observe { event in
            if case .attemptEnded(let attempt) = event { queue.async { action(attempt) } }
        }
        return self
    }

    /// Calls a closure with the value, if the call succeeds. On the main actor.
    @discardableResult
    @preconcurrency
    public func onSuccess(_ action: @escaping @MainActor @Sendable (Value) -> Void) -> Self {
        onSuccess(on: .main) { value in MainActor.assumeIsolated { action(value) } }
    }

    /// Calls a closure with the value, if the call succeeds. On a queue.
    @discardableResult
    @preconcurrency
    public func onSuccess(on queue: DispatchQueue, _ action: @escaping @Sendable (Value) -> Void) -> Self {
        onCompletion(on: queue) { if case .success(let response) = $0 { action(response.value) } }
    }

    /// Calls a closure with the error, if the call fails. On the main actor.
    @discardableResult
    @preconcurrency
    public func onFailure(_ action: @escaping @MainActor @Sendable (any Error) -> Void) -> Self {
        onFailure(on: .main) { value in MainActor.assumeIsolated { action(value) } }
    }

    /// Calls a closure with the error, if the call fails. On a queue.
    @discardableResult
    @preconcurrency
    public func onFailure(on queue: DispatchQueue, _ action: @escaping @Sendable (any Error) -> Void) -> Self {
        onCompletion(on: queue) { if case .failure(let error) = $0 { action(error) } }
    }

    /// Calls a closure with the value and its response, or with the error. On the main actor.
    @discardableResult
    @preconcurrency
    public func onCompletion(
        _ action: @escaping @MainActor @Sendable (Result<Response<Value>, any Error>) -> Void
    ) -> Self {
        onCompletion(on: .main) { value in MainActor.assumeIsolated { action(value) } }
    }

    /// Calls a closure with the value and its response, or with the error. On a queue.
    @discardableResult
    @preconcurrency
    public func onCompletion(
        on queue: DispatchQueue, _ action: @escaping @Sendable (Result<Response<Value>, any Error>) -> Void
    ) -> Self {
        callbacks.add()
        observe { [callbacks] result in
            queue.async {
                action(result)
                callbacks.finishOne()
            }
        }
        return self
    }

    /// Calls a closure if the call ends cancelled; of several, the one registered last comes first. On the main actor.
    @discardableResult
    @preconcurrency
    public func onCancel(_ action: @escaping @MainActor @Sendable () -> Void) -> Self {
        onCancel(on: .main) { MainActor.assumeIsolated { action() } }
    }

    /// Calls a closure if the call ends cancelled; of several, the one registered last comes first. On a queue.
    @discardableResult
    @preconcurrency
    public func onCancel(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Self {
        cancellations.add { queue.async(execute: action) }
        return self
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
