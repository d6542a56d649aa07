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
/// - TLS cannot be configured. A body that is not in memory is read to its end before it is sent.
/// - A compressed body that ends early is not noticed.
/// - A server that closes the connection inside the response head ends the process, by a failed assertion of
///   Foundation's.
///
/// On Apple platforms, files are sent by upload tasks and other bodies as streams, a slow reader holds the server back,
/// and metrics give the times of a connection and the version of HTTP of a response that is not streamed. What differs
/// from Linux:
///
/// - Connecting has no timeout of its own. With the default idle timeout, a call is idle after twice
///   ``HTTPRequest/Timeouts/connect``, 30 s by default, until the first sign of a connection: a new certificate, or bytes.
/// - A session that waits for a network (`waitsForConnectivity`) has no idle timeout from then until the first bytes;
///   give such calls a total deadline.
/// - A background session is refused: its tasks outlive the process, and so the call.
/// - Timeouts are continuous time: an app that was suspended for longer than one finds its calls timed out.
public final class URLSessionTransport: Transport {
    /// The transport that services use by default on Apple platforms: one session a process.
    public static let shared = URLSessionTransport(
        configuration: .withoutPolicy, limits: Limits(), authenticate: AuthenticationResponse.standard)

    private let session: URLSession
    private let configuration: URLSessionConfiguration
    private let delegate: URLSessionTransferDelegate
    private let operations = OperationQueue()
    private let queue: DispatchQueue
    private let limits: Limits
    private let isShutDown = Locked(false)

    /// The bounds of what is held in memory.
    public struct Limits: Hashable, Sendable {
        /// The number of bytes of a streamed body that may wait for a slow reader; with more the body fails. Default:
        /// 16 MiB. On Apple platforms the server is held back after 256 KiB; the limit counts what still arrives then.
        public var bufferedBytes: Int
        /// The number of bytes of a request body that comes from a reader, and is kept in memory; a longer one goes
        /// through a temporary file. Default: 64 MiB. Apple platforms stream such a body.
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
    ///   - configuration: The session's configuration, copied. Default: ephemeral, without cache, cookies and stored
    ///     credentials, and with as many connections to a host as the library's own limits allow.
    ///   - tls: The certificates to trust, and the client's own.
    ///   - limits: The bounds of what is held in memory.
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest`` that names the part that `URLSession`
    ///   does not support on this platform: any TLS setting on Linux, a client certificate in PEM or a background
    ///   configuration on Apple platforms.
    public convenience init(
        configuration: URLSessionConfiguration = .withoutPolicy, tls: TLSConfiguration = TLSConfiguration(),
        limits: Limits = Limits()
    ) throws(NetworkError) {
        try tls.validate()
        self.init(
            configuration: try configuration.prepared(for: tls), limits: limits,
            authenticate: try URLSessionTransport.authentication(for: tls))
    }

    init(
        configuration: URLSessionConfiguration, limits: Limits,
        authenticate: @escaping @Sendable (URLAuthenticationChallenge) -> AuthenticationResponse
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

    /// Ends the session: calls under way fail, and so does each one after, with ``NetworkError/Kind/transportShutDown``.
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
    /// ``NetworkError/Kind/transportShutDown``, waits for those in progress, and then calls ``shutDown()``. A redirect, a retry,
    /// and a call that waits for a permit are new requests. Of several calls of this method, the shortest limit counts.
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
    public func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        do {
            try request.validate()
            var message = try message(for: request)
            let (upload, spooled) = try await upload(for: request)
            if case .data(let bytes) = upload, !bytes.isEmpty { message.httpBody = bytes }
            if case .stream = upload, let length = request.body.length {
                message.setValue("\(length)", forHTTPHeaderField: "Content-Length")
            }
            let running = RunningTask(
                request, sending: upload, of: spooled, delivering: delivery, limits: limits, on: .current, queue: queue)
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

    /// The body, in the form in which the session takes it.
    private func upload(for request: HTTPRequest) async throws -> (SessionUpload, SpooledBody?) {
        guard !SessionPlatform.current.streamsUploads else { return (SessionUpload(streaming: request.body), nil) }
        let spooled = try await SpooledBody(
            request.body, inMemory: limits.requestBodyBytes, idle: request.timeouts.effectiveIdle)
        return (try SessionUpload(spooled), spooled)
    }

    private func start(_ running: RunningTask, _ message: URLRequest) throws {
        try isShutDown.withLock { isShutDown in
            guard !isShutDown else { throw NetworkError(.transportShutDown) }
            let session = session(for: running.transfer.request)
            let task = session.task(with: message, for: running.upload)
            defer { if session !== self.session { session.finishTasksAndInvalidate() } }
            guard delegate.register(running, for: task) else {
                task.cancel()  // a session that is to be invalidated waits for a task that was not started
                throw NetworkError(.transportShutDown)
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
        message.restrict(to: request[option: NetworkAccessOption.self] ?? .all)
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

extension URLSessionTransport: RedactedReflectable {
    /// The engine's name.
    var redactedDescription: String { "URLSessionTransport" }
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
        configuration.require(.v1_2)
        return configuration
    }
}
