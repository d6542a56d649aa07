import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A started `URLSessionTask` with its transfer, its times and its idle timer.
final class RunningTask: @unchecked Sendable {  // because of the lock; only the queue uses the backlog
    let transfer: Transfer
    let upload: SessionUpload
    let queue: DispatchQueue
    let start = ContinuousClock.now
    let lock = NSLock()
    var task: URLSessionTask?
    private var session: URLSession?
    /// The transport, retained as long as the task exists, because a body may be read after the app has released the
    /// transport.
    private var owner: URLSessionTransport?
    private var timer: (any DispatchSourceTimer)?
    private var hasEnded = false
    var activity: SessionActivity
    var firstByte: Duration?
    private(set) var transaction: TransactionTimes?
    var bodyStream: SessionBodyStream?
    var streams = 0
    /// Used on the queue only.
    var backlog: ResponseBacklog

    init(
        _ request: HTTPRequest, sending upload: SessionUpload, delivering delivery: BodyDelivery,
        limits: URLSessionTransport.Limits, on platform: SessionPlatform, queue: DispatchQueue
    ) {
        self.queue = queue
        self.upload = upload
        activity = SessionActivity(
            idle: request.timeouts.effectiveIdle, connecting: platform.connectingLimit(request.timeouts))
        let buffers = platform.buffers(limits)
        backlog = ResponseBacklog(capacity: buffers.backlog)
        let me = Weak<RunningTask>()  // the reader of the response's body does not retain the task
        transfer = Transfer(request, delivering: delivery) {
            BytePipe(
                capacity: buffers.pipe, onRoom: { me.object?.resumeReading() }, onAbandon: { me.object?.abandon() })
        }
        me.object = self
    }

    /// Whether the task has ended or has been cancelled, possibly before the `URLSessionTask` existed.
    var isOver: Bool { lock.withLock { hasEnded } }

    var now: Duration { start.duration(to: .now) }

    /// What has been measured so far.
    var facts: TransferFacts {
        lock.withLock {
            if let transaction { return TransferFacts(timing: transaction.timing, connection: transaction.connection) }
            return TransferFacts(timing: .init(firstByte: firstByte, total: start.duration(to: .now)))
        }
    }

    /// Starts the task and its timer. The task, the timer, the session and the transport are released when the task has
    /// ended. Runs on the queue, because `resume()` can block for seconds while Foundation's own queue is busy.
    ///
    /// - Parameter session: A session that shares Foundation's internal queue with the task. It is queried before the
    ///   task is ended as idle.
    func start(_ task: URLSessionTask, asking session: URLSession, of owner: URLSessionTransport) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.checkIdleTime() }
        let isOver = lock.withLock {
            self.task = task
            self.session = session
            self.timer = timer
            self.owner = owner
            timer.schedule(deadline: .now() + .milliseconds(activity.limit.milliseconds))
            return hasEnded
        }
        if !transfer.request.body.isEmpty { meter?.begin(transfer.request.body) }
        timer.resume()
        task.resume()
        lock.withLock { activity.begin(at: now) }
        if isOver { cancel() }  // it was cancelled while the task was created
    }

    /// Cancels the `URLSessionTask`. Foundation then reports that the task has ended.
    func cancelTask() {
        let task = lock.withLock { self.task }
        queue.async { task?.cancel() }
    }

    /// Records activity, which restarts the idle timeout.
    func noteActivity() {
        lock.withLock { activity.note(at: now) }
    }

    /// Records that bytes of the request's body were sent.
    func noteSent(_ count: Int64) {
        noteActivity()
        meter?.noteSent(Int(count))
    }

    /// The meter that counts the bytes that Foundation sends. The bytes of a stream are counted when they are read.
    private var meter: RequestProgress.Meter? {
        if case .stream = upload { nil } else { transfer.request.progress }
    }

    /// Records that Foundation waits for a network, which does not count as idle time.
    func noteWaiting() {
        lock.withLock { activity.isWaiting = true }
    }

    /// Stores the task's metrics, which arrive before the task ends.
    func note(_ transaction: TransactionTimes) {
        lock.withLock { self.transaction = transaction }
    }

    /// Ends the task. The cancellation is posted to the queue, because `URLSessionTask.cancel()` can block its caller
    /// for a long time.
    func cancel() {
        guard let (task, owner) = release() else { return }
        queue.async {
            task.cancel()
            withExtendedLifetime(owner) {}
        }
    }

    /// Releases the task's resources after the task has ended.
    ///
    /// - Returns: The transport, to be released on the queue, because releasing its last reference ends the session.
    func end() -> URLSessionTransport? {
        // The stream is closed only now, because `URLSession` treats the end of the stream as the end of a complete
        // body.
        lock.withLock { bodyStream }?.close()
        return release()?.owner
    }

    /// Releases the task, the session, the timer and the transport.
    private func release() -> (task: URLSessionTask, owner: URLSessionTransport?)? {
        let (task, timer, owner) = lock.withLock {
            hasEnded = true
            defer { (self.task, self.session, self.timer, self.owner) = (nil, nil, nil, nil) }
            return (self.task, self.timer, self.owner)
        }
        timer?.cancel()
        return task.map { ($0, owner) }
    }
}

/// The idle timer.
extension RunningTask {
    private func checkIdleTime() {
        let (activity, left) = lock.withLock { (self.activity, self.activity.timeLeft(at: now)) }
        guard let left, left <= .zero else {
            let delay = max((left ?? activity.limit).milliseconds, 1)
            return lock.withLock { timer?.schedule(deadline: .now() + .milliseconds(delay)) }
        }
        guard let session = lock.withLock({ self.session }) else { return }
        let isAnswered = Locked(false)
        let end: @Sendable () -> Void = { [weak self] in
            let isFirst = isAnswered.withLock { isAnswered in
                defer { isAnswered = true }
                return !isAnswered
            }
            if isFirst { self?.endIfIdle(since: activity) }
        }
        // Foundation may have received bytes that it has not delivered yet. It delivers pending events before it
        // completes `getAllTasks`.
        session.getAllTasks { _ in end() }
        queue.asyncAfter(deadline: .now() + .seconds(30), execute: end)
    }

    private func endIfIdle(since activity: SessionActivity) {
        guard lock.withLock({ self.activity == activity }) else { return checkIdleTime() }
        // Foundation on Linux does not report every head before the end of the task.
        if !transfer.hasHead, let response = lock.withLock({ task })?.response as? HTTPURLResponse {
            receiveHead(response.head)
        }
        transfer.fail(.idleTimedOut(after: activity.limit))
        cancel()
    }
}
