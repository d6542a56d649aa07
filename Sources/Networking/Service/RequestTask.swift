public import Foundation

/// A call that runs in its own task. You can get its result later, and cancel it from any thread.
///
/// The call starts when the task is created, and ends exactly once. Releasing the task does not cancel the call.
/// Each callback runs on the main actor, or on a queue that you pass with the callback. A callback that you register
/// after the call has ended is scheduled immediately.
///
/// ```swift
/// let task = contacts.task(ContactEndpoint.list(page: 1), as: .json([Contact].self))
/// task.onProgress { bar.show($0.download) }.onSuccess { show($0) }.onFailure { show($0) }
/// let names = task.map { $0.map(\.name) }      // a second task for the same call
/// …
/// task.cancel()
/// ```
public final class RequestTask<Value: Sendable>: CancellableRequest {
    /// An identifier that is unique to this task.
    public let id = UUID()
    /// The endpoint of the call.
    public let endpoint: any Endpoint
    let settlement: Settlement<Response<Value>>
    /// The current state and the history of the call.
    package let track: CallTrack
    package let interest: TaskInterest
    /// The actions that are performed if the call ends because it was cancelled.
    let cancellations = CancellationList()
    /// The callbacks that were registered before the call ended.
    let callbacks: PendingCallbacks
    let successor = Locked(Successor<Value>())
    private let waits = TaskWaits<Value>()

    /// Starts a call.
    ///
    /// - Parameter settings: The settings of the call, which include those of the endpoint and the service.
    convenience init(
        _ endpoint: any Endpoint, on client: NetworkClient, _ converter: ResponseConverter<Value>,
        with settings: RequestSettings
    ) {
        let method = endpoint.method
        let track = CallTrack(
            meter: settings.progress ?? RequestProgress.Meter(clock: client.clock),
            pauseGate: converter.requirements.isDownload && method.isSafe || method == .post ? PauseGate() : nil,
            target: converter.requirements.target, isUpload: !method.isSafe)
        let pipeline = RequestPipeline(
            endpoint, method: method, on: client, for: converter.requirements, with: settings, track: track)
        let (scope, events) = (pipeline.scope, pipeline.events)
        // Registered before the task starts, so that a reset or a cancellation immediately afterwards finds the call.
        client.calls.enter(scope, endpoint)
        let settlement = Settlement<Response<Value>>()
        let callbacks = PendingCallbacks()
        let call = Task {
            let (outcome, report) = await pipeline.ended(converter)
            track.note(.finished(report))
            settlement.settle(outcome)
            client.calls.leave(scope)
            callbacks.afterwards { events?.finish(report) }
        }
        self.init(
            of: endpoint, track: track, callbacks: callbacks, TaskInterest(scope, endingBy: { call.cancel() }),
            settlement)
    }

    /// Creates a task that waits for other tasks.
    ///
    /// - Parameter callbacks: The callbacks of the source, if the new task represents the same call as its source. The
    ///   observers of the call are notified of its end only after the callbacks of both tasks have run.
    convenience init(
        of endpoint: any Endpoint, track: CallTrack,
        callbacks: PendingCallbacks = PendingCallbacks(), waitingFor sources: [TaskInterest]
    ) {
        let settlement = Settlement<Response<Value>>()
        let interest = TaskInterest(CallScope(), in: sources) { settlement.settle(.failure(NetworkError(.cancelled))) }
        self.init(of: endpoint, track: track, callbacks: callbacks, interest, settlement)
    }

    package init(
        of endpoint: any Endpoint, track: CallTrack, callbacks: PendingCallbacks,
        _ interest: TaskInterest, _ settlement: Settlement<Response<Value>>
    ) {
        self.endpoint = endpoint
        self.track = track
        self.callbacks = callbacks
        self.interest = interest
        self.settlement = settlement
        settlement.observe { [cancellations, successor] outcome in
            interest.finish()
            cancellations.end(wasCancelled: interest.scope.isCancelled)
            successor.settle(outcome)
        }
    }

    deinit {
        // Observers of this task, and tasks that wait for this task, retain it. If this task is released before it has
        // settled, nothing needs its outcome any longer. This happens when the tasks that take over its outcome have
        // changed to another task (see `Successor`).
        interest.finish()
    }

    /// The value. Reading this property waits for the end of the call. If the Swift task that waits is cancelled, only
    /// the wait ends, with ``NetworkError/Kind/cancelled``; the call continues.
    public var value: Value {
        get async throws { try await response.value }
    }

    /// The value and its response. Reading this property waits for the end of the call. For a task that `map`,
    /// `flatMap` or another combining method has created, this is the last response that contributed to its value. If
    /// the Swift task that waits is cancelled, only the wait ends; the call continues.
    public var response: Response<Value> {
        get async throws {
            interest.join()
            defer { interest.leave() }
            do { return try await waits.response(of: settlement) } catch let interruption as Interruption {
                throw NetworkError.wrapping(interruption)
            }
        }
    }

