#if os(Linux)
    import CLibcurl

    /// What libcurl measures during a transfer.
    extension CurlHandle {
        /// The phases that the transfer has completed so far, and the connection in use.
        var facts: TransferFacts {
            let isReused = isOnKeptConnection
            return TransferFacts(timing: timing(isReused), connection: connection(isReused))
        }

        /// Whether the connection was opened for an earlier request and reused.
        var isOnKeptConnection: Bool {
            clibcurl_easy_get_long(easy, Int32(CCURLINFO_NUM_CONNECTS)) == 0
        }

        /// Whether libcurl sent the request on a connection that had ended, so that the system took no byte of it: see
        /// ``CurlFault/uncheckedConnections``.
        var isOnEndedConnection: Bool {
            library.has(.uncheckedConnections) && isOnKeptConnection && size(CCURLINFO_REQUEST_SIZE) == 0
        }

        /// Whether libcurl has opened a connection, but waits for no events on its socket: see
        /// ``CurlFault/forgottenAddresses``.
        var isForgotten: Bool { sockets.isUnwanted(connection) }

        private func timing(_ isReused: Bool) -> HTTPResponse.Timing {
            HTTPResponse.Timing(
                nameLookup: isReused ? .zero : time(CCURLINFO_NAMELOOKUP_TIME_T),
                connect: isReused ? .zero : time(CCURLINFO_CONNECT_TIME_T),
                tls: !isSecure ? nil : isReused ? .zero : time(CCURLINFO_APPCONNECT_TIME_T),
                firstByte: time(CCURLINFO_STARTTRANSFER_TIME_T), total: time(CCURLINFO_TOTAL_TIME_T))
        }

        private func connection(_ isReused: Bool) -> HTTPResponse.Connection {
            let address = clibcurl_easy_get_text(easy, Int32(CCURLINFO_PRIMARY_IP)).map { String(cString: $0) }
            let port = clibcurl_easy_get_long(easy, Int32(CCURLINFO_PRIMARY_PORT))
            // A Unix socket has neither address nor port.
            return HTTPResponse.Connection(
                remoteAddress: address?.isEmpty == false ? address : nil, remotePort: port > 0 ? port : nil,
                isReused: isReused, tlsVersion: tlsVersion,
                sentBytes: size(CCURLINFO_REQUEST_SIZE) + (isBodyInSize ? 0 : size(CCURLINFO_SIZE_UPLOAD_T)),
                receivedBytes: size(CCURLINFO_HEADER_SIZE) + size(CCURLINFO_SIZE_DOWNLOAD_T))
        }

        /// Whether libcurl's size of the request includes the body.
        private var isBodyInSize: Bool { hasBody || library.number >= CurlVersion(8, 7) }

        /// The version of TLS; nil if the connection does not use TLS, or if the version is not known. libcurl reports
        /// the version only while the transfer is in progress.
        func readTLSVersion() -> String? {
            guard isSecure, let text = clibcurl_easy_tls_version(easy) else { return nil }
            let version = String(cString: text)
            return version.hasPrefix("TLSv") ? String(version.dropFirst(4)) : version
        }

        private func size(_ info: Int) -> Int64 {
            info & CCURLINFO_TYPE == CCURLINFO_LONG
                ? Int64(clibcurl_easy_get_long(easy, Int32(info))) : clibcurl_easy_get_offset(easy, Int32(info))
        }

        private func time(_ info: Int) -> Duration {
            .microseconds(clibcurl_easy_get_offset(easy, Int32(info)))
        }
    }
#endif
