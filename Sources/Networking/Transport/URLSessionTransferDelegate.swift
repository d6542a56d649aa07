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
    /// By the task itself: identifiers of tasks are unique in one session only.
    private let state = Locked(State())

    private struct State: Sendable {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// Called once no task is in progress. No new one may start if there are any.
        var whenEmpty: [@Sendable () -> Void] = []
    }

    private let isShutDown: Locked<Bool>

    init(isShutDown: Locked<Bool>, isTrusted: @escaping @Sendable (URLAuthenticationChallenge) -> Bool) {
        self.isShutDown = isShutDown
        self.isTrusted = isTrusted
    }

    /// - Returns: False if no new task may start.
    func register(_ running: RunningTask, for task: URLSessionTask) -> Bool {
        state.withLock { state in
            guard state.whenEmpty.isEmpty else { return false }
            state.entries[ObjectIdentifier(task)] = Entry(running: running)
            return true
        }
    }

    /// The tasks in progress.
    var runningTasks: [RunningTask] { state.withLock { $0.entries.values.map(\.running) } }

    /// Takes no more tasks.
    ///
    /// - Parameter whenEmpty: Called when no task is in progress any more.
    func drain(_ whenEmpty: @escaping @Sendable () -> Void) {
        let isEmpty = state.withLock { state in
            state.whenEmpty.append(whenEmpty)
            return state.entries.isEmpty
        }
        if isEmpty { whenEmpty() }
    }

    func running(_ task: URLSessionTask) -> RunningTask? {
        state.withLock { $0.entries[ObjectIdentifier(task)]?.running }
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
        if let response = response as? HTTPURLResponse, let running = running(dataTask) {
            let head = response.head
            running.receiveHead(head)
            do throws(NetworkError) { _ = try head.bodyLength(for: running.transfer.request.method) } catch {
                running.transfer.fail(error)
                dataTask.cancel()
            }
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

    /// On Linux only a 401 or 407 causes a challenge, and only cancelling it neither hangs nor crashes. The response is
    /// complete by then; Foundation reports its end as a cancellation. On Apple platforms the app's own check may refuse
    /// a server; otherwise the system decides.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            state.withLock { $0.entries[ObjectIdentifier(task)]?.wasChallenged = true }
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
        let (entry, whenEmpty) = state.withLock { state in
            (state.entries.removeValue(forKey: ObjectIdentifier(task)), state.entries.isEmpty ? state.whenEmpty : [])
        }
        guard let entry else { return }
        defer { for call in whenEmpty { call() } }
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
        let failure = URLSessionFailure(
            error, isSecure: transfer.isSecure, hasHead: transfer.hasHead, isCutOff: transfer.isCutOff)
        transfer.fail(failure.networkError)
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
            // Foundation on Linux joins equal fields by commas. A blank is in no URL, so that these are several.
            let values =
                switch name {
                case .setCookie: JoinedCookies(value: "\(value)").fields
                case .location: "\(value)".components(separatedBy: ", ")
                // A carriage return that ends no line counts as a blank (RFC 9112 section 2.2).
                default: ["\(value)".replacingOccurrences(of: "\r", with: " ").trimmingCharacters(in: .whitespaces)]
                }
            for value in values { headers.append(HTTPHeader(name, value)) }
        }
        return ResponseHead(status: HTTPStatus(statusCode), headers: headers)
    }
}
