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
            switch configuration.addressFamily {
            case .any: break
            case .v4: set(CCURLOPT_IPRESOLVE, 1)
            case .v6: set(CCURLOPT_IPRESOLVE, 2)
            }
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
#endif
