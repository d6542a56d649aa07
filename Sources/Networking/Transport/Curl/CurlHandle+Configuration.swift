#if os(Linux)
    import CLibcurl
    import Foundation

    extension CurlTransport.Configuration.HTTPVersions {
        /// The value of `CURLOPT_HTTP_VERSION` for the setting.
        var option: Int {
            switch self {
            case .http1: CCURL_HTTP_VERSION_1_1
            case .preferHTTP2: CCURL_HTTP_VERSION_2TLS
            case .http2: CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
            }
        }
    }

    extension CurlHandle {
        /// Sets the options of the transport's configuration.
        ///
        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest``, if this libcurl does not support a
        ///   setting. The reason names the setting.
        func applyConfiguration() throws {
            if surroundings.configuration.proxy != .direct { try applyToProxy(surroundings.configuration.tls) }
            switch surroundings.configuration.proxy {
            case .environment: break
            case .direct: set(CCURLOPT_PROXY, "")
            case .url(let url):
                try require(set(CCURLOPT_PROXY, url.absoluteString), "proxy")
                set(CCURLOPT_NOPROXY, "")
            }
            if let path = surroundings.configuration.unixSocketPath {
                try require(set(CCURLOPT_UNIX_SOCKET_PATH, path), "unixSocketPath")
            }
            if surroundings.configuration.addressFamily == .v4 { set(CCURLOPT_IPRESOLVE, 1) }
            if surroundings.configuration.addressFamily == .v6 { set(CCURLOPT_IPRESOLVE, 2) }
        }

        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest`` that names the setting.
        func require(_ result: Int32, _ part: String) throws {
            guard result != CCURLE_OK else { return }
            let words = String(cString: clibcurl_easy_strerror(result))
            throw NetworkError(
                .invalidRequest, reason: "\(part): this system's libcurl does not support this setting (\(words))")
        }
    }

    extension CurlHandle {
        /// Installs the callbacks by which libcurl calls the exchange of the handle.
        func installCallbacks() {
            let me = Unmanaged.passUnretained(self).toOpaque()
            for option in [
                CCURLOPT_PRIVATE, CCURLOPT_WRITEDATA, CCURLOPT_HEADERDATA, CCURLOPT_READDATA, CCURLOPT_SEEKDATA,
                CCURLOPT_OPENSOCKETDATA,
            ] { set(option, me) }
            clibcurl_easy_set_transfer(easy, Int32(CCURLOPT_HEADERFUNCTION)) { bytes, size, count, handle in
                let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
                if let exchange = CurlHandle.exchange(handle) { return exchange.receive(headerLine: line) }
                // The head of a proxy's response to CONNECT.
                return CurlHandle.at(handle)?.receive(tunnelLine: line) == true ? line.count : 0
            }
            clibcurl_easy_set_transfer(easy, Int32(CCURLOPT_WRITEFUNCTION)) { bytes, size, count, handle in
                CurlHandle.exchange(handle)?.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
                    ?? 0
            }
            clibcurl_easy_set_transfer(easy, Int32(CCURLOPT_READFUNCTION)) { bytes, size, count, handle in
                CurlHandle.exchange(handle)?.send(
                    into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) ?? CCURL_READFUNC_ABORT
            }
            clibcurl_easy_set_seek(easy, Int32(CCURLOPT_SEEKFUNCTION)) { handle, _, _ in
                // libcurl only seeks to the beginning.
                CurlHandle.exchange(handle)?.rewind() ?? Int32(CCURL_SEEKFUNC_FAIL)
            }
            installSocketCallbacks()
            if library.has(.joinedLookups) || library.has(.waitsForHeads) {
                set(CCURLOPT_RESOLVER_START_DATA, me)
                clibcurl_easy_set_resolver_start(easy, Int32(CCURLOPT_RESOLVER_START_FUNCTION)) { _, _, handle in
                    CurlHandle.at(handle)?.noteOpening()
                    CurlHandle.at(handle)?.noteLookup(true)
                    return 0
                }
            }
            // This callback exists from libcurl 7.80 on. Without it, only the socket callbacks show that an exchange no
            // longer waits for a connection.
            set(CCURLOPT_PREREQDATA, me)
            clibcurl_easy_set_prereq(easy, Int32(CCURLOPT_PREREQFUNCTION)) { handle, address, _, port, localPort in
                guard let me = CurlHandle.at(handle) else { return Int32(CCURL_PREREQFUNC_ABORT) }
                let mayGoOn =
                    me.exchange.map { $0.beginSending(on: me.path(address, port, localPort)) } ?? (me.webSocket != nil)
                return Int32(mayGoOn ? CCURL_PREREQFUNC_OK : CCURL_PREREQFUNC_ABORT)
            }
        }

        /// Installs the callback by which libcurl asks after each of its steps whether it may continue.
        func installProgressCallback() {
            set(CCURLOPT_XFERINFODATA, Unmanaged.passUnretained(self).toOpaque())
            clibcurl_easy_set_progress(easy, Int32(CCURLOPT_XFERINFOFUNCTION)) { handle, _, _, _, _ in
                CurlHandle.exchange(handle)?.mayGoOn() == false ? 1 : 0
            }
            set(CCURLOPT_NOPROGRESS, 0)
        }

        /// Returns the connection on which the request will be sent. Returns nil if this connection serves one request
        /// at a time, or if it has no ports (a Unix socket).
        private func path(
            _ address: UnsafePointer<CChar>?, _ port: Int32, _ localPort: Int32
        ) -> CurlStreamLog.Connection? {
            guard mayUseHTTP2, localPort > 0, let address else { return nil }
            let path = CurlStreamLog.Connection(
                localPort: localPort, remotePort: port, remoteAddress: String(cString: address))
            noteSending(on: path)
            return path
        }

        /// Turns on libcurl's log, which ``CurlStreamLog`` reads.
        func installLog() {
            set(CCURLOPT_DEBUGDATA, Unmanaged.passUnretained(self).toOpaque())
            clibcurl_easy_set_debug(easy, Int32(CCURLOPT_DEBUGFUNCTION)) { _, kind, bytes, count, handle in
                if kind == CurlStreamLog.text, let bytes {
                    CurlHandle.exchange(handle)?.noteLog(UnsafeRawBufferPointer(start: bytes, count: count))
                } else if kind == CurlStreamLog.receivedTLS {
                    CurlHandle.exchange(handle)?.mayGoOn()
                }
                return 0
            }
            set(CCURLOPT_VERBOSE, 1)
        }

        private func installSocketCallbacks() {
            // A socket can outlive the handle that opened it, but not the loop's table of sockets.
            set(CCURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque())
            clibcurl_easy_set_open_socket(easy, Int32(CCURLOPT_OPENSOCKETFUNCTION)) { handle, _, address in
                guard let me = CurlHandle.at(handle), me.exchange != nil || me.webSocket != nil, let address else {
                    return -1
                }
                let wanted = address.load(as: clibcurl_sockaddr.self)
                me.exchange?.noteConnection()
                me.noteLookup(false)
                me.noteSocket()
                return me.sockets.openSocket(family: wanted.family, type: wanted.socktype, protocol: wanted.`protocol`)
            }
            clibcurl_easy_set_close_socket(easy, Int32(CCURLOPT_CLOSESOCKETFUNCTION)) { sockets, socket in
                guard let sockets else { return -1 }
                return Unmanaged<CurlSockets>.fromOpaque(sockets).takeUnretainedValue().closeSocket(socket)
            }
        }

        /// Returns the handle that owns one of libcurl's easy handles.
        static func of(_ easy: UnsafeMutableRawPointer) -> CurlHandle? {
            at(clibcurl_easy_get_pointer(easy, Int32(CCURLINFO_PRIVATE)))
        }

        private static func at(_ pointer: UnsafeMutableRawPointer?) -> CurlHandle? {
            pointer.map { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue() }
        }

        private static func exchange(_ handle: UnsafeMutableRawPointer?) -> CurlExchange? { at(handle)?.exchange }
    }
    /// Setting options.
    extension CurlHandle {
        @discardableResult
        func set(_ option: Int, _ value: Int) -> Int32 {
            clibcurl_easy_set_long(easy, Int32(option), value)
        }

        @discardableResult
        func set(_ option: Int, _ text: String?) -> Int32 {
            guard let text else { return clibcurl_easy_set_text(easy, Int32(option), nil) }
            // Passing the text itself would copy it into an array.
            return text.withCString { clibcurl_easy_set_text(easy, Int32(option), $0) }
        }

        /// Sets an option to data, which libcurl copies.
        func set(_ option: Int, _ data: Data) -> Int32 {
            data.withUnsafeBytes { clibcurl_easy_set_blob(easy, Int32(option), $0.baseAddress, $0.count) }
        }

        @discardableResult
        func set(_ option: Int, _ pointer: UnsafeMutableRawPointer) -> Int32 {
            clibcurl_easy_set_pointer(easy, Int32(option), pointer)
        }
    }

    /// The memory that libcurl uses while a handle exists: header lines and the text of an error.
    final class CurlHandleMemory {
        let lines = CurlHeaderLines()
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
        /// Whether the closure alert of TLS has arrived: see ``CurlFault/missingClosures``. OpenSSL writes this value
        /// only while libcurl reads the body of the watched response. After the end of the body, nothing more is read
        /// from the connection, even if libcurl frees the handle before it closes the connection.
        let isClosed = UnsafeMutablePointer<Bool>.allocate(capacity: 1)

        fileprivate init() {
            errorText.initialize(repeating: 0, count: 256)
            isClosed.initialize(to: false)
        }

        deinit {
            errorText.deallocate()
            isClosed.deallocate()
        }

        /// The memory of ended handles, for the next handles of the same loop.
        final class Pool {
            private var spare: [CurlHandleMemory] = []

            func take() -> CurlHandleMemory { spare.popLast() ?? CurlHandleMemory() }

            /// Puts the memory of a handle that libcurl has freed back into the pool.
            func giveBack(_ memory: CurlHandleMemory) {
                guard memory.lines.clear(), spare.count < 64 else { return }
                memory.errorText[0] = 0
                spare.append(memory)
            }
        }
    }
#endif
