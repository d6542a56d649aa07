#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A transport that sends requests with `URLSession`. It is the default transport on Apple platforms, and on Linux if
/// libcurl cannot be loaded.
///
/// The transport has one long-lived session with a delegate on its own queue. The library itself implements redirects,
/// timeouts, cookies and caching.
///
/// On Linux, Foundation has limitations that the library cannot remove:
///
/// - The transport refuses the following requests with ``NetworkError/Kind/invalidRequest`` before it sends anything: a
///   GET with a body, a method that is not in upper case, a path with `.` or `..` as a segment, and a URL whose host is
///   an IPv6 address. Foundation would send such a request in another form, or not at all.
/// - A request with a body, or with a method that is not idempotent, has its own session and connection. The reason is
///   that Foundation repeats a request whose connection is lost, and then omits the body.
/// - Connecting has no timeout of its own and counts as idle time. The transport cannot slow down a server that sends
///   faster than the reader reads: if more than ``Limits/bufferedBytes`` bytes wait for the reader, the call fails.
/// - TLS cannot be configured. A body that is not in memory is read to its end before it is sent.
/// - The transport does not detect that a compressed body ends too early.
/// - If a server closes the connection inside the response head, an assertion of Foundation fails and ends the process.
///
/// On Apple platforms, the transport sends files with upload tasks. It sends other bodies that are not in memory as
/// streams. A slow reader slows the server down. Metrics provide the times of a connection, and the version of HTTP of
/// a response that is not streamed. Also note these points:
///
/// - Connecting has no timeout of its own. With the default idle timeout, a call ends with
///   ``NetworkError/Kind/idleTimedOut`` after twice ``HTTPRequest/Timeouts/connect`` (2 × 15 s) if neither the server's
///   certificate nor any byte has arrived by then.
/// - If a session waits for a network (`waitsForConnectivity`), the call has no idle timeout from the start of this
///   wait until the first bytes arrive. Give such calls a total deadline.
/// - A background session is refused, because its tasks can outlive the process and the call.
/// - Timeouts measure continuous time: if an app was suspended for longer than a timeout, its calls have timed out.
public final class URLSessionTransport: Transport {
    /// The transport that services use by default on Apple platforms. It has one session per process.
    public static let shared = URLSessionTransport(
        configuration: .withoutPolicy, limits: Limits(), authenticate: AuthenticationResponse.standard)

    private let session: URLSession
    private let configuration: URLSessionConfiguration
    private let delegate: URLSessionTransferDelegate
    private let operations = OperationQueue()
    private let queue: DispatchQueue
    private let limits: Limits
    private let isShutDown = Locked(false)

    /// The limits of the bytes in memory.
    public struct Limits: Hashable, Sendable {
        /// The number of bytes of a streamed body that may wait for a slow reader. If more bytes wait, the body fails.
        /// Default: 16 MiB. On Apple platforms, the transport stops receiving when 256 KiB wait. Bytes that arrive
        /// after that also count towards this limit.
        public var bufferedBytes: Int
        /// The maximum size in memory of a request body that is a file or stream. A longer body is stored in a
        /// temporary file. Default: 64 MiB. Apple platforms ignore this limit, because the transport streams such a
        /// body there.
        public var requestBodyBytes: Int

        /// Creates a set of limits.
        public init(bufferedBytes: Int = 16 << 20, requestBodyBytes: Int = 64 << 20) {
            self.bufferedBytes = bufferedBytes
            self.requestBodyBytes = requestBodyBytes
        }
    }

    /// Creates a transport with its own session.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration, which is copied. Default: ephemeral, without cache, cookies and
    ///     stored credentials, and with up to 512 connections to a host.
    ///   - tls: The certificates to trust, and the client's own certificate.
    ///   - limits: The limits of the bytes in memory.
    /// - Throws: ``NetworkError/Kind/invalidRequest`` if this platform does not support a setting: on Linux, any TLS
    ///   setting; on Apple platforms, a client certificate in PEM or a background configuration. The error names the
    ///   setting. It is also thrown if `httpAdditionalHeaders` contains credentials, because they would be sent to
    ///   every server.
    public convenience init(
        configuration: URLSessionConfiguration = .withoutPolicy, tls: TLSConfiguration = TLSConfiguration(),
        limits: Limits = Limits()
    ) throws(NetworkError) {
        try tls.validate()
        try configuration.requireNoSecrets()
        self.init(
            configuration: try configuration.prepared(for: tls), limits: limits,
            authenticate: try URLSessionTransport.authentication(for: tls))
    }

