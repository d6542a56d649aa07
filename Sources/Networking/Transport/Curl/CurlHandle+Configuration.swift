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
        func apply(_ configuration: CurlTransport.Configuration) throws {
            try apply(configuration.tls)
            set(CCURLOPT_CA_CACHE_TIMEOUT, 30)  // see CurlFault.oldTrust
            if configuration.proxy != .direct { try applyToProxy(configuration.tls) }
            switch configuration.proxy {
            case .environment: break
            case .direct: set(CCURLOPT_PROXY, "")
            case .url(let url):
                try require(set(CCURLOPT_PROXY, url.absoluteString), "proxy")
                set(CCURLOPT_NOPROXY, "")
            }
            if let path = configuration.unixSocketPath {
                try require(set(CCURLOPT_UNIX_SOCKET_PATH, path), "unixSocketPath")
            }
            if configuration.addressFamily == .v4 { set(CCURLOPT_IPRESOLVE, 1) }
            if configuration.addressFamily == .v6 { set(CCURLOPT_IPRESOLVE, 2) }
        }

        /// Excludes the key exchanges over finite fields, in which a server chooses a group that takes a second of the
        /// loop's time. All servers know elliptic curves. OpenSSL 3.5 has new groups, and its own order of them.
        func limitKeyExchange() {
            if library.isOnOpenSSL { set(CCURLOPT_SSL_CIPHER_LIST, "DEFAULT:!kDHE") }
            if library.isOnOldOpenSSL { set(CCURLOPT_SSL_EC_CURVES, "X25519:P-256:X448:P-384:P-521") }
        }

        private func apply(_ tls: TLSConfiguration) throws {
            switch tls.minimumVersion {
            case .v1_2: set(CCURLOPT_SSLVERSION, CCURL_SSLVERSION_TLSv1_2)
            case .v1_3: try require(set(CCURLOPT_SSLVERSION, CCURL_SSLVERSION_TLSv1_3), "tls.minimumVersion")
            }
            switch tls.trust {
            case .system: break
            case .file(let file):
                try require(set(CCURLOPT_CAINFO, file.path), "tls.trust")
                set(CCURLOPT_CAPATH, nil)
            case .pem(let pem):
                try require(set(CCURLOPT_CAINFO_BLOB, pem), "tls.trust")
                set(CCURLOPT_CAPATH, nil)
            }
            if !tls.pins.isEmpty {
                let pins = tls.pins.map(\.description).joined(separator: ";")
                try require(set(CCURLOPT_PINNEDPUBLICKEY, pins), "tls.pins")
            }
            if let certificate = tls.clientCertificate { try apply(certificate) }
        }

        /// Applies the trusted certificates and the minimum version to the connection to an https proxy. Pins and the
        /// client certificate are for the server.
        private func applyToProxy(_ tls: TLSConfiguration) throws {
            if library.isOnOpenSSL { set(CCURLOPT_PROXY_SSL_CIPHER_LIST, "DEFAULT:!kDHE") }
            switch tls.minimumVersion {
            case .v1_2: set(CCURLOPT_PROXY_SSLVERSION, CCURL_SSLVERSION_TLSv1_2)
            case .v1_3: set(CCURLOPT_PROXY_SSLVERSION, CCURL_SSLVERSION_TLSv1_3)
            }
            switch tls.trust {
            case .system: break
            case .file(let file):
                set(CCURLOPT_PROXY_CAINFO, file.path)
                set(CCURLOPT_PROXY_CAPATH, nil)
            case .pem(let pem):
                try require(set(CCURLOPT_PROXY_CAINFO_BLOB, pem), "tls.trust")
                set(CCURLOPT_PROXY_CAPATH, nil)
            }
        }

        private func apply(_ certificate: TLSConfiguration.ClientCertificate) throws {
            switch certificate.source {
            case .pem(let file, let key):
                try require(set(CCURLOPT_SSLCERT, file.path), "tls.clientCertificate")
                set(CCURLOPT_SSLKEY, (key ?? file).path)
            case .pkcs12(let data):
                try require(set(CCURLOPT_SSLCERTTYPE, "P12"), "tls.clientCertificate")
                try require(set(CCURLOPT_SSLCERT_BLOB, data), "tls.clientCertificate")
            }
            // The option is always set. Without it, OpenSSL would ask for a passphrase on the terminal, and block the
            // loop.
            set(CCURLOPT_KEYPASSWD, certificate.passphrase ?? "")
        }

        private func require(_ result: Int32, _ part: String) throws {
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
                CurlHandle.exchange(handle)?.receive(
                    headerLine: UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
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
            // libcurl has this callback since 7.80. Without it, only the socket callbacks tell the engine that an
            // exchange no longer waits for a connection.
            set(CCURLOPT_PREREQDATA, me)
            clibcurl_easy_set_prereq(easy, Int32(CCURLOPT_PREREQFUNCTION)) { handle, address, _, port, localPort in
                guard let me = CurlHandle.at(handle), let exchange = me.exchange,
                    exchange.beginSending(on: me.path(address, port, localPort))
                else { return Int32(CCURL_PREREQFUNC_ABORT) }
                return Int32(CCURL_PREREQFUNC_OK)
            }
        }

        /// Returns the connection on which the request will be sent; nil if it serves one request at a time, or if it
        /// has no ports (a Unix socket).
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
                }
                return 0
            }
            set(CCURLOPT_VERBOSE, 1)
        }

        private func installSocketCallbacks() {
            // A socket can outlive the handle that opened it, but not the loop's table of sockets.
            set(CCURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque())
            clibcurl_easy_set_open_socket(easy, Int32(CCURLOPT_OPENSOCKETFUNCTION)) { handle, _, address in
                guard let me = CurlHandle.at(handle), let address else { return -1 }
                let wanted = address.load(as: clibcurl_sockaddr.self)
                me.exchange?.noteConnection()
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
    /// The memory that libcurl uses while a handle exists: header lines and the text of an error.
    final class CurlHandleMemory {
        let lines = CurlHeaderLines()
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)

        fileprivate init() {
            errorText.initialize(repeating: 0, count: 256)
        }

        deinit {
            errorText.deallocate()
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
