import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A started `URLSessionTask` with its transfer, its times and its idle timer.
final class RunningTask: @unchecked Sendable {  // because of the lock around every variable
    let transfer: Transfer
    /// What is sent; a file of its own is there until the task is over.
    let body: SpooledBody
    private let queue: DispatchQueue
    private let start = ContinuousClock.now
    private let lock = NSLock()
    private var task: URLSessionTask?
    private var session: URLSession?
    /// The transport, which is there as long as the task: a body may be read when nobody else has it any more.
    private var owner: URLSessionTransport?
    private var timer: (any DispatchSourceTimer)?
    private var lastActivity: ContinuousClock.Instant
    private var firstByte: Duration?

    init(
        _ request: HTTPRequest, sending body: SpooledBody, answering timing: AnswerTiming, capacity: Int,
        queue: DispatchQueue
    ) {
        self.queue = queue
        self.body = body
        lastActivity = start
        let cancellation = Cancellation()
        transfer = Transfer(request, answering: timing) {
            BytePipe(capacity: capacity, onAbandon: { cancellation.task?.cancel() })
        }
        cancellation.task = self
    }

    /// What a transfer's reader ends, without keeping it.
    private final class Cancellation: @unchecked Sendable {  // because it is set before anybody else can see it
        weak var task: RunningTask?
    }

    /// The times so far.
    var timing: ResponseTiming {
        lock.withLock { ResponseTiming(firstByte: firstByte, total: start.duration(to: .now)) }
    }

    /// Starts the task and its timer; both are released at the end, and so are session and transport.
    ///
    /// - Parameter session: A session of the same queue of Foundation's, asked before the task is ended as idle.
    func start(_ task: URLSessionTask, asking session: URLSession, of owner: URLSessionTransport) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let idle = transfer.request.timeouts.effectiveIdle
        timer.setEventHandler { [weak self] in self?.checkIdleTime(against: idle) }
        timer.schedule(deadline: .now() + .milliseconds(idle.milliseconds))
        lock.withLock {
            self.task = task
            self.session = session
            self.timer = timer
            self.owner = owner
        }
        let request = transfer.request
        if !request.body.isEmpty { request[option: ProgressMeter.self]?.beginUpload(total: request.body.length) }
        timer.resume()
        // On the queue, because it can block for seconds, as long as Foundation's own queue is busy.
        queue.async {
            task.resume()
            self.noteActivity()
        }
    }

    /// Ends the task as Foundation does.
    func cancelTask() {
        let task = lock.withLock { self.task }
        queue.async { task?.cancel() }
    }

    /// Something moved: the idle timeout restarts.
    func noteActivity() {
        lock.withLock { lastActivity = .now }
    }

    /// Bytes of the request's body have gone: Foundation tells, since it was given the body as a whole.
    func noteSent(_ count: Int64) {
        noteActivity()
        transfer.request[option: ProgressMeter.self]?.noteSent(Int(count))
    }

    func receiveHead(_ head: ResponseHead) {
        lock.withLock {
            lastActivity = .now
            firstByte = firstByte ?? start.duration(to: .now)
        }
        transfer.receiveHead(head, timing: timing)
    }

    /// Ends the task. Posted to the queue: `URLSessionTask.cancel()` can block its caller for long.
    func cancel() {
        guard let (task, owner) = end() else { return }
        queue.async {
            task.cancel()
            withExtendedLifetime(owner) {}
        }
    }

    /// Releases task, timer and transport.
    ///
    /// - Returns: The task, and the transport, to be released on the queue: its last reference ends the session.
    func end() -> (task: URLSessionTask, owner: URLSessionTransport?)? {
        let (task, timer, owner) = lock.withLock {
            defer { (self.task, self.session, self.timer, self.owner) = (nil, nil, nil, nil) }
            return (self.task, self.timer, self.owner)
        }
        timer?.cancel()
        return task.map { ($0, owner) }
    }

    private func checkIdleTime(against idle: Duration) {
        let rest = idle - lock.withLock { lastActivity.duration(to: .now) }
        guard rest <= .zero else {
            return lock.withLock {
                timer?.schedule(deadline: .now() + .milliseconds(max(rest.milliseconds, 1)))
            }
        }
        guard let session = lock.withLock({ self.session }) else { return }
        let asked = lock.withLock { lastActivity }
        let isAnswered = Locked(false)
        let end: @Sendable () -> Void = { [weak self] in
            let isFirst = isAnswered.withLock { isAnswered in
                defer { isAnswered = true }
                return !isAnswered
            }
            if isFirst { self?.endIfIdle(since: asked, idle) }
        }
        // Foundation may be late and not the server: what it has to report arrives before the answer to this question.
        session.getAllTasks { _ in end() }
        queue.asyncAfter(deadline: .now() + .seconds(30), execute: end)
    }

    private func endIfIdle(since instant: ContinuousClock.Instant, _ idle: Duration) {
        guard lock.withLock({ lastActivity == instant }) else { return checkIdleTime(against: idle) }
        transfer.fail(.idleTimedOut(after: idle))
        cancel()
    }
}
