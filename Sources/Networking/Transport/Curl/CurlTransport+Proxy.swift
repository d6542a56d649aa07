#if os(Linux)
    public import Foundation

    extension CurlTransport {
        /// The proxy that requests go through.
        public enum Proxy: Hashable, Sendable {
            /// The proxies that the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` configure. If
            /// none of them is set when the transport is created, the transport uses no proxy. Otherwise libcurl reads
            /// the variables for each request. The entries of `no_proxy` that have a port, such as `localhost:8080`,
            /// are read when the transport is created.
            case environment
            /// No proxy, even if the environment names one.
            case direct
            /// The URL of an http, https, socks4, socks4a, socks5 or socks5h proxy for every host. The URL contains the
            /// credentials, if the proxy requires them. A socks4a or socks5h proxy resolves the names of hosts.
            case url(URL)

            /// Whether the environment names a proxy.
            static var isInEnvironment: Bool {
                let environment = ProcessInfo.processInfo.environment
                return ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
                    !(environment[$0] ?? "").isEmpty
                }
            }

            /// Whether the connection to the proxy uses TLS.
            var isSecure: Bool { if case .url(let url) = self { url.scheme?.lowercased() == "https" } else { false } }
        }
    }

    extension CurlTransport.Proxy: RedactedReflectable {

        /// The scheme, host and port of the proxy; never its credentials.
        var redactedDescription: String {
            switch self {
            case .environment: "the environment's proxy"
            case .direct: "no proxy"
            case .url(let url):
                "the proxy \(url.scheme ?? "http")://\(url.host ?? "")\(url.port.map { ":\($0)" } ?? "")"
            }
        }
    }
#endif
