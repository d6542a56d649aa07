#if os(Linux)
    public import Foundation

    /// The proxy that requests go through.
    public enum ProxyConfiguration: Hashable, Sendable {
        /// What the environment says: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`. Whether it names any is looked at when the
        /// transport is made, and which one holds with each request.
        case environment
        /// None, whatever the environment says.
        case direct
        /// This one, for every host: `http://`, `https://`, `socks5://` or `socks5h://`, credentials in the URL where it wants some.
        case url(URL)

        /// Whether the environment names a proxy. Libcurl would look for it anew with every request.
        static var isInEnvironment: Bool {
            let environment = ProcessInfo.processInfo.environment
            return ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
                !(environment[$0] ?? "").isEmpty
            }
        }

        /// Whether the way to the proxy is a TLS connection itself.
        var isSecure: Bool { if case .url(let url) = self { url.scheme?.lowercased() == "https" } else { false } }
    }

    extension ProxyConfiguration: CustomStringConvertible, CustomReflectable {
        /// Nothing but the description, for `dump` and its like.
        public var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }

        /// Where the proxy is, never its credentials.
        public var description: String {
            switch self {
            case .environment: "the environment's proxy"
            case .direct: "no proxy"
            case .url(let url):
                "the proxy \(url.scheme ?? "http")://\(url.host ?? "")\(url.port.map { ":\($0)" } ?? "")"
            }
        }
    }
#endif
