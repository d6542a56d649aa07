#if os(Linux)
    import CLibcurl

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
                guard let handle else { return Int32(CCURL_PREREQFUNC_ABORT) }
                let me = Unmanaged<CurlHandle>.fromOpaque(handle).takeUnretainedValue()
                let connection = me.logged(address, port, localPort)
                return me.exchange?.beginSending(on: connection) ?? Int32(CCURL_PREREQFUNC_ABORT)
            }
        }

        /// Returns the connection that libcurl's log will describe; nil if the log is not read, or if the connection
        /// has no ports (a Unix socket).
        private func logged(
            _ address: UnsafePointer<CChar>?, _ port: Int32, _ localPort: Int32
        ) -> CurlStreamLog.Connection? {
            guard readsLog, localPort > 0, let address else { return nil }
            return CurlStreamLog.Connection(
                localPort: localPort, remotePort: port, remoteAddress: String(cString: address))
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
                guard let handle, let address else { return -1 }
                let me = Unmanaged<CurlHandle>.fromOpaque(handle).takeUnretainedValue()
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
            clibcurl_easy_get_pointer(easy, Int32(CCURLINFO_PRIVATE)).map {
                Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue()
            }
        }

        private static func exchange(_ handle: UnsafeMutableRawPointer?) -> CurlExchange? {
            handle.flatMap { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue().exchange }
        }
    }
#endif
