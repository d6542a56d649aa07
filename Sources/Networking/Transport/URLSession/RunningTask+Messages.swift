import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The request's body.
extension RunningTask {
    /// Opens the body as a stream when `URLSession` requests a stream: at the beginning, and when it sends the request
    /// again.
    ///
    /// - Returns: Nil if the task has already ended. Also nil if the body cannot be opened, or cannot be opened a
    ///   second time. The call then fails.
    func makeBodyStream() -> SessionBodyStream? {
        let (isFirst, isRunning) = lock.withLock {
            streams += 1
            return (streams == 1, task != nil)
        }
        guard isRunning else { return nil }
        do throws(NetworkError) {
            guard isFirst || transfer.request.body.isReplayable else {
                throw NetworkError(
                    .connectionLostBeforeHead,
                    reason: "the connection was lost, and the body of the request cannot be read again")
            }
            let stream = try SessionBodyStream(transfer.request, queue: queue) { [weak self] error in
                self?.fail(error)
            }
            let previous = lock.withLock {
                defer { bodyStream = stream }
                return bodyStream
            }
            previous?.close()
            return stream
        } catch {
            fail(error)
            return nil
        }
    }

    private func fail(_ error: NetworkError) {
        transfer.fail(error)
        backlog.removeAll()
        cancel()
    }
}

/// The response, which is handled on the queue.
extension RunningTask {
    func receiveHead(_ head: ResponseHead, switchesProtocols: Bool = false) {
        noteActivity()
        lock.withLock { firstByte = firstByte ?? start.duration(to: .now) }
        transfer.receiveHead(
            head, switchesProtocols: switchesProtocols, facts: facts, stop: { [weak self] in self?.endRejectedBody() })
    }

    /// Ends the exchange, because a limit of a rejected body has passed. May be called on any thread.
    private func endRejectedBody() {
        queue.async { [self] in fail(NetworkError(.cancelled)) }
    }

    /// Passes bytes of the body to the transfer. If suspending a task stops the server from sending on this platform,
    /// the task is suspended while the reader's buffer is full.
    func receive(_ data: Data) {
        noteActivity()
        if !backlog.isHeldBack {
            switch data.withUnsafeBytes({ transfer.receive($0) }) {
            case .taken: return
            case .abandoned: return cancel()
            case .full: break
            }
        }
        switch backlog.keep(data) {
        case .kept(let isFirst):
            let task = lock.withLock {
                activity.isHeldBack = true
                return self.task
            }
            if isFirst { task?.holdBack() }
        case .tooMany:
            fail(
                NetworkError(
                    .responseTooLarge,
                    reason:
                        "the reader of the body is too slow: more bytes wait for the reader than limits.bufferedBytes allows"
                ))
        }
    }

    /// Resumes the delivery, because the reader's buffer has room again.
    func resumeReading() {
        queue.async { [self] in
            var isAbandoned = false
            let isDrained = backlog.drain { chunk in
                let result = chunk.withUnsafeBytes { transfer.receive($0) }
                isAbandoned = result == .abandoned
                return result == .taken
            }
            if isAbandoned { return abandon() }
            guard isDrained else { return }
            let task = lock.withLock {
                activity.isHeldBack = false
                activity.note(at: now)
                return self.task
            }
            task?.resume()
        }
    }

    /// Ends the task, because the reader has stopped reading.
    func abandon() {
        cancel()
        queue.async { self.backlog.removeAll() }
    }

    /// Records the end of the response. `action` is called when all its bytes have been passed on.
    func finish(_ action: @escaping @Sendable () -> Void) {
        backlog.finish(action)
    }

    /// The version of HTTP; nil if no metrics have arrived.
    var httpVersion: String? { lock.withLock { transaction?.httpVersion } }
}
