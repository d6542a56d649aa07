public import Foundation

extension RequestTask {
    /// The numbers of bytes that the call has sent and received, over all of its attempts.
    public var progress: RequestProgress { track.meter.current }

    /// The progress as an asynchronous sequence. It buffers only the newest value and ends when the call ends.
    public var progressValues: AsyncStream<RequestProgress> { track.meter.values }

    /// Pauses a download into a file. The connection is closed, the permit is released, and the call waits until
    /// ``resume()`` is called. If the download can be resumed (``FileDestination/ResumeRule``), it then continues
    /// where it stopped; otherwise it restarts from the beginning. The total deadline continues to run during the
    /// pause.
    ///
    /// - Returns: Whether this invocation paused the download. False if the call is not a download into a file, is
    ///   already paused, or already has its response.
    @discardableResult
    public func pause() -> Bool {
        guard settlement.outcome == nil, !isCancelled else { return false }
        return track.pauseGate?.pause() ?? false
    }

    /// Resumes a paused download.
    ///
    /// - Returns: Whether the download was paused.
    @discardableResult
    public func resume() -> Bool {
        track.pauseGate?.resume() ?? false
    }

    /// A `Foundation.Progress` for views and progress trees that need one. It shows the upload if the method is not
    /// safe and the response is received into memory; otherwise it shows the download. It is indeterminate if the total
    /// is unknown. Cancelling, pausing or resuming the object cancels, pauses or resumes the call. The object is
    /// cancelled if the call fails.
    ///
    /// Each access creates a new object. It is updated on the main queue.
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
