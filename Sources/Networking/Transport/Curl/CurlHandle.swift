#if os(Linux)
    import CLibcurl
    import Foundation

    /// An easy handle of libcurl for one attempt of one exchange.
    ///
    /// Each attempt has a new handle, because in several versions of libcurl, the state of a used handle affects the
    /// next request (see ``CurlFault``).
    ///
    /// Exclusivity is not checked at run time, because only one thread uses the variables, and accesses do not overlap.
    final class CurlHandle: @unchecked Sendable {  // because it belongs to one thread at a time
        /// The exchange in progress.
        @exclusivity(unchecked) var exchange: CurlExchange?
        /// The WebSocket whose connection the handle opens.
        @exclusivity(unchecked) var webSocket: CurlWebSocket?
        /// The index of this handle in the loop's list of handles in progress.
        @exclusivity(unchecked) var index = 0
        let surroundings: Surroundings
        let easy: UnsafeMutableRawPointer
        /// The connection in use.
        @exclusivity(unchecked) private(set) var connection = CurlSockets.Use()
        let memory: CurlHandleMemory
        /// Whether libcurl looks up a name on another thread. Known only on versions with ``CurlFault/joinedLookups``.
        @exclusivity(unchecked) var isLookingUp = false
        /// Whether libcurl has opened a socket for the handle.
        @exclusivity(unchecked) var hasSocket = false
        /// Whether the request may be waiting for the connection of another request: see ``CurlFault/waitsForHeads``.
        @exclusivity(unchecked) var mayBeWaiting = false
        @exclusivity(unchecked) var isSecure = false
        /// Whether libcurl has a copy of the whole body, which it sends together with the head.
        @exclusivity(unchecked) var hasBody = false
        /// The version of TLS, known once the head of the response has arrived.
        @exclusivity(unchecked) private(set) var tlsVersion: String?
        @exclusivity(unchecked) private var isPausedOnUnknownSocket = false
        @exclusivity(unchecked) private(set) var isClosureWatched = false
        @exclusivity(unchecked) var tunnel: CurlTunnel?

        /// - Throws: ``NetworkError`` if libcurl has no memory, or if it does not support a setting. In the second
        ///   case, the error names the setting.
        init(in surroundings: Surroundings) throws {
            guard let easy = clibcurl_easy_init() else {
                throw NetworkError(.unknown, reason: "libcurl has no memory for a handle")
            }
            self.easy = easy
            self.surroundings = surroundings
            memory = surroundings.memory.take()
            set(CCURLOPT_ERRORBUFFER, memory.errorText)
            set(CCURLOPT_NOSIGNAL, 1)
            set(CCURLOPT_QUICK_EXIT, 1)
            set(CCURLOPT_PATH_AS_IS, 1)
            set(CCURLOPT_SUPPRESS_CONNECT_HEADERS, readsTunnels ? 0 : 1)
            set(CCURLOPT_PROTOCOLS, CCURLPROTO_HTTP | CCURLPROTO_HTTPS)
            set(CCURLOPT_HTTP_VERSION, surroundings.configuration.httpVersions.option)
            // See CurlFault.repeatsRequests.
            set(CCURLOPT_RTSP_REQUEST, CCURL_RTSPREQ_RECEIVE)
            surroundings.share.attach(easy)
            installCallbacks()
            try applyConfiguration()
        }

        deinit {
            clibcurl_easy_cleanup(easy)
            surroundings.memory.giveBack(memory)
        }

        var sockets: CurlSockets { surroundings.sockets }
        var library: CurlLibrary { surroundings.library }
        var tls: TLSConfiguration { surroundings.configuration.tls }
        var isDirect: Bool { surroundings.isDirect }

        /// Sets the options that depend on the request.
        func prepare(for exchange: CurlExchange) throws {
            let request = exchange.request
            let body = request.body
            isSecure = request.isSecure
            // A POST, PUT or PATCH without content sends `Content-Length: 0` (RFC 9110 section 8.6).
            let isUpload = !body.isEmpty || request.method.expectsContent
            if isUpload { try takeSmallBody(of: exchange) }
            set(request.method, isUpload: isUpload)
            if isUpload, !hasBody {
                set(CCURLOPT_UPLOAD, 1)
                clibcurl_easy_set_offset(
                    easy, Int32(CCURLOPT_INFILESIZE_LARGE), body.isEmpty ? 0 : body.length.map(Int64.init) ?? -1)
            }
            setBuffers(for: request)
            try setConnection(for: exchange)
            let address = request.url.absoluteString
            guard set(CCURLOPT_URL, address) == CCURLE_OK else {
                throw NetworkError(.invalidRequest, reason: "URL: libcurl cannot parse the URL of the request")
            }
            if address.utf8.last == UInt8(ascii: "?") { keepEmptyQuery(of: request) }
            let headers = request.allHeaders
            // A range of encoded content cannot be decoded.
            let mayBeEncoded = !headers.contains(.acceptEncoding) && !headers.contains(.range)
            let more = mayBeEncoded ? ContentCoding.acceptFields : []
            let own = isUpload ? more + fieldsToOmit(headers) : more
            clibcurl_easy_set_pointer(easy, Int32(CCURLOPT_HTTPHEADER), memory.lines.write(headers, and: own))
        }

        /// Keeps the question mark of an empty query. Newer versions of libcurl drop it.
        private func keepEmptyQuery(of request: HTTPRequest) {
            // A question mark at the end may also be part of a query or a fragment. An http proxy gets the whole URL,
            // so its request keeps libcurl's target.
            guard URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.percentEncodedQuery == "",
                isSecure || isDirect
            else { return }
            let path = request.url.path(percentEncoded: true)
            set(CCURLOPT_REQUEST_TARGET, (path.isEmpty ? "/" : path) + "?")
        }

        private func set(_ method: HTTPMethod, isUpload: Bool) {
            if method == .head { set(CCURLOPT_NOBODY, 1) }
            if method != .get || isUpload, method != .head { set(CCURLOPT_CUSTOMREQUEST, method.rawValue) }
        }

        /// Sets the buffers for large bodies. libcurl's own buffers have 16 KiB and 64 KiB. Larger buffers need fewer
        /// system calls.
        private func setBuffers(for request: HTTPRequest) {
            if request.isDownload { set(CCURLOPT_BUFFERSIZE, 262_144) }
            if request.body.length ?? .max > 1 << 20 { set(CCURLOPT_UPLOAD_BUFFERSIZE, 524_288) }
        }

        private func setConnection(for exchange: CurlExchange) throws {
            if mayUseHTTP2 { waitForOthers(for: exchange.request.origin) }
            if exchange.needsNewConnection { set(CCURLOPT_FRESH_CONNECT, 1) }
            try setConnection(for: exchange.request)
            avoidFaults(for: exchange)
        }

        /// Sets the options of the connection that depend on the request.
        func setConnection(for request: HTTPRequest) throws {
            setConnectTimeout(request.timeouts.effectiveConnect)
            let isException = surroundings.configuration.proxyExceptions.contains(request.origin)
            if isException { set(CCURLOPT_PROXY, "") }
            if let list = surroundings.addresses.list(for: request.origin, isDirect: isException) {
                clibcurl_easy_set_pointer(easy, Int32(CCURLOPT_RESOLVE), list)
            }
            if isSecure { try prepareTLS(for: request) }
            // The connection to a proxy may use TLS, too.
            if isSecure || !isDirect, library.isOnOpenSSL {
                // Some servers ask for the client's certificate in a second handshake, for certain paths.
                let hasCertificate = tls.clientCertificate != nil && !request.isElsewhere
                clibcurl_easy_limit_handshakes(easy, hasCertificate)
            }
        }

        /// Sets the options that avoid the faults of the libcurl version in use. See ``CurlFault``.
        private func avoidFaults(for exchange: CurlExchange) {
            if library.has(.repeatsRequests), !exchange.request.isRepeatable { set(CCURLOPT_FRESH_CONNECT, 1) }
            guard mayUseHTTP2 else { return }
            if readsLog { installLog() }
            if library.has(.heldLoops) { installProgressCallback() }
            if library.has(.stallingHeads) { set(CCURLOPT_BUFFERSIZE, 65_536) }
            if !isSecure, library.has(.sharedPlainHTTP2) {
                set(CCURLOPT_FRESH_CONNECT, 1)
                set(CCURLOPT_FORBID_REUSE, 1)
            }
        }

        /// Pauses the given directions and resumes the other directions.
        ///
        /// - Returns: The code of libcurl. If it is not `CURLE_OK`, libcurl would wait for ever.
        func pause(_ directions: Int32) -> Int32 { clibcurl_easy_pause(easy, directions) }

        /// Records that the exchange is paused. While it is paused, libcurl waits for no events on its socket.
        func notePause() {
            guard connection.socket < 0, !isPausedOnUnknownSocket else { return }
            isPausedOnUnknownSocket = true
            sockets.pausesOnUnknownSockets += 1
        }

        /// Records that the handle was removed from the loop.
        func noteEnd() {
            sockets.leave(connection)
            if isPausedOnUnknownSocket { sockets.pausesOnUnknownSockets -= 1 }
            isPausedOnUnknownSocket = false
        }

        /// The time at which bytes last arrived on the connection in use; nil if they may belong to another request.
        var lastArrival: UInt64? {
            mayUseHTTP2 ? nil : sockets.lastArrival(on: connection)
        }

        /// Records that the handle uses the connection of a socket.
        func use(_ socket: Int32) {
            let use = sockets.join(
                socket, for: exchange?.request.origin ?? webSocket?.request.origin, instead: connection)
            if let use { connection = use }
        }

        /// Records that the request is about to be sent on a connection.
        func noteSending(on path: CurlStreamLog.Connection) {
            if let socket = sockets.find(path, opened: connection) { use(socket) }
            sockets.checkLifetime(of: connection)
        }

        /// Ends the connection in use, for all of its requests.
        func endConnection() {
            sockets.end(connection)
        }

        /// Records that the exchange has ended because no bytes arrived for the given time.
        func giveUpConnection(silentFor time: UInt64) {
            sockets.giveUp(connection, silentFor: time, isKept: isOnKeptConnection)
        }

        /// Whether libcurl's log is turned on for ``CurlStreamLog``.
        var readsLog: Bool { mayUseHTTP2 && library.has(.logsRefusedStreams) }

        var mayUseHTTP2: Bool {
            guard webSocket == nil else { return false }
            let versions = surroundings.configuration.httpVersions
            return isSecure ? versions != .http1 : versions == .http2
        }

        /// Records what the head of a response says about the connection in use.
        func note(_ head: ResponseHead) {
            if isSecure { tlsVersion = readTLSVersion() }
            if head.isExclusive { sockets.noteExclusive(connection, keptFor: head.keepAlive) }
            if isSecure, library.has(.missingClosures), let exchange,
                head.endsWithConnection(for: exchange.request.method)
            {
                isClosureWatched = clibcurl_easy_watch_closure(easy, memory.isClosed)
            }
            // The connection does not belong to the host of the request (RFC 9110 section 15.5.20).
            if head.status == 421 { sockets.retire(connection) }
        }

        /// Returns whether libcurl has given up because the server refused the stream repeatedly. libcurl has no error
        /// code for this case. Its error message begins with "Connection died, tried" only in this case.
        func hasOnlyBeenRefused(_ code: Int32) -> Bool {
            code == CCURLE_SEND_ERROR && !library.has(.repeatsRequests)
                && String(cString: memory.errorText).hasPrefix("Connection died, tried")
        }

        /// The number of body bytes that were passed to the system.
        var uploadedBytes: Int64 { clibcurl_easy_get_offset(easy, Int32(CCURLINFO_SIZE_UPLOAD_T)) }

        /// Returns the error for libcurl's result code.
        func failure(_ code: Int32) -> NetworkError {
            CurlFailure(
                code: code, words: tunnel?.words ?? words, between: surroundings.configuration.between,
                isProxySecure: surroundings.configuration.proxy.isSecure, hasHead: exchange?.transfer.hasHead ?? false,
                requiresHTTP2: surroundings.configuration.httpVersions == .http2,
                systemError: Int32(clibcurl_easy_get_long(easy, Int32(CCURLINFO_OS_ERRNO))),
                proxyStatus: tunnel?.refusal ?? clibcurl_easy_get_long(easy, Int32(CCURLINFO_HTTP_CONNECTCODE)),
                proxyError: clibcurl_easy_get_long(easy, Int32(CCURLINFO_PROXY_ERROR))
            ).networkError
        }
    }
#endif
