#if os(Linux)
    import Foundation

    /// The configured addresses of hosts in libcurl's form: see ``CurlTransport/Configuration/resolve``.
    ///
    /// libcurl reads the whole list that a request has. So a request has only the entry of its own host and the entry of
    /// the proxy.
    ///
    /// Exclusivity is not checked at run time, because only the loop's thread uses the object, and accesses do not
    /// overlap.
    final class CurlAddresses {
        /// The entries, each for a host and a port.
        private let entries: [String: String]
        /// The entry of the proxy; nil if there is none.
        private let proxyEntry: String?
        /// Whether the environment names the proxies, so that their names are not known here.
        private let hasUnknownProxies: Bool
        /// The lists that requests have needed so far.
        @exclusivity(unchecked) private var lists: [Need: CurlHeaderLines] = [:]

        /// The entries that a request needs, in addition to that of the proxy.
        private enum Need: Hashable {
            case none, all
            case entry(ofHost: String)
        }

        init(_ configuration: CurlTransport.Configuration) {
            var entries: [String: String] = [:]
            for (host, addresses) in configuration.resolve {
                let addresses = addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
                entries[host.lowercased().replacingOccurrences(of: ".:", with: ":")] = "\(host):\(addresses)"
            }
            self.entries = entries
            if case .url(let url) = configuration.proxy, let host = url.host {
                // These are libcurl's default ports of proxies.
                let port = url.port ?? (configuration.proxy.isSecure ? 443 : 1_080)
                proxyEntry = entries[CurlAddresses.key(host, port)]
            } else {
                proxyEntry = nil
            }
            hasUnknownProxies = configuration.proxy == .environment
        }

        /// Returns the list of a request; nil if it needs none. The list is valid as long as this object exists.
        func list(for origin: HTTPOrigin?) -> UnsafeRawPointer? {
            guard !entries.isEmpty else { return nil }
            let need = need(of: origin)
            if let list = lists[need] { return list.list }
            let own: [String] =
                switch need {
                case .none: []
                case .all: Array(entries.values)
                case .entry(let host): entries[host].map { [$0] } ?? []
                }
            let list = CurlHeaderLines(need == .all ? own : own + (proxyEntry.map { [$0] } ?? []))
            lists[need] = list
            return list.list
        }

        private func need(of origin: HTTPOrigin?) -> Need {
            // libcurl rewrites a host whose last label is a number, such as 127.1.
            guard !hasUnknownProxies, let origin, let host = HostName.canonical(origin.host),
                host.split(separator: ".").last?.utf8.first.map(HTTPGrammar.isDigit) == false
            else { return .all }
            let key = CurlAddresses.key(host, origin.port)
            return entries[key] == nil ? .none : .entry(ofHost: key)
        }

        /// The dot at the end of a host is no part of its name.
        private static func key(_ host: String, _ port: Int) -> String {
            "\(host.hasSuffix(".") ? String(host.dropLast()) : host):\(port)".lowercased()
        }
    }
#endif