    /// The result of the call; nil before the call ends.
    public var result: Result<Value, any Error>? { settlement.outcome?.map(\.value) }

    /// The request that was sent last. If no request has been sent yet, this is the request that was created for the
    /// call; nil before a request is created.
    public var request: HTTPRequest? { track.request }

    /// The report of the call, even if the call failed; nil before the call ends.
    public var report: CallReport? { track.report }

    /// The current state of the call.
    public var state: RequestState {
        switch settlement.outcome {
        case .success: .completed
        case .failure(let error): isCancelled ? .cancelled : .failed(error)
        case nil: isCancelled ? .cancelled : track.activity
        }
    }

    /// Cancels the call in any state: while it waits for a permit or a token, is being sent, or waits for a retry.
    ///
    /// A derived task cancels its call only if no other task or observer waits for this call.
    ///
    /// - Returns: True if this invocation cancelled the task. False if the task had already ended or was already
    ///   cancelled.
    @discardableResult
    public func cancel() -> Bool {
        interest.cancel()
    }

    /// Calls `action` with the outcome of the task: immediately if the task has settled, otherwise on the thread that
    /// settles the task. Until `action` is called, the observer retains the task and is interested in its outcome.
    package func observe(_ action: @escaping @Sendable (Result<Response<Value>, any Error>) -> Void) {
        interest.join()
        settlement.observe { [self] outcome in withExtendedLifetime(self) { action(outcome) } }
    }

    /// Whether the call was cancelled.
    package var isCancelled: Bool { interest.scope.isCancelled }

    /// Settles a derived task with an outcome. If the derived task was cancelled, a success becomes
    /// ``NetworkError/Kind/cancelled``; an error stays as it is.
    package func settle(_ outcome: Result<Response<Value>, any Error>) {
        // `complete()` would also check whether the current Swift task is cancelled. This code does not run in a task
        // of this call, so that check would be wrong.
        if interest.scope.completeUnchecked() != nil, case .success = outcome {
            settlement.settle(.failure(NetworkError(.cancelled)))
        } else {
            settlement.settle(outcome)
        }
    }
}

extension RequestPipeline {
    /// Runs the call, and returns its outcome and its report.
    fileprivate func ended<Value>(
        _ converter: ResponseConverter<Value>
    ) async -> (Result<Response<Value>, any Error>, CallReport) {
        let reading = converter.reading
        do {
            var value: Value?
            let outcome = try await run { value = try await reading.convert($0, decoder: $1) }
            // The call has an outcome only after the response was read, so there is a value.
            guard let value else { throw NetworkError(.unknown) }
            return (.success(Response(value, outcome)), outcome.draft.report(on: outcome.response))
        } catch {
            let failure = error as? Failure
            let report = failure?.report ?? CallReport(of: endpoint, last: nil, error: error, duration: .zero)
            return (.failure(failure?.error ?? error), report)
        }
    }
}

/// The state of a call.
public enum RequestState: Sendable {
    /// The call waits for a permit, for a token, or for its adapters.
    case waiting
    /// An attempt has failed because there is no network, and a ``ConnectivityErrorHandler`` waits for the network.
    case waitingForNetwork
    /// The request is being sent, or its response is being received.
    case running(RequestProgress)
    /// An attempt has failed, and the next attempt starts after a delay.
    case retrying(after: Duration)
    /// The call is paused, and waits for ``RequestTask/resume()``.
    case paused
    /// The call ended with a value.
    case completed
    /// The call ended with an error.
    case failed(any Error)
    /// The call was cancelled. It has ended or is about to end.
    case cancelled
}

extension RequestTask: RedactedReflectable {
    /// The request without its query and credentials, or the URL template of the endpoint if there is no request yet.
    /// The endpoint itself is not included, because its properties may be secret.
    var redactedDescription: String { request?.description ?? endpoint.urlTemplate }
}

/// A call in progress that can be cancelled. Only classes conform, so that a reference can be weak.
public protocol CancellableRequest: AnyObject, Sendable {
    /// The endpoint of the call.
    var endpoint: any Endpoint { get }
    /// Cancels the call at any stage. Neither a success nor a retry follows.
    ///
    /// - Returns: True if this invocation cancelled the call. False if the call had ended or was already cancelled.
    @discardableResult
    func cancel() -> Bool
    /// Calls a closure on the main actor with the newest progress, until the call ends.
    @discardableResult @preconcurrency
    func onProgress(_ action: @escaping @MainActor @Sendable (RequestProgress) -> Void) -> Self
}
