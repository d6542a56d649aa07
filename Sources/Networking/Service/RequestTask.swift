import Foundation

/// A call that runs in a task of its own: start it now, ask for its answer later, cancel it from anywhere.
///
/// It runs from the moment it is made, and settles exactly once. Dropping it does not cancel it. Callbacks are called on the call's
/// queue, in the order they were registered where that queue is serial; one registered after the answer is called with it.
///
/// ```swift
/// let task = contacts.task(ContactEndpoint.list(page: 1), as: .json([Contact].self))
/// task.onSuccess { show($0) }.onFailure { show($0) }
/// …
/// task.cancel()
/// ```
public final class RequestTask<Value: Sendable>: CancellableRequest {
    /// Where a task stands.
    public enum State: Sendable {
        /// It has no answer yet.
        case running
        /// It ended with a value.
        case completed
        /// It ended with an error.
        case failed(any Error)
        /// It was cancelled, and ended or is about to end with that.
        case cancelled
    }

    /// The endpoint of the call.
    public let endpoint: any Endpoint
    private let scope: CallScope
    private let settlement = Settlement<Response<Value>>()
    private let queue: DispatchQueue
    private let task: Task<Void, Never>

    init(_ pipeline: RequestPipeline<Value>) {
        endpoint = pipeline.endpoint
        queue = pipeline.settings.callbackQueue ?? .main
        let scope = CallScope(deadline: pipeline.deadline)
        let settlement = settlement
        self.scope = scope
        // At once, so that a reset or a cancel right after this line finds it.
        if !RefreshMark.isSet { pipeline.client.calls.enter(scope, endpoint) }
        // A call of its own: the end of a call inside which it is started does not end it.
        task = CallScope.$current.withValue(nil) {
            Task {
                do {
                    let response = try await pipeline.run(in: scope)
                    settlement.settle(.success(response))
                } catch {
                    settlement.settle(.failure(error))
                }
            }
        }
    }

    /// Waits for the value. Cancelling the waiting task ends its wait with ``NetworkError/Kind/cancelled``, and not the call.
    public var value: Value {
        get async throws { try await response.value }
    }

    /// Waits for the value with its response. Cancelling the waiting task ends its wait, and not the call.
    public var response: Response<Value> {
        get async throws {
            let wait = Settlement<Response<Value>>()
            settlement.observe { wait.settle($0) }
            do {
                return try await wait.value()
            } catch let interruption as Interruption {
                throw NetworkError.wrapping(interruption)
            }
        }
    }

    /// Where the call stands.
    public var state: State {
        switch settlement.outcome {
        case .success: .completed
        case .failure(let error): scope.isCancelled ? .cancelled : .failed(error)
        case nil: scope.isCancelled ? .cancelled : .running
        }
    }

    /// Ends the call, wherever it is: queued, waiting for a token, being sent, waiting to retry.
    @discardableResult
    public func cancel() -> Bool {
        guard scope.end(.cancelled) else { return false }
        task.cancel()
        return true
    }

    /// Calls `action` with the value, where the call succeeds.
    @discardableResult
    public func onSuccess(_ action: @escaping @Sendable (Value) -> Void) -> Self {
        onCompletion { if case .success(let response) = $0 { action(response.value) } }
    }

    /// Calls `action` with the error, where the call fails.
    @discardableResult
    public func onFailure(_ action: @escaping @Sendable (any Error) -> Void) -> Self {
        onCompletion { if case .failure(let error) = $0 { action(error) } }
    }

    /// Calls `action` with the answer, whatever it is.
    @discardableResult
    public func onCompletion(_ action: @escaping @Sendable (Result<Response<Value>, any Error>) -> Void) -> Self {
        settlement.observe { [queue] result in queue.async { action(result) } }
        return self
    }
}
