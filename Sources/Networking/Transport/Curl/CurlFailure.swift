#if os(Linux)
    import CLibcurl
    import Glibc

    /// Why libcurl ended an exchange, and what that means.
    struct CurlFailure {
        let code: Int32
        /// What libcurl says about it: hosts and ports, never a URL's query or a header. Of a proxy's URL it says all,
        /// so that words with one are left out.
        let words: String
        /// What stands between the client and every host: a proxy, a Unix socket; nil if nothing does.
        let between: String?
        let hasHead: Bool
        let requiresHTTP2: Bool
        /// The system's own error, where there was one.
        let systemError: Int32
        /// What a proxy answered to being asked for a tunnel; 0 where none was.
        let proxyStatus: Int

        var networkError: NetworkError {
            let isNotified = !words.isEmpty && !words.contains("://") && !words.contains("@")
            let words = isNotified ? words : String(cString: clibcurl_easy_strerror(code))
            return NetworkError(kind, reason: "\(explanation) (\(words))")
        }

        /// The kind in words, with what really could not be connected to.
        private var explanation: String {
            switch Int(code) {
            case CCURLE_COULDNT_RESOLVE_PROXY: return "the proxy's name cannot be resolved"
            case CCURLE_SSL_CERTPROBLEM: return "tls.clientCertificate: certificate or key cannot be used"
            case CCURLE_SSL_CACERT_BADFILE: return "tls.trust: the certificates cannot be read"
            case CCURLE_SSL_CLIENTCERT: return "the server requires a client certificate (tls.clientCertificate)"
            default: break
            }
            if let between, kind == .cannotConnect { return "\(between) cannot connect" }
            guard requiresHTTP2, !hasHead, kind.isConnectionLoss || kind == .malformedResponse else {
                return kind.explanation
            }
            return "\(kind.explanation); does the server speak HTTP/2, which httpVersions requires?"
        }

        private var kind: NetworkError.Kind {
            switch Int(code) {
            // The last two are faults of certificates and keys on this side.
            case CCURLE_URL_MALFORMAT, CCURLE_SSL_CERTPROBLEM, CCURLE_SSL_CACERT_BADFILE: .invalidRequest
            case CCURLE_COULDNT_RESOLVE_HOST: .cannotResolveHost
            case CCURLE_COULDNT_RESOLVE_PROXY, CCURLE_PROXY: .cannotConnect
            case CCURLE_COULDNT_CONNECT: hasNoNetwork ? .notConnected : .cannotConnect
            case CCURLE_OPERATION_TIMEDOUT: .connectTimedOut
            case CCURLE_PEER_FAILED_VERIFICATION, CCURLE_SSL_PINNEDPUBKEYNOTMATCH, CCURLE_SSL_ISSUER_ERROR,
                CCURLE_SSL_INVALIDCERTSTATUS:
                .tlsUntrusted
            case CCURLE_SSL_CONNECT_ERROR, CCURLE_SSL_CIPHER, CCURLE_SSL_CRL_BADFILE, CCURLE_SSL_CLIENTCERT,
                CCURLE_SSL_ENGINE_NOTFOUND, CCURLE_SSL_ENGINE_SETFAILED, CCURLE_USE_SSL_FAILED:
                .tlsFailed
            case CCURLE_PARTIAL_FILE: hasHead ? .truncatedBody : .connectionLostBeforeHead
            case CCURLE_FILESIZE_EXCEEDED, CCURLE_TOO_LARGE: .responseTooLarge
            // A header line that is longer than libcurl's own limit.
            case CCURLE_OUT_OF_MEMORY where !hasHead: .responseTooLarge
            // The URL is one of HTTP, so that it is the response that is not HTTP. The last two are chunks and folded
            // lines that libcurl cannot read: errors of the engine's own callbacks take precedence.
            case CCURLE_UNSUPPORTED_PROTOCOL, CCURLE_WEIRD_SERVER_REPLY, CCURLE_BAD_CONTENT_ENCODING,
                CCURLE_WRITE_ERROR,
                CCURLE_BAD_FUNCTION_ARGUMENT:
                .malformedResponse
            case CCURLE_RECV_ERROR: kindOfReceiveError
            case CCURLE_GOT_NOTHING, CCURLE_SEND_ERROR, CCURLE_SEND_FAIL_REWIND, CCURLE_HTTP2, CCURLE_HTTP2_STREAM:
                connectionLoss
            default: .unknown
            }
        }

        /// Whether libcurl's result may mean that a connection was lost before the response head.
        static func isConnectionLoss(_ code: Int32) -> Bool {
            switch Int(code) {
            case CCURLE_RECV_ERROR, CCURLE_GOT_NOTHING, CCURLE_SEND_ERROR, CCURLE_HTTP2, CCURLE_PARTIAL_FILE: true
            default: false
            }
        }

        private var connectionLoss: NetworkError.Kind {
            hasHead ? .connectionLostAfterHead : .connectionLostBeforeHead
        }

        private var hasNoNetwork: Bool {
            systemError == ENETUNREACH || systemError == ENETDOWN
        }

        /// One code for a lost connection, a bad chunk and a proxy that refuses.
        private var kindOfReceiveError: NetworkError.Kind {
            if proxyStatus >= 300 { return .cannotConnect }
            if words.contains("chunk") { return .malformedResponse }
            // A client certificate that TLS 1.3 refuses is refused after the handshake.
            if !hasHead, words.contains("alert") { return .tlsFailed }
            return connectionLoss
        }
    }
#endif
