#if os(Linux)
    import CLibcurl
    import Foundation

    /// The error that libcurl reports for an exchange, and its translation into a ``NetworkError``.
    struct CurlFailure {
        let code: Int32
        /// libcurl's error message. It contains hosts and ports, but never a URL's query. It may contain the complete
        /// URL of a proxy, so ``networkError`` omits messages that contain a URL. Over HTTP/2, it may contain an
        /// invalid header field; ``networkError`` omits the name and the value of this field.
        let words: String
        /// The description of the proxy or Unix socket between the client and every host; nil if there is none.
        let between: String?
        /// Whether the connection to the proxy uses TLS.
        let isProxySecure: Bool
        let hasHead: Bool
        let requiresHTTP2: Bool
        /// The system's error code (`errno`); 0 if there was none.
        let systemError: Int32
        /// The status of a proxy's response to CONNECT; 0 if there was none.
        let proxyStatus: Int
        /// libcurl's code for the failure of a SOCKS proxy; 0 if there was none.
        let proxyError: Int

        var networkError: NetworkError {
            let isShown = !words.isEmpty && !words.contains("://") && !words.contains("@")
            let words = isShown ? wordsWithoutField : String(cString: clibcurl_easy_strerror(code))
            return NetworkError(kind, reason: "\(explanation) (\(words))")
        }

        private var wordsWithoutField: String {
            words.range(of: ", name: [").map { String(words[..<$0.lowerBound]) } ?? words
        }

        /// The explanation of the kind. If a connection through a proxy or Unix socket failed, the explanation names
        /// the proxy or the Unix socket.
        private var explanation: String {
            switch Int(code) {
            case CCURLE_COULDNT_RESOLVE_PROXY: return "the proxy's name cannot be resolved"
            case _ where isAboutClientCertificate:
                return "tls.clientCertificate: the certificate or the key cannot be used"
            case CCURLE_SSL_CACERT_BADFILE: return "tls.trust: the certificates cannot be read"
            case CCURLE_SSL_CLIENTCERT: return "the server requires a client certificate (tls.clientCertificate)"
            default: break
            }
            if isRefusedByProxy { return "\(between ?? "the proxy") refuses the user or the password" }
            if let between, isProxySecure, proxyStatus == 0 {
                // The handshake with the server comes after the proxy's response to CONNECT.
                if kind == .tlsUntrusted { return "the certificate of \(between) is not trusted" }
                if kind == .tlsFailed { return "no TLS connection to \(between) could be established" }
            }
            if hasNoDescriptor, kind == .unknown { return "the process has no file descriptor left for a connection" }
            if code == CCURLE_SSL_CONNECT_ERROR, kind == .cannotConnect {
                return "the connection was lost during the TLS handshake; perhaps the port does not speak TLS"
            }
            if let between, kind == .cannotConnect { return "cannot connect through \(between)" }
            guard requiresHTTP2, !hasHead, kind.isConnectionLoss || kind == .malformedResponse else {
                return kind.explanation
            }
            return "\(kind.explanation); httpVersions requires a server that supports HTTP/2"
        }

        private var kind: NetworkError.Kind {
            // A repeated request would contain the wrong password again, and some user directories then lock the
            // account.
            if isRefusedByProxy, !hasHead { return .invalidRequest }
            return proxyStatus >= 300 && !hasHead ? .cannotConnect : kindOfCode
        }

        /// Whether the proxy refuses the user or the password, or requires a user and a password.
        private var isRefusedByProxy: Bool {
            proxyStatus == 407 || [CCURLPX_NO_AUTH, CCURLPX_USER_REJECTED].contains(proxyError)
        }

        /// Whether libcurl cannot use the client's certificate or key. For a key without its passphrase, newer versions
        /// of libcurl (seen in 8.21) have another code.
        private var isAboutClientCertificate: Bool {
            code == CCURLE_SSL_CERTPROBLEM
                || code == CCURLE_BAD_FUNCTION_ARGUMENT && words.hasPrefix("unable to set private key")
        }

        private var kindOfCode: NetworkError.Kind {
            switch Int(code) {
            // The second code means an error in certificates that the app has configured.
            case CCURLE_URL_MALFORMAT, CCURLE_SSL_CACERT_BADFILE: .invalidRequest
            case _ where isAboutClientCertificate: .invalidRequest
            case CCURLE_COULDNT_RESOLVE_HOST: .cannotResolveHost
            case CCURLE_COULDNT_RESOLVE_PROXY, CCURLE_PROXY: .cannotConnect
            case CCURLE_COULDNT_CONNECT: hasNoNetwork ? .notConnected : hasNoDescriptor ? .unknown : .cannotConnect
            case CCURLE_OPERATION_TIMEDOUT: .connectTimedOut
            case CCURLE_PEER_FAILED_VERIFICATION, CCURLE_SSL_PINNEDPUBKEYNOTMATCH, CCURLE_SSL_ISSUER_ERROR,
                CCURLE_SSL_INVALIDCERTSTATUS:
                .tlsUntrusted
            case CCURLE_SSL_CONNECT_ERROR where isLostHandshake: .cannotConnect
            case CCURLE_SSL_CONNECT_ERROR, CCURLE_SSL_CIPHER, CCURLE_SSL_CRL_BADFILE, CCURLE_SSL_CLIENTCERT,
                CCURLE_SSL_ENGINE_NOTFOUND, CCURLE_SSL_ENGINE_SETFAILED, CCURLE_USE_SSL_FAILED:
                .tlsFailed
            case CCURLE_PARTIAL_FILE: hasHead ? .truncatedBody : .connectionLostBeforeHead
            case CCURLE_FILESIZE_EXCEEDED, CCURLE_TOO_LARGE: .responseTooLarge
            // libcurl reports this code if a header line is longer than its own limit.
            case CCURLE_OUT_OF_MEMORY where !hasHead: .responseTooLarge
            // The URL's scheme is http or https. These codes therefore mean that the response is not HTTP. The last two
            // codes stand for chunks and folded lines that libcurl cannot read. Errors of the engine's own callbacks
            // take precedence over them.
            case CCURLE_UNSUPPORTED_PROTOCOL, CCURLE_WEIRD_SERVER_REPLY, CCURLE_BAD_CONTENT_ENCODING,
                CCURLE_WRITE_ERROR, CCURLE_BAD_FUNCTION_ARGUMENT:
                .malformedResponse
            case CCURLE_RECV_ERROR: kindOfReceiveError
            case CCURLE_GOT_NOTHING, CCURLE_SEND_ERROR, CCURLE_SEND_FAIL_REWIND, CCURLE_HTTP2, CCURLE_HTTP2_STREAM:
                connectionLoss
            default: .unknown
            }
        }

        /// Returns whether libcurl's result may mean that a connection was lost before the response head.
        static func isConnectionLoss(_ code: Int32) -> Bool {
            switch Int(code) {
            case CCURLE_RECV_ERROR, CCURLE_GOT_NOTHING, CCURLE_SEND_ERROR, CCURLE_HTTP2, CCURLE_PARTIAL_FILE: true
            default: false
            }
        }

        private var connectionLoss: NetworkError.Kind {
            hasHead ? .connectionLostAfterHead : .connectionLostBeforeHead
        }

        /// Whether the connection was lost during the handshake. Such a loss does not mean that TLS failed. libcurl has
        /// no error code for this case.
        private var isLostHandshake: Bool {
            let words = words.lowercased()
            return ["connection reset", "ssl_error_syscall", "unexpected eof"].contains { words.contains($0) }
        }

        private var hasNoNetwork: Bool {
            systemError == ENETUNREACH || systemError == ENETDOWN
        }

        /// Whether the process has no file descriptor left. In this case, the host is not at fault.
        private var hasNoDescriptor: Bool { systemError == EMFILE || systemError == ENFILE }

        /// The kind for `CURLE_RECV_ERROR`, which libcurl uses for a lost connection and a malformed chunk.
        private var kindOfReceiveError: NetworkError.Kind {
            if words.contains("chunk") { return .malformedResponse }
            // With TLS 1.3, a server refuses a client certificate after the handshake, with an alert.
            if !hasHead, words.contains("alert") { return .tlsFailed }
            return connectionLoss
        }
    }
#endif
