#if os(Linux)
    public import Foundation

    extension CurlTransport {
        /// What a ``CurlTransport`` is made of: its threads, its bounds, its trust, its way to the server.
        ///
        /// ```swift
        /// var configuration = CurlTransport.Configuration()
        /// configuration.tls.trust = .file(companyAuthority)
        /// configuration.limits.connectionsPerHost = 16
        /// let transport = try CurlTransport(configuration)
        /// ```
        public struct Configuration: Hashable, Sendable {
            /// The number of threads that send requests, each with connections of its own. Default: two, the second of
            /// which is used when the first is busy; one on a single processor, or if ``Limits`` bound the connections.
            ///
            /// On versions of libcurl on which some requests must use HTTP/1.1, a thread more sends these.
            public var threads: Int
            /// What bounds connections and memory.
            public var limits: Limits
            /// Whom to trust, and as whom to appear.
            public var tls: TLSConfiguration
            /// The proxy.
            public var proxy: CurlTransport.Proxy
            /// The path of a Unix domain socket that takes the place of every host.
            public var unixSocketPath: String?
            /// Which addresses of a host are tried.
            public var addressFamily: AddressFamily
            /// Addresses for hosts, in place of name lookup: `["api.example.com:443": ["10.0.0.7", "fd00::7"]]`. Default:
            /// none. The name still stands in the request and is checked against the server's certificate.
            public var resolve: [String: [String]]
            /// The versions of HTTP that requests may use. Default: HTTP/2 if TLS agrees on it, else HTTP/1.1.
            public var httpVersions: HTTPVersions

            /// Makes a configuration.
            public init(
                threads: Int = min(ProcessInfo.processInfo.activeProcessorCount, 2), limits: Limits = Limits(),
                tls: TLSConfiguration = TLSConfiguration(), proxy: CurlTransport.Proxy = .environment,
                unixSocketPath: String? = nil, addressFamily: AddressFamily = .any,
                httpVersions: HTTPVersions = .preferHTTP2, resolve: [String: [String]] = [:]
            ) {
                self.threads = threads
                self.limits = limits
                self.tls = tls
                self.proxy = proxy
                self.unixSocketPath = unixSocketPath
                self.addressFamily = addressFamily
                self.httpVersions = httpVersions
                self.resolve = resolve
            }

            /// The versions of HTTP that requests may use.
            public enum HTTPVersions: Hashable, Sendable {
                /// HTTP/1.1 only.
                case http1
                /// HTTP/2 if TLS agrees on it (ALPN, RFC 7301), else HTTP/1.1. Over plain `http`, HTTP/1.1.
                case preferHTTP2
                /// HTTP/2 only. Over plain `http` the server has to be known to speak it (prior knowledge, RFC 9113 section
                /// 3.3). Over TLS, a server that agrees on HTTP/1.1 ends the call with
                /// ``NetworkError/Kind/malformedResponse``, after it has processed the request.
                case http2
            }

            /// The versions of the Internet Protocol.
            public enum AddressFamily: Hashable, Sendable {
                /// Both, the first that connects.
                case any
                /// IPv4 only.
                case v4
                /// IPv6 only.
                case v6
            }

            /// Limits of connections and memory.
            ///
            /// Requests that must use HTTP/1.1 because of a fault of the loaded libcurl have connections of their own,
            /// which are counted separately.
            public struct Limits: Hashable, Sendable {
                /// The largest number of connections to a host; further requests wait for one. Default: no limit, since a
                /// service has a `ConcurrencyLimit`.
                public var connectionsPerHost: Int?
                /// The largest number of connections; further requests wait for one. Default: no limit.
                public var connections: Int?
                /// The largest number of unused connections that are kept. Default: 256.
                public var idleConnections: Int
                /// The number of bytes of a streamed body that wait for a slow reader before the server is held back.
                /// Default: 256 KiB.
                public var bufferedBytes: Int
                /// The largest number of bytes in the head and trailers of a response; larger ones, and heads of more than
                /// 4,096 fields, are a ``NetworkError/Kind/responseTooLarge``. Default: 256 KiB.
                public var headBytes: Int
                /// The largest number of bytes to which a compressed body may expand; larger ones are a
                /// ``NetworkError/Kind/responseTooLarge``. Default: 256 MiB.
                public var decodedBytes: Int

                /// Whether a request may have to wait for a connection.
                var mayWait: Bool { connectionsPerHost != nil || connections != nil }

                /// Makes a set of bounds.
                public init(
                    connectionsPerHost: Int? = nil, connections: Int? = nil, idleConnections: Int = 256,
                    bufferedBytes: Int = 256 << 10, headBytes: Int = 256 << 10, decodedBytes: Int = 256 << 20
                ) {
                    self.connectionsPerHost = connectionsPerHost
                    self.connections = connections
                    self.idleConnections = idleConnections
                    self.bufferedBytes = bufferedBytes
                    self.headBytes = headBytes
                    self.decodedBytes = decodedBytes
                }
            }
        }
    }

    extension CurlTransport.Configuration {
        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest`` that names the part.
        func validate(for library: CurlLibrary) throws {
            let features = library.features
            try validateLimits()
            try validateProxy()
            try validateUnixSocket()
            try tls.validate()
            try validateResolve()
            let wanted: [(part: String, isWanted: Bool, feature: CurlLibrary.Features)] = [
                ("addressFamily", addressFamily == .v6, .ipv6), ("unixSocketPath", unixSocketPath != nil, .unixSockets),
                ("proxy", proxy.isSecure, .httpsProxies), ("tls", tls != TLSConfiguration(), .tls),
                ("httpVersions", httpVersions == .http2, .http2),
            ]
            for (part, isWanted, feature) in wanted where isWanted && !features.contains(feature) {
                throw NetworkError(.invalidRequest, reason: "\(part): this system's libcurl was built without it")
            }
            if httpVersions == .http2, library.has(.repeatsRequests) {
                throw NetworkError(
                    .invalidRequest,
                    reason: "httpVersions: this system's libcurl would execute POSTs twice if only HTTP/2 is allowed")
            }
        }

        private func validateLimits() throws {
            let counts = [
                ("threads", threads), ("limits.connectionsPerHost", limits.connectionsPerHost ?? 1),
                ("limits.connections", limits.connections ?? 1), ("limits.bufferedBytes", limits.bufferedBytes),
                ("limits.headBytes", limits.headBytes), ("limits.decodedBytes", limits.decodedBytes),
            ]
            for (name, count) in counts where count < 1 {
                throw NetworkError(.invalidRequest, reason: "\(name): expected more than 0, found \(count)")
            }
            guard threads <= 256 else {
                throw NetworkError(.invalidRequest, reason: "threads: expected at most 256, found \(threads)")
            }
            guard limits.idleConnections >= 0 else {
                throw NetworkError(
                    .invalidRequest,
                    reason: "limits.idleConnections: expected 0 or more, found \(limits.idleConnections)")
            }
        }

        private func validateUnixSocket() throws {
            guard let count = unixSocketPath?.utf8.count else { return }
            // What `sockaddr_un` has room for.
            guard (1...107).contains(count) else {
                throw NetworkError(
                    .invalidRequest, reason: "unixSocketPath: expected 1 to 107 bytes, found \(count)")
            }
        }

        private func validateProxy() throws {
            guard case .url(let url) = proxy else { return }
            guard let scheme = url.scheme?.lowercased(), CurlTransport.Configuration.proxySchemes.contains(scheme),
                let host = url.host, !host.isEmpty, (0...65_535).contains(url.port ?? 0)
            else {
                throw NetworkError(.invalidRequest, reason: "proxy: it is no http, https or socks URL with a host")
            }
        }

        private func validateResolve() throws {
            guard Set(resolve.keys.map { $0.lowercased() }).count == resolve.count else {
                throw NetworkError(
                    .invalidRequest, reason: "resolve: expected each host once, found one in two spellings")
            }
            for (host, addresses) in resolve {
                // libcurl removes names that begin with a minus, and has a wildcard and a prefix of its own.
                guard let colon = host.lastIndex(of: ":"), colon > host.startIndex,
                    UInt16(host[host.index(after: colon)...]) ?? 0 > 0,
                    HostName.canonical(String(host[..<colon])) == host[..<colon].lowercased(),
                    !host[..<colon].contains(where: { ":,+*[] ".contains($0) }), !host.hasPrefix("-")
                else {
                    throw NetworkError(
                        .invalidRequest,
                        reason: "resolve: expected a host name (an international one as punycode) and a port as in "
                            + "\"api.example.com:443\", found \"\(host)\"")
                }
                var (v4, v6) = (in_addr(), in6_addr())
                let isNoAddress = { (text: String) in
                    inet_pton(AF_INET, text, &v4) != 1 && inet_pton(AF_INET6, text, &v6) != 1
                }
                guard !addresses.isEmpty, !addresses.contains(where: isNoAddress) else {
                    throw NetworkError(
                        .invalidRequest, reason: "resolve: expected IP addresses for \"\(host)\", found \(addresses)")
                }
            }
        }

        /// ``resolve`` in libcurl's form.
        var resolveLines: [String] {
            resolve.map { host, addresses in
                "\(host):" + addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
            }
        }

        private static let proxySchemes: Set<String> = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

        /// What stands between the client and every host; nil if nothing is known to.
        var between: String? {
            if let unixSocketPath { return "the Unix socket \(unixSocketPath)" }
            if case .url = proxy { return proxy.description }
            return nil
        }

        /// What each thread gets, and how many there are: one where connections are bounded, since each thread has
        /// connections of its own.
        var perThread: CurlTransport.Configuration {
            var part = self
            part.threads = limits.mayWait ? 1 : threads
            part.limits.idleConnections = limits.idleConnections / part.threads
            // Otherwise libcurl searches the environment for each request.
            if proxy == .environment, !CurlTransport.Proxy.isInEnvironment { part.proxy = .direct }
            return part
        }
    }
#endif
