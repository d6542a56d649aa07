#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends requests with `URLSession`: the engine of Apple platforms, and of Linux if libcurl cannot be loaded.
///
/// One long-lived session with a delegate on a queue of its own. Redirects, timeouts, cookies and caching are the
/// library's own.
///
/// On Linux, Foundation has limits that cannot be removed from outside:
///
/// - Refused with ``NetworkError/Kind/invalidRequest`` before anything is sent: a body on GET, a method in lower case,
///   a path with `.` or `..` as a segment, an IPv6 address as host. Foundation would send something else.
/// - A request that must not be repeated has a session and a connection of its own, since Foundation repeats requests
///   on connections that died, without their bodies.
/// - Connecting has no timeout of its own and counts as idle time. A server that sends faster than the reader reads is
///   not held back: past ``Limits/bufferedBytes`` the call fails.
/// - A compressed body that ends early is not noticed.
/// - A server that closes the connection inside the response head ends the process, by a failed assertion of
///   Foundation's.
public final class URLSessionTransport: Transport {
    /// The transport that services use by default on Apple platforms: one session a process.
    public static let shared = URLSessionTransport()

    private let session: URLSession
    private let configuration: URLSessionConfiguration
    private let delegate: URLSessionTransferDelegate
    private let operations = OperationQueue()
    private let queue: DispatchQueue
    private let limits: Limits
    private let isShutDown = Locked(false)

    /// The bounds of what is held in memory.
    public struct Limits: Hashable, Sendable {
        /// How many bytes of a pulled body may wait for a slow reader; past it the body fails. URLSession cannot be
        /// held back.
        public var bufferedBytes: Int
        /// How many bytes of a request body that comes from a reader are kept in memory; a longer one goes through a
        /// temporary file.
        public var requestBodyBytes: Int

        /// Makes a set of bounds.
        public init(bufferedBytes: Int = 16 << 20, requestBodyBytes: Int = 64 << 20) {
            self.bufferedBytes = bufferedBytes
            self.requestBodyBytes = requestBodyBytes
        }
    }

    /// Makes a transport with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration, copied. By default ephemeral, without cache, cookies and stored
    ///     credentials,
    ///     and with so many connections a host that the library's own limits decide.
    ///   - limits: The bounds of what is held in memory.
    public convenience init(configuration: URLSessionConfiguration = .withoutPolicy, limits: Limits = Limits()) {
        self.init(configuration: configuration, limits: limits) { _ in true }
    }

