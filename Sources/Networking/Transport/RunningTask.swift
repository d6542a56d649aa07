import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A started `URLSessionTask` with its idle timer.
final class RunningTask: @unchecked Sendable {  // because both variables are only touched under the lock
    private let queue: DispatchQueue
    private let lock = NSLock()
    private var task: URLSessionTask?
    private var timer: (any DispatchSourceTimer)?

    init(queue: DispatchQueue) {
        self.queue = queue
    }

    /// Starts the task and its timer; both are let go when the transfer has ended.
    func start(_ task: URLSessionTask, _ transfer: Transfer, _ delegate: URLSessionTransferDelegate) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let idle = transfer.request.timeouts.effectiveIdle
        timer.setEventHandler { [weak self] in self?.checkIdleTime(of: transfer, against: idle) }
        timer.schedule(deadline: .now() + .nanoseconds(idle.nanoseconds))
        lock.withLock {
            self.task = task
            self.timer = timer
        }
        delegate.register(transfer, for: task) { [weak self] in self?.end() }
        timer.resume()
        task.resume()
    }

    /// Ends the task. Posted to the queue: `URLSessionTask.cancel()` can block its caller for long.
    func cancel() {
        guard let task = end() else { return }
        queue.async { task.cancel() }
    }

    @discardableResult
    private func end() -> URLSessionTask? {
        lock.lock()
        defer { lock.unlock() }
        timer?.cancel()
        timer = nil
        defer { task = nil }
        return task
    }

    private func checkIdleTime(of transfer: Transfer, against idle: Duration) {
        let rest = idle - transfer.idleTime
        guard rest <= .zero else {
            return lock.withLock {
                timer?.schedule(deadline: .now() + .nanoseconds(max(rest.nanoseconds, 1_000_000)))
            }
        }
        transfer.fail(NetworkError(.idleTimedOut, reason: "nothing moved for \(idle)"))
        cancel()
    }
}

extension Duration {
    /// The whole nanoseconds, cut to what fits.
    fileprivate var nanoseconds: Int {
        let (seconds, attoseconds) = components
        let limit = Int64(Int.max / 1_000_000_000 - 1)
        return Int(min(max(seconds, -limit), limit)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
