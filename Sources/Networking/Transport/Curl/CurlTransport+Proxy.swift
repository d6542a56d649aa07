#if os(Linux)
    public import Foundation

    extension CurlTransport {
        /// The proxy that requests go through.
        public enum Proxy: Hashable, Sendable {
            /// The proxies named by `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`. If none is set when the
            /// transport is created, it uses none; otherwise libcurl reads the variables with each request.
            case environment
            /// No proxy, even if the environment names one.
            case direct
            /// This proxy for every host: `http://`, `https://`, `socks5://` or `socks5h://`, with its credentials in the
            /// URL.
            case url(URL)

            /// Whether the environment names a proxy.
            static var isInEnvironment: Bool {
                let environment = ProcessInfo.processInfo.environment
                return ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
                    !(environment[$0] ?? "").isEmpty
                }
            }

            /// Whether the way to the proxy is a TLS connection itself.
            var isSecure: Bool { if case .url(let url) = self { url.scheme?.lowercased() == "https" } else { false } }
        }
    }

    extension CurlTransport.Proxy: RedactedReflectable {

        /// Where the proxy is, never its credentials.
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
