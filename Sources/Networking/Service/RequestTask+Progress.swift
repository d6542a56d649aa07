public import Foundation

extension RequestTask {
    /// How far the call has come with the bytes it sends and gets, over all of its attempts.
    public var progress: RequestProgress { track.meter.current }

    /// The progress as an asynchronous sequence that keeps only the newest, and ends with the call.
    public var progressValues: AsyncStream<RequestProgress> { track.meter.values }

    /// Pauses a download into a file: its connection is closed, its place is given back, and the call waits, without
    /// a response, for ``resume()``. Where the download can be resumed (``FileDestination/ResumeRule``) it then goes
    /// on where it was, else it begins anew. The total deadline goes on meanwhile.
    ///
    /// - Returns: False for another call, one that is paused, and one that has its response.
    @discardableResult
    public func pause() -> Bool {
        guard settlement.outcome == nil, !isCancelled else { return false }
        return track.pauseGate?.pause() ?? false
    }

    /// Has a paused download go on where it was.
    ///
    /// - Returns: Whether it was paused.
    @discardableResult
    public func resume() -> Bool {
        track.pauseGate?.resume() ?? false
    }

    /// The call as a `Foundation.Progress`, for views and progress trees that take one: of the upload where the
    /// method is no safe one and the response comes into memory, else of the download. Indeterminate where the total is
    /// not known. Cancelling, pausing and resuming it does so with the call; it is cancelled where the call fails.
    ///
    /// Each access makes a new one. It is updated on the main queue.
    public var foundationProgress: Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.kind = .file
        progress.isCancellable = true
        progress.isPausable = track.pauseGate != nil
        progress.cancellationHandler = { [self] in _ = cancel() }
        progress.pausingHandler = { [self] in _ = pause() }
        progress.resumingHandler = { [self] in _ = resume() }
        let isUpload = track.countsUpload
        onProgress(on: .main) { now in
            let direction = isUpload ? now.upload : now.download
            progress.totalUnitCount = direction.total ?? -1
            progress.completedUnitCount = direction.completed
        }
        // Not a registration of the user's: it is nobody who waits for the response.
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
