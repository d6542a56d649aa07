#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Carries requests on a `URLSession`: the engine of Apple platforms, and of Linux where libcurl cannot be loaded.
///
/// One long-lived session with a delegate on a queue of its own; redirects, timeouts, cookies and caching are not Foundation's. On
/// Linux, Foundation refuses some things, which end with a clear error: a body on GET. There, too, connecting has no
/// timeout of its own and counts against the idle timeout, and a server that sends faster than can be read is cancelled only when it slows down.
public final class URLSessionTransport: Transport {
    /// The transport that services use where none is named: one session a process.
    public static let shared = URLSessionTransport()

    private let session: URLSession
    private let delegate: URLSessionTransferDelegate
    private let queue: DispatchQueue
    private let limits: Limits
    private let isShutDown = Locked(false)

    /// The bounds of what is held in memory.
    public struct Limits: Hashable, Sendable {
        /// How many bytes of a pulled body may wait for a slow reader; past it the body fails. URLSession cannot be held back.
        public var bufferedBytes: Int
        /// How many bytes of a request body that comes from a reader are kept in memory; a longer one goes through a temporary file.
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
    ///   - configuration: The session's configuration, copied. By default ephemeral, without cache, cookies and stored credentials,
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
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        operations.underlyingQueue = queue
        delegate = URLSessionTransferDelegate(isShutDown: isShutDown, isTrusted: isTrusted)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: operations)
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
        if wasOpen { session.invalidateAndCancel() }
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
            let task = session.dataTask(with: message)
            delegate.register(running, for: task)
            running.start(task, of: self)
        }
    }

    /// The request in Foundation's form, without its body.
    private func message(for request: HTTPRequest) throws -> URLRequest {
        var message = URLRequest(url: request.url)
        message.httpMethod = request.method.rawValue
        // Ours is the timer: Foundation's counts waiting and knows whole seconds only.
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
}

extension URLSessionTransport: CustomStringConvertible {
    /// The engine's name.
    public var description: String { "URLSessionTransport" }
}

extension URLSessionConfiguration {
    /// Ephemeral, and without every policy that is the library's own: no cache, no cookies, no stored credentials, and as many
    /// connections a host as are asked for.
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
