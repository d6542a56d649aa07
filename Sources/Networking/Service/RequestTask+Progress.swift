public import Foundation

extension RequestTask {
    /// The call as a `Foundation.Progress`, for views and progress trees that take one: of the upload where the request has a body and the answer
    /// comes into memory, else of the download. Indeterminate where the total is not known. Cancelling, pausing and resuming it does so with
    /// the call.
    ///
    /// Each access makes a new one. It is updated on the call's queue.
    public var foundationProgress: Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.kind = .file
        progress.isCancellable = true
        progress.isPausable = canBePaused
        progress.cancellationHandler = { [weak self] in _ = self?.cancel() }
        progress.pausingHandler = { [weak self] in _ = self?.pause() }
        progress.resumingHandler = { [weak self] in _ = self?.resume() }
        let isUpload = countsUpload
        onProgress { now in
            let direction = isUpload ? now.upload : now.download
            progress.totalUnitCount = direction.total ?? -1
            progress.completedUnitCount = direction.completed
        }
        onSuccess { _ in
            progress.totalUnitCount = max(progress.completedUnitCount, 1)
            progress.completedUnitCount = progress.totalUnitCount
        }
        return progress
    }
}
