import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Hands what a session tells about its tasks to their transfers. Every method runs on the session's own queue.
final class URLSessionTransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct Entry: Sendable {
        let running: RunningTask
        var wasChallenged = false
    }

    /// The app's own check of a server, on Apple platforms.
    let isTrusted: @Sendable (URLAuthenticationChallenge) -> Bool
    private let entries = Locked<[Int: Entry]>([:])

    private let isShutDown: Locked<Bool>

    init(isShutDown: Locked<Bool>, isTrusted: @escaping @Sendable (URLAuthenticationChallenge) -> Bool) {
        self.isShutDown = isShutDown
        self.isTrusted = isTrusted
    }

    func register(_ running: RunningTask, for task: URLSessionTask) {
        let identifier = task.taskIdentifier
        entries.withLock { $0[identifier] = Entry(running: running) }
    }

    func running(_ task: URLSessionTask) -> RunningTask? {
        let identifier = task.taskIdentifier
        return entries.withLock { $0[identifier]?.running }
    }

    /// Refuses every redirect: the 3xx is the answer, and ``RedirectFollowingTransport`` sends each hop.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            running(dataTask)?.receiveHead(response.head)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let running = running(dataTask) else { return }
        running.noteActivity()
        switch data.withUnsafeBytes({ running.transfer.receive($0) }) {
        case .taken:
            return
        case .full:
            running.transfer.fail(
                NetworkError(
                    .responseTooLarge, reason: "the reader is too slow: the bytes that wait for it passed their bound"))
            dataTask.cancel()
        case .abandoned:
            dataTask.cancel()
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        running(task)?.noteSent(bytesSent)
    }

    /// On Linux only a 401 or 407 challenges, and cancelling is the one answer that neither hangs nor crashes. Head and body have come by then,
    /// so that the end, which Foundation calls a cancellation, is the end of a good answer. Elsewhere the app's own check is asked about a
    /// server, and the system decides about those that it does not refuse.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            let identifier = task.taskIdentifier
            entries.withLock { $0[identifier]?.wasChallenged = true }
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            guard isTrusted(challenge) else {
                running(task)?.transfer.fail(
                    NetworkError(.tlsUntrusted, reason: "the app's own check refused the server"))
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            completionHandler(.performDefaultHandling, nil)
        #endif
    }

    #if canImport(FoundationNetworking)
        /// The same for a connection, about which nothing is known on Linux.
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let identifier = task.taskIdentifier
        guard let entry = entries.withLock({ $0.removeValue(forKey: identifier) }) else { return }
        let running = entry.running
        let transfer = running.transfer
        // The transport is let go last: with it, the session may be shut down.
        let owner = running.end()?.owner
        defer { withExtendedLifetime(owner) {} }
        if !transfer.hasHead, let response = task.response as? HTTPURLResponse {
            // Foundation on Linux tells of no head where a 3xx has no Location, nor where a 401 was challenged.
            running.receiveHead(response.head)
        }
        guard let error, !entry.wasChallenged || !transfer.hasHead else {
            return transfer.finish(timing: running.timing)
        }
        guard !isShutDown.withLock({ $0 }) else { return transfer.fail(NetworkError(.shutDown)) }
        transfer.fail(URLSessionFailure(error, isSecure: transfer.isSecure, hasHead: transfer.hasHead).networkError)
    }
}

extension Transfer {
    fileprivate var isSecure: Bool { request.url.scheme?.lowercased() == "https" }
}

extension HTTPURLResponse {
    fileprivate var head: ResponseHead {
        var headers = HTTPHeaders()
        for (name, value) in allHeaderFields {
            let name = HTTPHeaderName("\(name)")
            let values = name == .setCookie ? JoinedCookies(value: "\(value)").fields : ["\(value)"]
            for value in values { headers.append(HTTPHeader(name, value)) }
        }
        return ResponseHead(status: HTTPStatus(statusCode), headers: headers)
    }
}
