public import Foundation

/// Callbacks during the call and at its end. Each method may be called several times and at any time. A callback that
/// is registered after an event is called immediately for that event.
///
/// The methods without a queue take closures that are isolated to the main actor, and call them on the main actor. The
/// methods with a queue call the closures on that queue. A serial queue runs the closures in the order in which they
/// were registered, except the closures of `onCancel`, which run in the reverse order.
extension RequestTask {
    /// Calls a closure on the main actor, once the first request of the call has been created.
    @discardableResult @preconcurrency
    public func onStart(_ action: @escaping @MainActor @Sendable () -> Void) -> Self {
        onStart(on: .main) { MainActor.assumeIsolated { action() } }
    }

    /// Calls a closure on a queue, once the first request of the call has been created.
    @discardableResult @preconcurrency
    public func onStart(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Self {
        let isStarted = Settlement<Void>()  // settled once, by the first attempt
        isStarted.observe { _ in queue.async(execute: action) }
        track.observe { event in if case .attemptStarted = event { isStarted.settle(.success(())) } }
        return self
    }

    /// Calls a closure on the main actor with the newest progress, until the call ends. While the main queue is busy,
    /// intermediate values are skipped.
    @discardableResult @preconcurrency
    public func onProgress(_ action: @escaping @MainActor @Sendable (RequestProgress) -> Void) -> Self {
        onProgress(on: .main) { value in MainActor.assumeIsolated { action(value) } }
    }

    /// Calls a closure on a queue with the newest progress, until the call ends. While the queue is busy, intermediate
    /// values are skipped.
    @discardableResult @preconcurrency
    public func onProgress(on queue: DispatchQueue, _ action: @escaping @Sendable (RequestProgress) -> Void) -> Self {
        track.meter.observe(on: queue, action)
        return self
    }

    /// Calls a closure on the main actor for each attempt that has ended, before the closures that report the end of
    /// the call.
    @discardableResult @preconcurrency
    public func onAttempt(_ action: @escaping @MainActor @Sendable (RequestAttempt) -> Void) -> Self {
        onAttempt(on: .main) { value in MainActor.assumeIsolated { action(value) } }
    }

    /// Calls a closure on a queue for each attempt that has ended, before the closures that report the end of the call.
    @discardableResult @preconcurrency
    public func onAttempt(on queue: DispatchQueue, _ action: @escaping @Sendable (RequestAttempt) -> Void) -> Self {
        track.observe { event in if case .attemptEnded(let attempt) = event { queue.async { action(attempt) } } }
        return self
    }

    /// Calls a closure on the main actor with the value, if the call succeeds.
    @discardableResult @preconcurrency
    public func onSuccess(_ action: @escaping @MainActor @Sendable (Value) -> Void) -> Self {
        onSuccess(on: .main) { value in MainActor.assumeIsolated { action(value) } }
    }

    /// Calls a closure on a queue with the value, if the call succeeds.
    @discardableResult @preconcurrency
    public func onSuccess(on queue: DispatchQueue, _ action: @escaping @Sendable (Value) -> Void) -> Self {
        onCompletion(on: queue) { if case .success(let response) = $0 { action(response.value) } }
    }

    /// Calls a closure on the main actor with the error, if the call fails.
    @discardableResult @preconcurrency
    public func onFailure(_ action: @escaping @MainActor @Sendable (any Error) -> Void) -> Self {
        onFailure(on: .main) { value in MainActor.assumeIsolated { action(value) } }
    }

    /// Calls a closure on a queue with the error, if the call fails.
    @discardableResult @preconcurrency
    public func onFailure(on queue: DispatchQueue, _ action: @escaping @Sendable (any Error) -> Void) -> Self {
        onCompletion(on: queue) { if case .failure(let error) = $0 { action(error) } }
    }

    /// Calls a closure on the main actor with the value and its response, or with the error.
    @discardableResult @preconcurrency
    public func onCompletion(
        _ action: @escaping @MainActor @Sendable (Result<Response<Value>, any Error>) -> Void
    ) -> Self {
        onCompletion(on: .main) { value in MainActor.assumeIsolated { action(value) } }
    }

    /// Calls a closure on a queue with the value and its response, or with the error.
    @discardableResult @preconcurrency
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

    /// Calls a closure on the main actor if the call ends because it was cancelled. If there are several closures, the
    /// one that was registered last is called first.
    @discardableResult @preconcurrency
    public func onCancel(_ action: @escaping @MainActor @Sendable () -> Void) -> Self {
        onCancel(on: .main) { MainActor.assumeIsolated { action() } }
    }

    /// Calls a closure on a queue if the call ends because it was cancelled. If there are several closures, the one
    /// that was registered last is called first.
    @discardableResult @preconcurrency
    public func onCancel(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Self {
        cancellations.add { queue.async(execute: action) }
        return self
    }
}

/// The actions of a call that ends because it was cancelled. They are performed in the reverse order of their
/// registration.
final class CancellationList: Sendable {
    private struct State: Sendable {
        var actions: [@Sendable () -> Void] = []
        /// Nil before the call has ended.
        var wasCancelled: Bool?
    }

    private let state = Locked(State())

    func add(_ action: @escaping @Sendable () -> Void) {
        let wasCancelled = state.withLock { state in
            if state.wasCancelled == nil { state.actions.append(action) }
            return state.wasCancelled
        }
        if wasCancelled == true { action() }
    }

    /// Performs the actions if the call was cancelled. Otherwise releases them without performing them.
    func end(wasCancelled: Bool) {
        let actions = state.withLock { state in
            defer { state = State(wasCancelled: wasCancelled) }
            return state.actions
        }
        if wasCancelled { for action in actions.reversed() { action() } }
    }
}

extension RequestTask {
    /// The numbers of bytes that the call has sent and received, over all of its attempts.
    public var progress: RequestProgress { track.meter.current }

    /// The progress as an asynchronous sequence. It buffers only the newest value and ends when the call ends.
    public var progressValues: AsyncStream<RequestProgress> { track.meter.values }

    /// Pauses a download into a file, or a resumable upload (``HTTPBody/resumable(_:)``). The connection is closed, the
    /// permit is released, and the call waits until ``resume()`` is called. An upload then continues from the offset
    /// that the server reports. A download continues where it stopped, if the server confirms with a strong validator
    /// that the content is the same; otherwise it restarts from the beginning. The total deadline continues to run
    /// during the pause.
    ///
    /// - Returns: Whether this invocation paused the call. False if the call cannot be paused, is already paused, has
    ///   no request yet, or already has its response.
    @discardableResult
    public func pause() -> Bool {
        guard settlement.outcome == nil, !isCancelled else { return false }
        return track.canPause && track.pauseGate?.pause() ?? false
    }

    /// Resumes a paused download or upload.
    ///
    /// - Returns: Whether the call was paused.
    @discardableResult
    public func resume() -> Bool {
        track.pauseGate?.resume() ?? false
    }

    /// A `Foundation.Progress` for views and progress trees that need one. It shows the upload if the method is not
    /// safe (such as POST) and the response is received into memory; otherwise it shows the download. It is
    /// indeterminate if the total is unknown. Cancelling, pausing or resuming the object cancels, pauses or resumes the
    /// call. The object is cancelled if the call fails.
    ///
    /// Each access creates a new object. It is updated on the main queue.
    public var foundationProgress: Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.kind = .file
        progress.isPausable = track.canPause
        progress.cancellationHandler = { [self] in _ = cancel() }
        progress.pausingHandler = { [self] in _ = pause() }
        progress.resumingHandler = { [self] in _ = resume() }
        let isUpload = track.countsUpload
        onProgress(on: .main) { [track] now in
            progress.isPausable = track.canPause
            let direction = isUpload ? now.upload : now.download
            progress.totalUnitCount = direction.total ?? -1
            progress.completedUnitCount = direction.completed
        }
        // Observes the settlement directly: a registration through `observe` would count as interest in the response.
        settlement.observe { [isStream = track.target == .stream] result in
            DispatchQueue.main.async {
                guard case .success = result else { return progress.cancel() }
                guard !isStream else { return }
                progress.totalUnitCount = max(progress.completedUnitCount, 1)
                progress.completedUnitCount = progress.totalUnitCount
            }
        }
        return progress
    }
}
