#if os(Linux)
    /// A transport that sends requests with libcurl. It is the default transport on Linux.
    ///
    /// A fixed number of threads (``CurlTransport/Configuration/threads``) handles all connections; a request has no
    /// thread of its own. Requests share connections, which stay open for further requests. Requests use HTTP/2 if TLS
    /// negotiates it (``CurlTransport/Configuration/httpVersions``). The transport uses the system's `libcurl.so.4`
    /// (7.68 or later), which it loads at run time. By default, the transport uses the proxies of the environment
    /// variable `http_proxy` and related variables (``CurlTransport/Configuration/proxy``).
    ///
    /// The transport itself repeats a request in three cases only:
    ///
    /// - The server has not processed the request: it refused the HTTP/2 stream, or it ended the connection with a
    ///   GOAWAY frame whose last stream number is lower than the request's stream number (RFC 9113 section 8.7).
    ///   Requests with any method are repeated, but a body must be replayable.
    /// - A reused connection ended before the response head, and the request may be repeated: the method is idempotent,
    ///   and the body, if there is one, can be read again.
    /// - libcurl 8.22 or later chose a connection that had already ended, so that nothing was sent.
    ///
    /// In all other cases, a connection that is lost before the response head is an error of kind
    /// ``NetworkError/Kind/connectionLostBeforeHead``.
    ///
    /// ```swift
    /// let transport = try CurlTransport(CurlTransport.Configuration(tls: TLSConfiguration(pins: [pin])))
    /// let service = NetworkService(environment: environment) { $0.transport = transport }
    /// ```
    public final class CurlTransport: Transport {
        /// The transport that services use by default. There is one per process; nil if libcurl cannot be loaded.
        public static let shared = try? CurlTransport()

        private let library: CurlLibrary
        private let configuration: CurlTransport.Configuration
        private let loops: [CurlLoop]
        /// The index of the loop for requests that must not use HTTP/2. This loop has its own connections, because
        /// several versions of libcurl would send these requests on an existing HTTP/2 connection to the host. Nil if
        /// there are no such requests.
        private let http1Loop: Int?
        private let loads: CurlLoads
        private let threads: Locked<[CurlThread]>

        /// Creates a transport with its own threads and connections.
        ///
        /// - Throws: ``NetworkError``: ``NetworkError/Kind/invalidRequest`` if a setting of the configuration is not
        ///   valid, or if the loaded libcurl does not support it (the error names the setting);
        ///   ``NetworkError/Kind/unknown`` if there is no libcurl, or if the system has no threads or file descriptors
        ///   left.
        public convenience init(_ configuration: CurlTransport.Configuration = CurlTransport.Configuration()) throws {
            switch CurlLibrary.loaded {
            case .success(let library): try self.init(configuration, library: library)
            case .failure(let fault): throw NetworkError(.unknown, reason: fault.rawValue, underlying: fault)
            }
        }

        /// - Parameter log: Reports to the operator that a job blocks a thread.
        init(
            _ configuration: CurlTransport.Configuration, library: CurlLibrary,
            log: @escaping @Sendable (String) -> Void = OperatorLog.write
        ) throws {
            self.library = library
            try configuration.validate(for: library)
            var perThread = configuration.perThread
            if perThread.httpVersions == .preferHTTP2, library.has(.lossyHTTP2) { perThread.httpVersions = .http1 }
            self.configuration = perThread
            let needsHTTP1Loop = perThread.httpVersions == .preferHTTP2 && library.mayRequireHTTP1
            let loads = CurlLoads(
                sharedLoops: perThread.threads, otherLoops: needsHTTP1Loop ? 1 : 0,
                idleConnections: perThread.limits.idleConnections)
            self.loads = loads
            var loops = try (0..<perThread.threads).map {
                try CurlLoop(perThread, library: library, index: $0, of: loads, log: log)
            }
            http1Loop = needsHTTP1Loop ? loops.count : nil
            if needsHTTP1Loop {
                var http1 = perThread
                http1.httpVersions = .http1
                loops.append(try CurlLoop(http1, library: library, index: loops.count, of: loads, log: log))
            }
            self.loops = loops
            executor = CurlExecutor(loops, loads)
            threads = Locked([])
            for loop in loops {
                let thread = try CurlThread(loop)
                threads.withLock { $0.append(thread) }
            }
        }

        // Does not wait for the threads, because their tasks may wait for the caller.
        deinit {
            for thread in stop() { thread.leave() }
        }

        /// Closes all connections and ends the threads. Calls in progress, and all later calls, end with
        /// ``NetworkError/Kind/transportShutDown``. The method returns when the threads have ended. If the method was
        /// called before, or in a task on an ``executor``, it returns immediately.
        public func shutDown() {
            for thread in stop() { thread.join() }
        }

        /// Stops the loops.
        ///
        /// - Returns: The threads, at the first call.
        private func stop() -> [CurlThread] {
            for loop in loops { loop.stop() }
            return threads.withLock { threads in
                defer { threads = [] }
                return threads
            }
        }

        /// Shuts down gracefully, for example before a server process exits. The transport refuses new requests with
        /// ``NetworkError/Kind/transportShutDown``, waits until the requests in progress have ended (and their bodies
        /// have been read), and then calls ``shutDown()``. Redirects, retries, and the requests of calls that wait for
        /// a permit also count as new requests. WebSockets are closed with code 1001 at once. If this method is called
        /// several times, the shortest limit applies.
        ///
        /// ```swift
        /// await transport.shutDown(draining: .seconds(10))
        /// ```
        ///
        /// - Parameter limit: The longest time to wait. Requests that are still in progress after this time are ended.
        ///   The wait also ends when the task is cancelled.
        public func shutDown(draining limit: Duration) async {
            let isDrained = Settlement<Void>()
            loads.drain { isDrained.settle(.success(())) }
            for loop in loops { loop.post(.closeWebSockets) }
            try? await isDrained.value(within: limit) { _ in .success(()) }
            shutDown()
        }

        /// Runs tasks on the threads of the transport (SE-0417). Most calls in such a task are made, sent, received and
        /// decoded on one thread. The engine then needs a fifth to a third less processor time; a whole call gains
        /// less.
        ///
        /// ```swift
        /// try await withTaskExecutorPreference(transport.executor) {
        ///     try await shop.request(ShopEndpoint.orders)
        /// }
        /// ```
        ///
        /// Use it for a task that makes many calls, such as a worker. For a single call, it costs more than it saves.
        /// Child tasks and actors that have no executor of their own also run there. Unstructured tasks do not, and
        /// therefore neither do parts of the library: a ``RequestTask``, shared transfers, the refresh of a token, and
        /// the decoding of large bodies.
        ///
        /// A job that blocks its thread, or computes for long, delays the connections of this thread. If jobs take more
        /// than 120 ms, a line on standard error says so, at most once a minute. The line is written when the jobs end,
        /// or earlier, when another thread uses the transport. ``shutDown()`` waits for running jobs. After it, tasks
        /// continue on the default executor. The executor does not retain the transport. Priorities have no effect.
        public let executor: any TaskExecutor

        /// The numbers of connections of a transport.
        public struct Connections: Hashable, Sendable {
            /// The connections that are open or being opened.
            public var open = 0
            /// The open connections that no request uses.
            public var idle = 0
        }

        /// Returns the current numbers of connections, for example for a metric. After a shutdown, there are none.
        public func connections() async -> Connections {
            var total = Connections()
            for loop in loops {
                let part = await loop.connections()
                total.open += part.open
                total.idle += part.idle
            }
            return total
        }

        /// Sends a request, without following redirects.
        ///
        /// - Throws: ``NetworkError``. The kind ``NetworkError/Kind/invalidRequest`` means that nothing was sent.
        public func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            let sending = try start(request, delivery)
            do { return try await sending.transfer.response() } catch { throw end(sending, error) }
        }

        // Not inlined, so that its variables do not become part of the frame of `send`, which exists as long as the
        // call waits.
        @inline(never)
        private func start(_ request: HTTPRequest, _ delivery: BodyDelivery) throws -> CurlSending {
            do {
                try request.validate()
                if let order = request.parts.webSocket { return try open(request, order, delivery) }
                guard
                    let index = loads.begin(
                        on: requiredLoop(for: request, delivery), from: loads.currentIndex)
                else {
                    throw NetworkError(.transportShutDown)
                }
                let loop = loops[index]
                do {
                    let exchange = try CurlExchange(
                        request, delivering: delivery, loop: loop, owner: self)
                    // The event is reported before the exchange starts, so that it precedes the event of the response
                    // head.
                    request.parts.transfer?.report(.sent(request))
                    try loop.start(exchange)
                    return exchange
                } catch {
                    loads.end(on: index)
                    throw error
                }
            } catch {
                throw NetworkError.wrapping(error).completed(request: request, response: nil)
            }
        }

        @inline(never)
        private func end(_ sending: CurlSending, _ error: any Error) -> any Error {
            if error is Interruption { sending.cancel() }
            return NetworkError.wrapping(error).completed(request: sending.request, response: nil)
        }

        /// Starts a WebSocket.
        @inline(never)  // as `start`
        private func open(
            _ request: HTTPRequest, _ order: WebSocketOrder, _ delivery: BodyDelivery
        ) throws -> CurlWebSocket {
            try request.validateHandshake()
            guard let index = loads.beginWebSocket() else { throw NetworkError(.transportShutDown) }
            do {
                let webSocket = try CurlWebSocket(
                    request, order, delivering: delivery, headLimit: configuration.limits.headBytes,
                    loop: loops[index], owner: self)
                request.parts.transfer?.report(.sent(request))
                try loops[index].start(webSocket)
                return webSocket
            } catch {
                loads.end(on: index)
                loads.endWebSocket(on: index)
                throw error
            }
        }

        /// The index of the only loop that may run a request; nil if any loop may run it.
        private func requiredLoop(for request: HTTPRequest, _ delivery: BodyDelivery) -> Int? {
            guard let http1Loop, request.isSecure, library.requiresHTTP1(for: request, delivery) else { return nil }
            return http1Loop
        }
    }

    extension CurlTransport: RedactedReflectable {

        /// The name of the transport and the versions of its libraries: `CurlTransport (libcurl/7.88.1 OpenSSL/3.0.19
        /// nghttp2/1.52.0)`.
        var redactedDescription: String {
            let parts = library.version.split(separator: " ").enumerated().filter {
                $0.offset < 2 || $0.element.hasPrefix("nghttp2")
            }
            return "CurlTransport (\(parts.map(\.element).joined(separator: " ")))"
        }
    }
#endif