    init(
        configuration: URLSessionConfiguration, limits: Limits, authenticate: @escaping AuthenticationResponse.Handler
    ) {
        queue = DispatchQueue(label: "networking.urlsession")
        operations.maxConcurrentOperationCount = 1
        operations.underlyingQueue = queue
        delegate = URLSessionTransferDelegate(isShutDown: isShutDown, authenticate: authenticate)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: operations)
        self.configuration = configuration
        self.limits = limits
    }

    deinit {
        shutDown()
    }

    /// Ends the session. Calls in progress, and all later calls, end with ``NetworkError/Kind/transportShutDown``.
    public func shutDown() {
        let wasOpen = isShutDown.withLock { isShutDown in
            defer { isShutDown = true }
            return !isShutDown
        }
        guard wasOpen else { return }
        // This runs on the queue that creates the tasks, because an invalidated session must not create a task.
        queue.async { [session, delegate] in
            for running in delegate.runningTasks { running.cancelTask() }  // also tasks that have their own session
            guard delegate.leaveWebSockets() else { return session.invalidateAndCancel() }
            session.finishTasksAndInvalidate()  // the close frames are being sent
        }
    }

    /// Shuts down gracefully, for example before a server process exits. The transport refuses new requests with
    /// ``NetworkError/Kind/transportShutDown``, waits until the requests in progress have ended, and then calls
    /// ``shutDown()``. Redirects, retries, and the requests of calls that wait for a permit also count as new requests.
    /// If this method is called several times, the shortest limit applies.
    ///
    /// - Parameter limit: The longest time to wait. Requests that are still in progress after this time are ended. The
    ///   wait also ends when the task is cancelled.
    public func shutDown(draining limit: Duration) async {
        let isDrained = Settlement<Void>()
        delegate.drain { isDrained.settle(.success(())) }
        try? await isDrained.value(within: limit) { _ in .success(()) }
        shutDown()
    }

    /// Sends a request, without following redirects.
    ///
    /// - Throws: ``NetworkError``. The kind ``NetworkError/Kind/invalidRequest`` means that nothing was sent.
    public func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        do {
            try request.validate()
            if request.parts.webSocket != nil {
                try NetworkError.require(
                    SessionPlatform.current.opensWebSockets,
                    "WebSocket: URLSession on Linux cannot open a WebSocket; use CurlTransport")
                try request.validateHandshake()
            }
            var message = try message(for: request)
            let upload = try await upload(for: request)
            if case .data(let bytes) = upload, !bytes.isEmpty { message.httpBody = bytes }
            if case .stream = upload, let length = request.body.length {
                message.setValue("\(length)", forHTTPHeaderField: "Content-Length")
            }
            let running = RunningTask(
                request, sending: upload, delivering: delivery, limits: limits, on: .current, queue: queue)
            request.parts.transfer?.report(.sent(request))
            try start(running, message)
            do {
                return try await running.transfer.response()
            } catch {
                running.cancel()
                throw error
            }
        } catch {
            throw NetworkError.wrapping(error).completed(request: request, response: nil)
        }
    }

    /// Returns the body in the form that the session requires.
    private func upload(for request: HTTPRequest) async throws -> SessionUpload {
        guard !SessionPlatform.current.streamsUploads else { return SessionUpload(streaming: request.body) }
        // Bytes are the only form that is reliable on Linux (rows L17, L27 and L42 of <doc:URLSessionOnLinux>).
        return .data(
            try await request.body.spooled(
                inMemory: limits.requestBodyBytes, idle: request.timeouts.effectiveIdle))
    }

    private func start(_ running: RunningTask, _ message: URLRequest) throws {
        guard !isShutDown.withLock({ $0 }), delegate.begin() else { throw NetworkError(.transportShutDown) }
        // While Foundation's own queue is busy, creating a `URLSessionTask` blocks the thread. All Swift tasks of the
        // process share a few threads, so none of them could run if these threads were blocked.
        queue.async { self.create(running, message) }
    }

    /// Creates the `URLSessionTask`. Runs on the queue.
    private func create(_ running: RunningTask, _ message: URLRequest) {
        guard !isShutDown.withLock({ $0 }) else {
            running.transfer.fail(NetworkError(.transportShutDown))
            return delegate.end()
        }
        guard !running.isOver else { return delegate.end() }
        let session = session(for: running.transfer.request)
        let task = session.task(with: message, for: running.upload, opening: running.transfer.request.parts.webSocket)
        if session !== self.session { session.finishTasksAndInvalidate() }
        delegate.register(running, for: task)
        running.start(task, asking: self.session, of: self)
    }

    /// Returns the session for a request.
    private func session(for request: HTTPRequest) -> URLSession {
        #if canImport(FoundationNetworking)
            // A new session has no open connection. If Foundation lost a reused connection, it would repeat the
            // request.
            guard request.body.isEmpty, request.isRepeatable else {
                return URLSession(configuration: configuration, delegate: delegate, delegateQueue: operations)
            }
        #endif
        return session
    }

    /// Returns the request as a `URLRequest`, without its body.
    private func message(for request: HTTPRequest) throws -> URLRequest {
        #if canImport(FoundationNetworking)
            try refuseUnsendable(request)
        #endif
        var message = URLRequest(url: request.url.withLowercasedScheme)
        if let order = request.parts.webSocket { message.prepareHandshake(for: order) }
        message.httpMethod = request.method.rawValue
        // The library has its own timers: Foundation's timers include waiting times, and count only whole seconds.
        message.timeoutInterval = 7 * 86_400
        message.restrict(to: request.networkAccess ?? .all)
        let headers = request.allHeaders
        for field in headers { message.addValue(field.value, forHTTPHeaderField: field.name.rawValue) }
        // Foundation joins values with a comma, which would be a part of the first cookie (RFC 6265 section 5.4).
        let cookies = headers.values(for: .cookie)
        if cookies.count > 1 { message.setValue(cookies.joined(separator: "; "), forHTTPHeaderField: "Cookie") }
        guard request.body.length != 0 else { return message }
        try NetworkError.require(request.method != .get, "body: URLSession cannot send a body with \(request.method)")
        if message.value(forHTTPHeaderField: "Content-Type") == nil {
            // Without this field, Foundation on Linux would label the bytes as a form.
            message.setValue(MediaType.octetStream.description, forHTTPHeaderField: "Content-Type")
        }
        return message
    }
}

extension URL {
    /// The URL with its scheme in lower case. Schemes are case-insensitive (RFC 3986 section 3.1), but Foundation on
    /// Linux accepts them in lower case only.
    fileprivate var withLowercasedScheme: URL {
        guard let scheme, scheme != scheme.lowercased() else { return self }
        return URL(string: scheme.lowercased() + absoluteString.dropFirst(scheme.count)) ?? self
    }
}

extension URLSessionTransport: RedactedReflectable {
    /// The name of the transport.
    var redactedDescription: String { "URLSessionTransport" }
}
