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
        /// It is paused, and waits for ``RequestTask/resume()``.
        case paused
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
    private let meter: ProgressMeter
    /// Lets a download be paused.
    private let pauseGate: PauseGate?
    /// Whether the request's body is what takes time.
    let countsUpload: Bool

    init(_ pipeline: RequestPipeline<Value>) {
        var pipeline = pipeline
        meter = pipeline.settings.progress ?? ProgressMeter(clock: pipeline.client.clock)
        pipeline.settings.progress = meter
        let canBePaused = pipeline.converter.delivery == .file && pipeline.endpoint.method.isSafe
        pauseGate = canBePaused ? PauseGate() : nil
        countsUpload = pipeline.converter.delivery == .memory && !pipeline.endpoint.method.isSafe
        pipeline.settings.options[PauseOption.self] = pauseGate
        endpoint = pipeline.endpoint
        queue = pipeline.settings.callbackQueue ?? .main
        let scope = CallScope(deadline: pipeline.deadline)
        let settlement = settlement
        self.scope = scope
        // At once, so that a reset or a cancel right after this line finds it.
        if !RefreshMark.isSet { pipeline.client.calls.enter(scope, endpoint) }
        // A call of its own: the end of a call inside which it is started does not end it.
        task = CallScope.$current.withValue(nil) {
            Task { [pipeline] in
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
        case nil: scope.isCancelled ? .cancelled : pauseGate?.isPaused == true ? .paused : .running
        }
    }

    /// How far the call has come with the bytes it sends and gets, over all of its attempts.
    public var progress: RequestProgress { meter.current }

    /// The progress as an asynchronous sequence that keeps only the newest, and ends with the call.
    public var progressValues: AsyncStream<RequestProgress> { meter.values }

    /// Calls `action` with the newest progress, as often as the queue gets to it, until the call is over.
    @discardableResult
    public func onProgress(_ action: @escaping @Sendable (RequestProgress) -> Void) -> Self {
        meter.observe(on: queue, action)
        return self
    }

    /// Ends the call, wherever it is: queued, waiting for a token, being sent, waiting to retry.
    @discardableResult
    public func cancel() -> Bool {
        guard scope.end(.cancelled) else { return false }
        task.cancel()
        return true
    }

    /// Whether the call is a download, which can be paused.
    var canBePaused: Bool { pauseGate != nil }

    /// Pauses a download into a file: its connection is closed, its place is given back, and the call waits, without an answer, for ``resume()``.
    /// Where the download can be resumed (``FileDestination/ResumeRule``) it then goes on where it was, else it begins anew. The total
    /// deadline goes on meanwhile.
    ///
    /// - Returns: False for another call, one that is paused, and one that has its answer.
    @discardableResult
    public func pause() -> Bool {
        guard settlement.outcome == nil, !scope.isCancelled else { return false }
        return pauseGate?.pause() ?? false
    }

    /// Has a paused download go on where it was.
    ///
    /// - Returns: Whether it was paused.
    @discardableResult
    public func resume() -> Bool {
        pauseGate?.resume() ?? false
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
