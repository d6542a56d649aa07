import Foundation

/// The operations of a `URLSessionWebSocketTask`. Tests use their own implementation. The closures may be called on any
/// thread.
protocol SessionWebSocketTask: AnyObject, Sendable {
    /// Sends a message, and calls the closure once the system has taken it.
    func send(_ message: WebSocketMessage, then completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Receives one message.
    func receive(then completion: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void)

    /// Sends a ping, and calls the closure when the pong arrives.
    func ping(then completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Sends a close frame, and closes the connection.
    func close(_ close: WebSocketClose)

    /// Closes the connection.
    func cancel()

    /// The close frame of the peer; nil if none has arrived.
    var closeOfPeer: WebSocketClose? { get }
}

/// The open connection of a WebSocket task. At any time, it sends at most one message and receives at most one message.
///
/// The session's delegate retains the connection until ``finish(_:)``, which it calls when the task has ended.
final class SessionWebSocket: WebSocketConnection {
    private struct State: Sendable {
        /// Settled when the system has taken the message that is being sent.
        var sending: Settlement<Void>?
        var isReceiving = false
        /// Whether the task has been asked to close the connection.
        var isClosing = false
        /// Whether the time in which the peer must answer a close frame has begun.
        var isTimed = false
        var closeOfPeer: WebSocketClose?
        /// The error that ended the connection, if it was reported before the end of the task.
        var failure: NetworkError?
        /// Whether no message can be received any more.
        var hasFailed = false
        var isOver = false
        /// The transport, retained as long as the task exists.
        var owner: (any AnyObject & Sendable)?
    }

    let inbox = WebSocketInbox()
    let outbox = WebSocketOutbox()
    let activity = Locked(WebSocketActivity())
    let ending = Settlement<Void>()
    private let task: any SessionWebSocketTask
    private let queue: DispatchQueue
    private let messageLimit: Int
    private let closingTime: Duration
    private let state: Locked<State>

    /// - Parameters:
    ///   - messageLimit: The task's maximum size of a message, for the text of an error.
    ///   - queue: The queue of the timer.
    ///   - closingTime: The time in which the peer must answer a close frame.
    ///   - owner: The transport.
    init(
        _ task: any SessionWebSocketTask, messageLimit: Int, queue: DispatchQueue, closingTime: Duration = .seconds(5),
        owner: (any AnyObject & Sendable)?
    ) {
        state = Locked(State(owner: owner))
        self.task = task
        self.messageLimit = messageLimit
        self.queue = queue
        self.closingTime = closingTime
    }

    func serve() {
        receive()
        if outbox.takePing() {
            task.ping { [weak self] error in
                if error == nil { self?.activity.withLock { $0.arrivals += 1 } }
            }
        }
        send()
        if outbox.closing != nil { limitClosing() }
    }

    func drop(_ error: NetworkError) {
        end(error)
        state.withLock { $0.sending }?.settle(.failure(error))
        task.cancel()
        limitClosing()
    }

    /// Closes the connection with code 1001. The messages that wait to be sent are dropped.
    func leave() {
        end(NetworkError(.transportShutDown))
        close(WebSocketClose(.goingAway))
    }

    /// Handles the close frame of the peer. Messages that arrived before this frame may still be in the task.
    func noteClose(_ close: WebSocketClose) {
        state.withLock { $0.closeOfPeer = close }
        outbox.finish(NetworkError(.webSocketClosed, underlying: close))
        receive()
        limitClosing()
    }

    /// Ends the connection, because its task has ended. May be called several times.
    func finish(_ error: (any Error)?) {
        let (sending, owner, isReceiving) = state.withLock { state in
            state.isOver = true
            defer { state.owner = nil }
            return (state.sending, state.owner, state.isReceiving && state.closeOfPeer != nil && state.failure == nil)
        }
        defer { withExtendedLifetime(owner) {} }
        let end = end(after: error)
        if !isReceiving { inbox.finish(end) }  // otherwise, the messages before the close frame are being delivered
        let unsent = outbox.closing == nil ? end.errorOfSending : NetworkError.webSocketIsClosing
        outbox.finish(unsent)
        sending?.settle(.failure(unsent))
        ending.settle(.success(()))
    }

    /// Returns how the connection ends if it ends now.
    private func end(after error: (any Error)?) -> Result<WebSocketClose, any Error> {
        let (close, failure) = state.withLock { ($0.closeOfPeer, $0.failure) }
        if let failure { return .failure(failure) }
        if let close = close ?? task.closeOfPeer { return .success(close) }
        return .failure(error.map(networkError) ?? .webSocketLost)
    }

    /// Ends both sides with an error.
    private func end(_ error: NetworkError) {
        state.withLock { $0.failure = $0.failure ?? error }
        inbox.finish(.failure(error))
        outbox.finish(error)
    }

    private func close(_ close: WebSocketClose) {
        let isFirst = state.withLock { state in
            defer { state.isClosing = true }
            return !state.isClosing
        }
        if isFirst { task.close(close) }
        limitClosing()
    }

    /// Limits the time in which the peer must take the remaining messages and answer the close frame.
    private func limitClosing() {
        let isFirst = state.withLock { state in
            defer { state.isTimed = true }
            return !state.isTimed
        }
        guard isFirst else { return }
        let time = DispatchTimeInterval.milliseconds(closingTime.milliseconds)
        queue.asyncAfter(deadline: .now() + time) { [self] in
            task.cancel()
            // The system reports the end of the task. The wait for this report also needs a limit.
            queue.asyncAfter(deadline: .now() + time) { [self] in
                finish(nil)
                inbox.finish(end(after: nil))
            }
        }
    }

    private func networkError(_ error: any Error) -> NetworkError {
        let system = error as NSError
        if system.domain == NSPOSIXErrorDomain, system.code == Int(EMSGSIZE) {
            return WebSocketFault(.messageTooBig, "a message has more than \(messageLimit) bytes").networkError
        }
        return URLSessionFailure(error: error, isSecure: false, hasHead: true, isCutOff: false).networkError
    }
}

/// The messages.
extension SessionWebSocket {
    /// Requests a message, unless a request is pending or messages wait for their reader. After a close frame, all
    /// remaining messages are requested.
    private func receive() {
        let mayPause = state.withLock { $0.closeOfPeer == nil && !$0.isClosing } && outbox.closing == nil
        let isPaused = activity.withLock { activity in
            activity.isPaused = mayPause && inbox.isFull()
            return activity.isPaused
        }
        guard !isPaused else { return }
        let isFirst = state.withLock { state in
            let mayHaveMore = !state.isOver || state.closeOfPeer != nil
            guard !state.isReceiving, mayHaveMore, state.failure == nil, !state.hasFailed else { return false }
            state.isReceiving = true
            return true
        }
        guard isFirst else { return }
        task.receive { [self] result in
            switch result {
            case .success(let message):
                activity.withLock {
                    $0.arrivals += 1
                    $0.messages += 1
                }
                if case .text(let text) = message, let fault = WebSocketFault(in: text) {
                    state.withLock { ($0.isReceiving, $0.hasFailed) = (false, true) }
                    return refuse(fault.networkError, fault.code)
                }
                inbox.put(message)
                state.withLock { $0.isReceiving = false }
                receive()
            case .failure(let error):
                stopReceiving(error)
            }
        }
    }

    /// Ends the WebSocket because of a message, and tells the peer the reason.
    private func refuse(_ error: NetworkError, _ code: WebSocketClose.Code) {
        end(error)
        close(WebSocketClose(code, reason: error.reason ?? ""))
    }

    /// Stops receiving, because receiving has failed. The task may report the close frame of the peer later than this
    /// failure.
    private func stopReceiving(_ error: any Error) {
        state.withLock { ($0.isReceiving, $0.hasFailed) = (false, true) }
        let error = networkError(error)
        if error.kind == .responseTooLarge { return refuse(error, .messageTooBig) }
        if let close = state.withLock({ $0.closeOfPeer }) ?? task.closeOfPeer { inbox.finish(.success(close)) }
        limitClosing()
    }

    /// Sends the next message, unless one is being sent.
    private func send() {
        let next: WebSocketOutbox.Item? = state.withLock { state in
            guard state.sending == nil, let item = outbox.next() else { return nil }
            state.sending = item.isSent
            return item
        }
        guard let next else {
            if let closing = outbox.closing, state.withLock({ $0.sending == nil }) { close(closing) }
            return
        }
        task.send(next.message) { [self] error in
            state.withLock { $0.sending = nil }
            next.isSent.settle(error.map { .failure(networkError($0)) } ?? .success(()))
            send()
        }
    }
}

extension Result<WebSocketClose, any Error> {
    /// The error for callers that still try to send.
    fileprivate var errorOfSending: any Error {
        switch self {
        case .success(let close): NetworkError(.webSocketClosed, underlying: close)
        case .failure(let error): error
        }
    }
}

extension WebSocketOutbox.Item {
    fileprivate var message: WebSocketMessage {
        isText ? .text(String(decoding: payload, as: UTF8.self)) : .binary(payload)
    }
}
