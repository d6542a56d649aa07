import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A delegate that passes the events of a session's tasks to their transfers. Every delegate method runs on the
/// session's own queue.
final class URLSessionTransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct Entry: Sendable {
        let running: RunningTask
        var wasChallenged = false
    }

    private let authenticate: AuthenticationResponse.Handler
    private let state = Locked(State())

    private struct State: Sendable {
        /// The tasks in progress. The key is the task object, because task identifiers are unique in one session only.
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The tasks of open WebSockets.
        var webSockets: [ObjectIdentifier: SessionWebSocket] = [:]
        var running = RunningCount()
    }

    private let isShutDown: Locked<Bool>

    init(isShutDown: Locked<Bool>, authenticate: @escaping AuthenticationResponse.Handler) {
        self.isShutDown = isShutDown
        self.authenticate = authenticate
    }

    /// Counts a request whose task will be registered.
    ///
    /// - Returns: Whether the request may be sent; false after ``drain(_:)``.
    func begin() -> Bool { state.withLock { $0.running.begin() } }

    /// Counts the end of a request for which no task was registered.
    func end() {
        for call in state.withLock({ $0.running.end() }) { call() }
    }

    /// Registers a task.
    func register(_ running: RunningTask, for task: URLSessionTask) {
        state.withLock { $0.entries[ObjectIdentifier(task)] = Entry(running: running) }
    }

    /// The tasks in progress.
    var runningTasks: [RunningTask] { state.withLock { $0.entries.values.map(\.running) } }

    /// Refuses further tasks.
    ///
    /// - Parameter whenEmpty: A closure to call when no task is in progress.
    func drain(_ whenEmpty: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.running.drain(whenEmpty) }) { whenEmpty() }
    }

    func running(_ task: URLSessionTask) -> RunningTask? {
        state.withLock { $0.entries[ObjectIdentifier(task)]?.running }
    }

    /// Refuses every redirect: the 3xx is the response, and ``RedirectFollowingTransport`` sends each request of the
    /// redirect chain.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Foundation on Linux ends the process if the task has been cancelled before (L51).
            guard running(task)?.isOver == false, !isShutDown.withLock({ $0 }) else { return }
        #endif
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse, let running = running(dataTask) {
            let head = response.head
            do throws(NetworkError) {
                _ = try head.bodyLength(for: running.transfer.request.method)
                running.receiveHead(head)
            } catch {
                running.transfer.fail(error)
                dataTask.cancel()
            }
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        running(dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        running(task)?.noteSent(bytesSent)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let running = running(task)
        running?.noteActivity()
        // The client certificate is not sent to an origin that a server has chosen.
        if challenge.isForClientCertificate, running?.transfer.request.isElsewhere == true {
            return completionHandler(.useCredential, nil)
        }
        authenticate(challenge, session.delegateQueue) { [self] response in
            switch response {
            case .systemDefault:
                completionHandler(.performDefaultHandling, nil)
            case .credential(let credential):
                completionHandler(.useCredential, credential)
            case .responseAsReceived:
                state.withLock { $0.entries[ObjectIdentifier(task)]?.wasChallenged = true }
                completionHandler(.cancelAuthenticationChallenge, nil)
            case .failure(let error):
                running?.transfer.fail(error)
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
        }
    }

    #if canImport(FoundationNetworking)
        /// Cancels a challenge of a connection, because Foundation on Linux reports no details of connections.
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let ended: (entry: Entry, whenNone: [@Sendable () -> Void])? = state.withLock { state in
            state.entries.removeValue(forKey: ObjectIdentifier(task)).map { ($0, state.running.end()) }
        }
        guard let (entry, whenNone) = ended else { return finishWebSocket(task, error) }
        defer { for call in whenNone { call() } }
        let running = entry.running
        let transfer = running.transfer
        // The transport is released last, because releasing the transport may shut down the session.
        let owner = running.end()
        defer { withExtendedLifetime(owner) {} }
        if !transfer.hasHead, let response = task.response as? HTTPURLResponse {
            // Foundation on Linux does not report the head of a 3xx without Location, or of a 401 with a challenge.
            let head = response.head
            running.receiveHead(head)
            #if canImport(FoundationNetworking)
                if error == nil, head.status.isRedirection, head.mayHaveBody(for: transfer.request.method),
                    head.headers[.contentLength] != "0"
                {
                    let reason = "URLSession on Linux has lost the body of this redirect; use CurlTransport"
                    transfer.fail(NetworkError(.malformedResponse, reason: reason))
                }
            #endif
        }
        let failure = error.flatMap { self.failure($0, of: transfer, wasChallenged: entry.wasChallenged) }
        running.finish {
            if let failure {
                transfer.fail(failure)
            } else if error == nil, transfer.isCutOff {
                transfer.fail(NetworkError(.truncatedBody))  // in case a system accepts a short body as complete
            } else {
                transfer.finish(running.facts, httpVersion: running.httpVersion)
            }
        }
    }

    /// Returns the error of the call.
    ///
    /// - Returns: Nil if the response is complete as far as the session reports it.
    private func failure(_ error: any Error, of transfer: Transfer, wasChallenged: Bool) -> NetworkError? {
        // For a refused handshake, the session reports the head, and an error instead of the body.
        let isRefusal = wasChallenged || transfer.request.parts.webSocket != nil
        guard !isRefusal || !transfer.hasHead else { return nil }
        guard !isShutDown.withLock({ $0 }) else { return NetworkError(.transportShutDown) }
        return URLSessionFailure(
            error: error, isSecure: transfer.isSecure, hasHead: transfer.hasHead, isCutOff: transfer.isCutOff,
            isRedirect: transfer.isRedirect
        ).networkError
    }
}

/// The open WebSockets.
extension URLSessionTransferDelegate {
    /// The handshake of a task has succeeded. From now on, the task belongs to a WebSocket.
    func open(_ task: URLSessionTask, _ connection: some SessionWebSocketTask, subprotocol: String?) {
        guard let running = running(task), !running.isOver, let order = running.transfer.request.parts.webSocket else {
            return
        }
        let head = (task.response as? HTTPURLResponse)?.head
        let webSocket = SessionWebSocket(
            connection, messageLimit: order.maximumMessageSize, queue: running.queue, owner: running.end())
        let whenNone = state.withLock { state in
            state.entries[ObjectIdentifier(task)] = nil
            state.webSockets[ObjectIdentifier(task)] = webSocket
            return state.running.end()
        }
        running.receiveHead(head ?? ResponseHead(status: .switchingProtocols, headers: []), switchesProtocols: true)
        order.fulfil(with: BufferedWebSocketChannel(webSocket, subprotocol: subprotocol))
        running.transfer.finish(running.facts)
        webSocket.serve()
        for call in whenNone { call() }
    }

    func webSocket(_ task: URLSessionTask) -> SessionWebSocket? {
        state.withLock { $0.webSockets[ObjectIdentifier(task)] }
    }

    /// Closes the open WebSockets.
    ///
    /// - Returns: Whether there are any.
    func leaveWebSockets() -> Bool {
        let webSockets = state.withLock { Array($0.webSockets.values) }
        for webSocket in webSockets { webSocket.leave() }
        return !webSockets.isEmpty
    }

    private func finishWebSocket(_ task: URLSessionTask, _ error: (any Error)?) {
        state.withLock { $0.webSockets.removeValue(forKey: ObjectIdentifier(task)) }?.finish(error)
    }
}

extension Transfer {
    fileprivate var isSecure: Bool { request.url.scheme?.lowercased() == "https" }
}
