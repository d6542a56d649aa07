public import Foundation

/// A call that runs in a task of its own: start it now, ask for its answer later, cancel it from anywhere.
///
/// It runs from the moment it is made, and settles exactly once. Dropping it does not cancel it. Callbacks are called on the call's
/// queue, in the order they were registered where that queue is serial; one registered after the answer is called with it.
///
/// ```swift
/// let task = contacts.task(ContactEndpoint.list(page: 1), as: .json([Contact].self))
/// task.onProgress { bar.show($0.download) }.onSuccess { show($0) }.onFailure { show($0) }
/// let names = task.map { $0.map(\.name) }      // another task, whose call is the same one
/// …
/// task.cancel()
/// ```
public final class RequestTask<Value: Sendable>: CancellableRequest {
    /// What tells this task from every other one.
    public let id = UUID()
    /// The endpoint of the call.
    public let endpoint: any Endpoint
    /// Where the callbacks are called unless said otherwise.
    let queue: DispatchQueue
    let settlement = Settlement<Response<Value>>()
    /// Where the call stands.
    let track: CallTrack
    private let scope: CallScope
    /// What has to be ended to end this.
    private let onCancel: @Sendable () -> Bool
    /// How many wait for the answer: callbacks, derived tasks, and whoever waits just now.
    private let interest = Locked(0)
    /// What is done when it ends cancelled.
    let cancellations = CancellationList()
    /// The callbacks that were registered before it ended.
    let callbacks: PendingCallbacks

    /// Starts a call.
    init(_ pipeline: RequestPipeline<Value>) {
        var pipeline = pipeline
        let meter = pipeline.settings.progress ?? ProgressMeter(clock: pipeline.client.clock)
        let isSafe = pipeline.endpoint.method.isSafe
        let gate = pipeline.converter.canBePaused && isSafe ? PauseGate() : nil
        pipeline.settings.progress = meter
        pipeline.settings.options[PauseOption.self] = gate
        let track = CallTrack(
            meter: meter, pauseGate: gate, delivery: pipeline.converter.delivery, isUpload: !isSafe)
        let scope = CallScope(deadline: pipeline.deadline)
        let callbacks = PendingCallbacks()
        self.track = track
        self.scope = scope
        self.callbacks = callbacks
        endpoint = pipeline.endpoint
        queue = pipeline.settings.callbackQueue ?? .main
        settlement.observe { [cancellations] _ in
            cancellations.end(wasCancelled: scope.isCancelled)
            track.finish()
        }
        // At once, so that a reset or a cancel right after this line finds it.
        pipeline.client.calls.enter(scope, endpoint)
        let settlement = settlement
        let task = Task { [pipeline] in
            let end = HeldEnd()
            do {
                let response = try await pipeline.run(
                    in: scope, telling: { track.note($0) }, holdingEnd: { end.hold($0) })
                settlement.settle(.success(response))
            } catch {
                settlement.settle(.failure(error))
            }
            end.tell(after: callbacks)
        }
        onCancel = {
            task.cancel()
            return true
        }
    }

    /// Makes a task that waits for others.
    ///
    /// - Parameters:
    ///   - callbacks: Those of the call, where it is the same one: observers hear of its end after them.
    ///   - leave: Leaves them; says whether that ended one, so that its error will come.
    init(
        of endpoint: any Endpoint, on queue: DispatchQueue, track: CallTrack,
        callbacks: PendingCallbacks = PendingCallbacks(),
        leaving leave: @escaping @Sendable () -> Bool
    ) {
        self.endpoint = endpoint
        self.queue = queue
        self.track = track
        self.callbacks = callbacks
        let scope = CallScope()
        self.scope = scope
        onCancel = leave
        settlement.observe { [cancellations] _ in cancellations.end(wasCancelled: scope.isCancelled) }
    }

    /// Waits for the value. Cancelling the waiting task ends its wait with ``NetworkError/Kind/cancelled``, and not the call.
    public var value: Value {
        get async throws { try await response.value }
    }

    /// Waits for the value with its response; that of a derived task is the last one it came from. Cancelling the waiting task ends its wait,
    /// and not the call.
    public var response: Response<Value> {
        get async throws {
            interest.withLock { $0 += 1 }
            defer { interest.withLock { $0 -= 1 } }
            let wait = Settlement<Response<Value>>()
            settlement.observe { wait.settle($0) }
            do {
                return try await wait.value()
            } catch let interruption as Interruption {
                throw NetworkError.wrapping(interruption)
            }
        }
    }

    /// The answer, where there is one already.
    public var result: Result<Value, any Error>? { settlement.outcome?.map(\.value) }

    /// The request as it was sent last; as it was made, where nothing was sent yet; nil before.
    public var request: HTTPRequest? { track.request }

    /// What happened in the call, also where an error handler made an error of it that tells nothing; nil before its end.
    public var report: CallReport? { track.report }

    /// Where the call stands.
    public var state: RequestState {
        switch settlement.outcome {
        case .success: return .completed
        case .failure(let error): return scope.isCancelled ? .cancelled : .failed(error)
        case nil: break
        }
        if scope.isCancelled { return .cancelled }
        if track.pauseGate?.isPaused == true { return .paused }
        switch track.phase {
        case .queued: return .waiting
        case .sending: return .running(track.meter.current)
        case .retrying(let delay): return .retrying(after: delay)
        }
    }

    /// Ends the call, wherever it is: queued, waiting for a token, being sent, waiting to retry.
    ///
    /// A derived task ends the call that it waits for only where nobody else does.
    @discardableResult
    public func cancel() -> Bool {
        guard scope.end(.cancelled) else { return false }
        if !onCancel() { settlement.settle(.failure(NetworkError(.cancelled))) }
        return true
    }

    /// Calls `action` with the outcome, from whoever settles; whoever registers waits for it.
    func observe(_ action: @escaping @Sendable (Result<Response<Value>, any Error>) -> Void) {
        join()
        settlement.observe(action)
    }

    /// Somebody waits for the task from now on: see ``leave()``.
    func join() {
        interest.withLock { $0 += 1 }
    }

    /// One who waited leaves; the last one ends the call.
    ///
    /// - Returns: Whether that ended it.
    func leave() -> Bool {
        let isLast = interest.withLock { interest in
            interest -= 1
            return interest == 0
        }
        return isLast && cancel()
    }

    /// Whether the call was cancelled.
    var isCancelled: Bool { scope.isCancelled }

    /// Settles a derived task, unless it was cancelled: then with the error of the call that it ended.
    func settle(_ outcome: Result<Response<Value>, any Error>) {
        // Not by `close()`: whoever settles is no part of this call, and its own end is none of this.
        if scope.seal() != nil, case .success = outcome {
            settlement.settle(.failure(NetworkError(.cancelled)))
        } else {
            settlement.settle(outcome)
        }
    }
}

/// Where a call stands.
public enum RequestState: Sendable {
    /// It waits for its turn: for a place, for a token, for what its adapters want.
    case waiting
    /// It is under way.
    case running(RequestProgress)
    /// An attempt has failed, and another one follows after a while.
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
