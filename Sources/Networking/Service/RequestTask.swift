public import Foundation

/// A call that runs in a task of its own: start it now, get its result later, cancel it from anywhere.
///
/// It runs from the moment it is made, and ends exactly once. Releasing it does not cancel it. Callbacks are called on
/// the main actor, or on a given queue; one that is registered after the end is called at once.
///
/// ```swift
/// let task = contacts.task(ContactEndpoint.list(page: 1), as: .json([Contact].self))
/// task.onProgress { bar.show($0.download) }.onSuccess { show($0) }.onFailure { show($0) }
/// let names = task.map { $0.map(\.name) }      // another task, whose call is the same one
/// …
/// task.cancel()
/// ```
public final class RequestTask<Value: Sendable>: CancellableRequest {
    /// An identifier of this task alone.
    public let id = UUID()
    /// The endpoint of the call.
    public let endpoint: any Endpoint
    let settlement: Settlement<Response<Value>>
    /// Where the call stands.
    let track: CallTrack
    let interest: TaskInterest
    /// What is done when it ends cancelled.
    let cancellations = CancellationList()
    /// The callbacks that were registered before it ended.
    let callbacks: PendingCallbacks
    let successor = Locked(Successor<Value>())

    /// Starts a call.
    convenience init(_ pipeline: RequestPipeline<Value>) {
        var pipeline = pipeline
        let meter = pipeline.settings.value.progress ?? ProgressMeter(clock: pipeline.client.clock)
        let isSafe = pipeline.endpoint.method.isSafe
        let gate = pipeline.converter.canBePaused && isSafe ? PauseGate() : nil
        pipeline.settings.value.progress = meter
        pipeline.settings.value.options[PauseOption.self] = gate
        let track = CallTrack(
            meter: meter, pauseGate: gate, target: pipeline.converter.target, isUpload: !isSafe)
        let scope = CallScope(deadline: pipeline.deadline)
        let events = CallEvents(pipeline.endpoint, of: pipeline.client, in: scope, for: track)
        // At once, so that a reset or a cancel right after this line finds it.
        pipeline.client.calls.enter(scope, pipeline.endpoint)
        let settlement = Settlement<Response<Value>>()
        let callbacks = PendingCallbacks()
        let call = Task { [pipeline] in
            let (outcome, report) = await pipeline.ended(in: scope, reporting: events)
            track.note(.finished(report))
            settlement.settle(outcome)
            callbacks.afterwards { events?.finish(report) }
        }
        self.init(
            of: pipeline.endpoint, track: track, callbacks: callbacks, TaskInterest(scope, endingBy: { call.cancel() }),
            settlement)
    }

    /// Makes a task that waits for others.
    ///
    /// - Parameter callbacks: Those of the call, if it is the same one: observers hear of its end after them.
    convenience init(
        of endpoint: any Endpoint, track: CallTrack,
        callbacks: PendingCallbacks = PendingCallbacks(), waitingFor sources: [TaskInterest]
    ) {
        let settlement = Settlement<Response<Value>>()
        let interest = TaskInterest(CallScope(), in: sources) {
            settlement.settle(.failure(NetworkError(.cancelled)))
        }
        self.init(of: endpoint, track: track, callbacks: callbacks, interest, settlement)
    }

    private init(
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
        // Those who are interested in a task keep it. One that was passed over is released without having settled.
        interest.finish()
    }

    /// Waits for the value. Cancelling the waiting task ends its wait with ``NetworkError/Kind/cancelled``, and not the
    /// call.
    public var value: Value {
        get async throws { try await response.value }
    }

    /// Waits for the value with its response; that of a derived task is the last one it came from. Cancelling the
    /// waiting task ends its wait, and not the call.
    public var response: Response<Value> {
        get async throws {
            interest.join()
            defer { interest.leave() }
            let wait = Settlement<Response<Value>>()
            settlement.observe { wait.settle($0) }
            do {
                return try await wait.value()
            } catch let interruption as Interruption {
                throw NetworkError.wrapping(interruption)
            }
        }
    }

    /// The result; nil before the end.
    public var result: Result<Value, any Error>? { settlement.outcome?.map(\.value) }

    /// The request as it was sent last; before, as it was made; nil before that.
    public var request: HTTPRequest? { track.request }

    /// What happened in the call, whatever error it ended with; nil before its end.
    public var report: CallReport? { track.report }

    /// Where the call stands.
    public var state: RequestState {
        switch settlement.outcome {
        case .success: return .completed
        case .failure(let error): return isCancelled ? .cancelled : .failed(error)
        case nil: break
        }
        if isCancelled { return .cancelled }
        if track.pauseGate?.isPaused == true { return .paused }
        switch track.phase {
        case .queued: return .waiting
        case .sending: return .running(track.meter.current)
        case .retrying(let delay): return .retrying(after: delay)
        }
    }

    /// Cancels the call, whether it waits for a permit or a token, is being sent, or waits for a retry.
    ///
    /// A derived task cancels the call that it waits for only if nobody else waits for that call.
    ///
    /// - Returns: Whether this call of the method has cancelled the task; false if it had ended or was cancelled
    ///   before.
    @discardableResult
    public func cancel() -> Bool {
        interest.cancel()
    }

    /// Calls `action` with the outcome, on the thread that settles. Who registers is interested in the task, and keeps
    /// it until then.
    func observe(_ action: @escaping @Sendable (Result<Response<Value>, any Error>) -> Void) {
        interest.join()
        settlement.observe { [self] outcome in withExtendedLifetime(self) { action(outcome) } }
    }

    /// Whether the call was cancelled.
    var isCancelled: Bool { interest.scope.isCancelled }

    /// Settles a derived task, unless it was cancelled: then with the error of the call that it ended.
    func settle(_ outcome: Result<Response<Value>, any Error>) {
        // Not by `close()`: the thread that settles is no part of this call, and its own end is none of this.
        if interest.scope.completeUnchecked() != nil, case .success = outcome {
            settlement.settle(.failure(NetworkError(.cancelled)))
        } else {
            settlement.settle(outcome)
        }
    }
}

extension RequestPipeline {
    /// Runs the call, and returns how it has ended, with the report of that.
    fileprivate func ended(
        in scope: CallScope, reporting events: CallEvents?
    ) async -> (Result<Response<Value>, any Error>, CallReport) {
        do {
            let response = try await run(in: scope, reporting: events)
            return (.success(response), response.report)
        } catch {
            let failed = error as? FailedCall
            let report = failed?.report ?? CallReport(of: endpoint, last: nil, error: error, duration: .zero)
            return (.failure(failed?.error ?? error), report)
        }
    }
}

/// The state of a call.
public enum RequestState: Sendable {
    /// It waits for a permit, for a token, or for its adapters.
    case waiting
    /// It is being sent or received.
    case running(RequestProgress)
    /// An attempt has failed, and another one follows after a delay.
    case retrying(after: Duration)
    /// It is paused, and waits for ``RequestTask/resume()``.
    case paused
    /// It ended with a value.
    case completed
    /// It ended with an error.
    case failed(any Error)
    /// It was cancelled, and ended or is about to end with that.
    case cancelled
}

extension RequestTask: RedactedReflectable {
    /// The request without query and credentials, or the template of its path; not its endpoint, whose members may be
    /// secret.
    var redactedDescription: String { request?.description ?? endpoint.urlTemplate }
}