    /// - Parameter isTrusted: The app's own check of a server, where there is one.
    init(
        configuration: URLSessionConfiguration, limits: Limits,
        isTrusted: @escaping @Sendable (URLAuthenticationChallenge) -> Bool
    ) {
        queue = DispatchQueue(label: "networking.urlsession")
        operations.maxConcurrentOperationCount = 1
        operations.underlyingQueue = queue
        delegate = URLSessionTransferDelegate(isShutDown: isShutDown, isTrusted: isTrusted)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: operations)
        self.configuration = configuration
        self.limits = limits
    }

    deinit {
        shutDown()
    }

    /// Ends the session: calls under way fail, and so does each one after, with ``NetworkError/Kind/shutDown``.
    public func shutDown() {
        let wasOpen = isShutDown.withLock { isShutDown in
            defer { isShutDown = true }
            return !isShutDown
        }
        guard wasOpen else { return }
        session.invalidateAndCancel()
        for running in delegate.runningTasks { running.cancelTask() }  // those with sessions of their own
    }

    /// Shuts down gracefully, as a server does before it ends: refuses new requests with
    /// ``NetworkError/Kind/shutDown``, waits for those in progress, and then calls ``shutDown()``. A redirect or a retry
    /// is a new request.
    ///
    /// - Parameter limit: How long to wait; requests that are in progress after that end. Waiting also ends when
    ///   the task is cancelled.
    public func shutDown(draining limit: Duration) async {
        let isDrained = Settlement<Void>()
        delegate.drain { isDrained.settle(.success(())) }
        await isDrained.wait(atMost: limit)
        shutDown()
    }

    /// Sends a request; one hop.
    ///
    /// - Throws: ``NetworkError``, of kind ``NetworkError/Kind/invalidRequest`` where nothing was sent.
    public func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse {
        do {
            try request.validate()
            var message = try message(for: request)
            let body = try await SpooledBody(
                request.body, inMemory: limits.requestBodyBytes, idle: request.timeouts.effectiveIdle)
            let bytes = try body.bytes
            if !bytes.isEmpty { message.httpBody = bytes }
            let running = RunningTask(
                request, sending: body, answering: timing, capacity: limits.bufferedBytes, queue: queue)
            request[option: RequestWatch.self]?.tell(.sent(request))
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

    private func start(_ running: RunningTask, _ message: URLRequest) throws {
        try isShutDown.withLock { isShutDown in
            guard !isShutDown else { throw NetworkError(.shutDown) }
            let session = session(for: running.transfer.request)
            let task = session.dataTask(with: message)
            defer { if session !== self.session { session.finishTasksAndInvalidate() } }
            guard delegate.register(running, for: task) else {
                task.cancel()  // a session that is to be invalidated waits for a task that was not started
                throw NetworkError(.shutDown)
            }
            running.start(task, asking: self.session, of: self)
        }
    }

    /// The session for a request.
    private func session(for request: HTTPRequest) -> URLSession {
        #if canImport(FoundationNetworking)
            // Only a new session has no kept connections, on which Foundation would repeat the request.
            guard request.body.isEmpty, request.method.isIdempotent else {
                return URLSession(configuration: configuration, delegate: delegate, delegateQueue: operations)
            }
        #endif
        return session
    }

    /// The request in Foundation's form, without its body.
    private func message(for request: HTTPRequest) throws -> URLRequest {
        #if canImport(FoundationNetworking)
            try refuseUnsendable(request)
        #endif
        var message = URLRequest(url: request.url.withLowercasedScheme)
        message.httpMethod = request.method.rawValue
        // The timers are the library's: Foundation's count waiting, and whole seconds only.
        message.timeoutInterval = 7 * 86_400
        for field in request.allHeaders { message.addValue(field.value, forHTTPHeaderField: field.name.rawValue) }
        guard request.body.length != 0 else { return message }
        guard request.method != .get else {
            throw NetworkError(.invalidRequest, reason: "body: URLSession sends none with \(request.method)")
        }
        if message.value(forHTTPHeaderField: "Content-Type") == nil {
            // Without one, Foundation on Linux would say that the bytes are a form.
            message.setValue(MediaType.octetStream.description, forHTTPHeaderField: "Content-Type")
        }
        return message
    }

    #if canImport(FoundationNetworking)
        /// - Throws: ``NetworkError`` for a request that Foundation on Linux would send in another form, or not at all.
        private func refuseUnsendable(_ request: HTTPRequest) throws {
            func refusal(_ reason: String) -> NetworkError {
                NetworkError(.invalidRequest, reason: "\(reason); use CurlTransport")
            }
            let method = request.method.rawValue
            guard method == method.uppercased() else {
                throw refusal("method: URLSession on Linux sends \(method) in upper case")
            }
            guard URLAuthority(request.url).host.first != "[" else {
                throw refusal("URL: URLSession on Linux cannot connect to an IPv6 address")
            }
            let path = request.url.path(percentEncoded: true)
            guard path.contains("/."), path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
                return
            }
            throw refusal("URL: URLSession on Linux removes the segments . and .. from the path \(path)")
        }
    #endif
}

extension URL {
    /// Schemes are case-insensitive (RFC 3986 section 3.1); Foundation on Linux knows them in lower case only.
    fileprivate var withLowercasedScheme: URL {
        guard let scheme, scheme != scheme.lowercased() else { return self }
        return URL(string: scheme.lowercased() + absoluteString.dropFirst(scheme.count)) ?? self
    }
}

extension URLSessionTransport: CustomStringConvertible {
    /// The engine's name.
    public var description: String { "URLSessionTransport" }
}

extension URLSessionConfiguration {
    /// Ephemeral, and without every policy that is the library's own: no cache, no cookies, no stored credentials, and
    /// as many connections a host as are asked for.
    public static var withoutPolicy: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.httpMaximumConnectionsPerHost = 512
        return configuration
    }
}
