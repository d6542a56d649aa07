#if os(Linux)
    public import Foundation

    extension CurlTransport {
        /// The settings of a ``CurlTransport``: threads, limits, TLS, proxy, addresses, and versions of HTTP.
        ///
        /// ```swift
        /// var configuration = CurlTransport.Configuration()
        /// configuration.tls.trust = .file(companyAuthority)
        /// configuration.limits.connectionsPerHost = 16
        /// let transport = try CurlTransport(configuration)
        /// ```
        public struct Configuration: Hashable, Sendable {
            /// The number of threads that send requests. Each thread has its own connections. Default: two, or one on a
            /// system with a single processor. The second thread is used when the first one is busy. If ``limits``
            /// restricts the number of connections, the transport uses one thread.
            ///
            /// With some versions of libcurl, some requests must use HTTP/1.1. An additional thread then sends these
            /// requests.
            public var threads: Int
            /// The limits of connections and memory.
            public var limits: Limits
            /// The TLS settings: the certificates that the transport trusts, and the client certificate.
            public var tls: TLSConfiguration
            /// The proxy through which the transport sends requests. Default: ``CurlTransport/Proxy/environment``.
            public var proxy: CurlTransport.Proxy
            /// The path of a Unix domain socket to which the transport connects instead of the host of a request.
            /// Default: none.
            public var unixSocketPath: String?
            /// The versions of the Internet Protocol that connections may use. Default: both.
            public var addressFamily: AddressFamily
            /// The addresses to use for hosts in place of a name lookup:
            /// `["api.example.com:443": ["10.0.0.7", "fd00::7"]]`. Default: none. The request still contains the name
            /// of the host, and the server's certificate must be valid for this name.
            public var resolve: [String: [String]]
            /// The versions of HTTP that requests may use. Default: HTTP/2 if TLS negotiates it, otherwise HTTP/1.1.
            public var httpVersions: HTTPVersions

            /// The hosts and ports that requests reach without the proxy of the environment.
            var proxyExceptions = ProxyExceptions("")

            /// Creates a configuration.
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
                /// HTTP/2 if TLS negotiates it (ALPN, RFC 7301), otherwise HTTP/1.1. Requests over plain `http` use
                /// HTTP/1.1.
                case preferHTTP2
                /// HTTP/2 only. For plain `http`, the app must know that the server supports HTTP/2 (prior knowledge,
                /// RFC 9113 section 3.3). If TLS negotiates HTTP/1.1, the call ends with
                /// ``NetworkError/Kind/malformedResponse``, after the server has processed the request.
                case http2
            }

            /// The versions of the Internet Protocol.
            public enum AddressFamily: Hashable, Sendable {
                /// Both IPv4 and IPv6. The first address that connects is used.
                case any
                /// IPv4 only.
                case v4
                /// IPv6 only.
                case v6
            }

            /// The limits of connections and memory.
            ///
            /// Some requests must use HTTP/1.1 because of a fault of the loaded libcurl. These requests have their own
            /// connections, and the limits count these connections separately.
            public struct Limits: Hashable, Sendable {
                /// The largest number of connections to a host. Further requests wait for a connection. Default: no
                /// limit, because a service has a `ConcurrencyLimit`.
                public var connectionsPerHost: Int?
                /// The largest number of connections. Further requests wait for a connection. Default: no limit.
                public var connections: Int?
                /// The largest number of idle connections that stay open. Each thread may keep one idle connection,
                /// even if the limit is smaller. If another thread needs idle connections, a thread that has more than
                /// its share closes the excess connections when it sends its next requests. Default: 256.
                public var idleConnections: Int
                /// How long an idle connection stays open. Default: 55 seconds, because many load balancers close an
                /// idle connection after 60 seconds. A server can ask for a shorter time with `Keep-Alive: timeout=5`.
                /// If this time is at least two seconds, the transport closes the connection one second earlier.
                /// Otherwise, the transport closes it after half of this time.
                public var idleAge: Duration
                /// How long a connection accepts new requests. After this time, the next request opens a new
                /// connection, and looks up the name of the host again. Default: no limit.
                public var lifetime: Duration?
                /// The longest silence after which an HTTP/2 connection is still used for a request that must not be
                /// repeated, such as a POST. After a longer silence, such a request opens a new connection, because a
                /// router may have forgotten the old one. This limit applies to https. If libcurl does not use OpenSSL,
                /// this limit applies only to a connection that no other request uses. Default: 30 seconds.
                public var silence: Duration
                /// The number of received bytes of a streamed body that the transport buffers for a slow reader. If the
                /// buffer contains more, the transport stops receiving until the reader has read some bytes. Default:
                /// 256 KiB.
                public var bufferedBytes: Int
                /// The largest number of bytes in the head and trailers of a response. A larger head, or a head with
                /// more than 4,096 fields, is an error of kind ``NetworkError/Kind/responseTooLarge``. Default: 256
                /// KiB.
                public var headBytes: Int
                /// The largest number of bytes to which a compressed body may expand. A larger body is an error of kind
                /// ``NetworkError/Kind/responseTooLarge``. Default: 256 MiB.
                public var decodedBytes: Int
                /// The maximum ratio of decoded to received bytes for a body that decodes to more than 8 MiB. A higher
                /// ratio is an error of kind ``NetworkError/Kind/responseTooLarge``. Default: 200.
                public var decodedRatio: Int
                /// The time that ``CurlPace`` allows, in nanoseconds.
                var turn = CurlPace.standard

                /// Whether a request may have to wait for a connection.
                var mayWait: Bool { connectionsPerHost != nil || connections != nil }

                /// Creates a set of limits.
                public init(
                    connectionsPerHost: Int? = nil, connections: Int? = nil, idleConnections: Int = 256,
                    idleAge: Duration = .seconds(55), lifetime: Duration? = nil, silence: Duration = .seconds(30),
                    bufferedBytes: Int = 256 << 10, headBytes: Int = 256 << 10, decodedBytes: Int = 256 << 20,
                    decodedRatio: Int = 200
                ) {
                    self.connectionsPerHost = connectionsPerHost
                    self.connections = connections
                    self.idleConnections = idleConnections
                    self.idleAge = idleAge
                    self.lifetime = lifetime
                    self.silence = silence
                    self.bufferedBytes = bufferedBytes
                    self.headBytes = headBytes
                    self.decodedBytes = decodedBytes
                    self.decodedRatio = decodedRatio
                }
            }
        }
    }

    extension CurlTransport.Configuration {
        /// The description of the Unix socket or proxy between the client and every host; nil if none is configured.
        var between: String? {
            if let unixSocketPath { return "the Unix socket \(unixSocketPath)" }
            if case .url = proxy { return proxy.description }
            return nil
        }

        /// The configuration of each thread. Its ``threads`` is the actual number of threads. If the number of
        /// connections is limited, there is one thread, because each thread has its own connections.
        var perThread: CurlTransport.Configuration {
            var part = self
            part.threads = limits.mayWait ? 1 : threads
            // Without this, libcurl would search the environment for each request.
            if proxy == .environment, !CurlTransport.Proxy.isInEnvironment { part.proxy = .direct }
            if part.proxy == .environment { part.proxyExceptions = .ofEnvironment }
            return part
        }
    }
#endif
