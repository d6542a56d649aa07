#if os(Linux)
    import CLibcurl
    import Foundation

    /// TLS.
    extension CurlHandle {
        /// The options for the TLS of one peer.
        private struct TLSOptions {
            let minimumVersion, file, folder, memory: Int

            static let server = TLSOptions(
                minimumVersion: CCURLOPT_SSLVERSION, file: CCURLOPT_CAINFO, folder: CCURLOPT_CAPATH,
                memory: CCURLOPT_CAINFO_BLOB)
            static let proxy = TLSOptions(
                minimumVersion: CCURLOPT_PROXY_SSLVERSION, file: CCURLOPT_PROXY_CAINFO, folder: CCURLOPT_PROXY_CAPATH,
                memory: CCURLOPT_PROXY_CAINFO_BLOB)
        }

        /// The list of ciphers excludes the key exchanges over finite fields. In these, a server can choose a group
        /// whose computation takes a second of the loop's time.
        private static let ciphers = "DEFAULT:!kDHE"

        /// Sets the options of the transport's configuration for an https request.
        ///
        /// - Parameter isElsewhere: Whether a server has chosen the origin of the request. If true, the request carries
        ///   no client certificate, and libcurl does not use a connection that has a client certificate.
        /// - Throws: ``NetworkError`` that names the setting that this libcurl does not support.
        func applyTLS(elsewhere isElsewhere: Bool = false) throws {
            try apply(tls, to: .server)
            set(CCURLOPT_CA_CACHE_TIMEOUT, 30)  // see CurlFault.oldTrust
            if !tls.pins.isEmpty {
                let pins = tls.pins.map(\.description).joined(separator: ";")
                try require(set(CCURLOPT_PINNEDPUBLICKEY, pins), "tls.pins")
            }
            if let certificate = tls.clientCertificate, !isElsewhere { try apply(certificate) }
        }

        /// Applies the trusted certificates and the minimum version to the connection to an https proxy. Pins and the
        /// client certificate are not applied, because they concern only the server.
        func applyToProxy(_ tls: TLSConfiguration) throws {
            guard library.features.contains(.httpsProxies) else { return }
            if library.isOnOpenSSL { set(CCURLOPT_PROXY_SSL_CIPHER_LIST, CurlHandle.ciphers) }
            try apply(tls, to: .proxy)
        }

        private func apply(_ tls: TLSConfiguration, to peer: TLSOptions) throws {
            let version = tls.minimumVersion == .v1_3 ? CCURL_SSLVERSION_TLSv1_3 : CCURL_SSLVERSION_TLSv1_2
            try require(set(peer.minimumVersion, version), "tls.minimumVersion")
            switch tls.trust {
            case .system: return
            case .file(let file): try require(set(peer.file, file.path), "tls.trust")
            case .pem(let pem): try require(set(peer.memory, pem), "tls.trust")
            }
            set(peer.folder, nil)
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

        /// Whether the connection ended without a closure alert, although the end of the connection marks the end of
        /// the response.
        var isCutOff: Bool { isClosureWatched && !memory.isClosed.pointee }

        /// libcurl's error message.
        var words: String {
            let words = String(cString: memory.errorText)
            return words.isEmpty && isCutOff ? "TLS ended without a closure alert" : words
        }

        /// Sets the options for an https request.
        func prepareTLS(for request: HTTPRequest) throws {
            try applyTLS(elsewhere: request.isElsewhere)
            if !request.isRepeatable, mayUseHTTP2 { sockets.retireSilent(to: request.origin) }
            sockets.checkTrust()
            if sockets.trust?.mustBeRead(at: sockets.now) == true { set(CCURLOPT_CA_CACHE_TIMEOUT, 0) }
            guard library.isOnOpenSSL else { return }
            // libcurl compares the list before it reuses a connection or a TLS session. OpenSSL ignores unknown names.
            let generation = sockets.generation(of: request.origin)
            let withoutCertificate = tls.clientCertificate != nil && request.isElsewhere
            let suffix =
                (generation == 0 ? "" : ":GENERATION-\(generation)") + (withoutCertificate ? ":NO-CERTIFICATE" : "")
            set(CCURLOPT_SSL_CIPHER_LIST, suffix.isEmpty ? CurlHandle.ciphers : CurlHandle.ciphers + suffix)
            // OpenSSL 3.5 has new groups, and its own order of them.
            if library.isOnOldOpenSSL { set(CCURLOPT_SSL_EC_CURVES, "X25519:P-256:X448:P-384:P-521") }
        }
    }
#endif
