#if os(Linux)
    import Foundation

    /// The configured addresses of hosts in libcurl's form: see ``CurlTransport/Configuration/resolve``.
    ///
    /// For each request, libcurl reads the whole list. Therefore, the list contains only the entries of the names that
    /// libcurl may look up for this request: the names of the request's host and of the proxy. If one of these names is
    /// not known here, the list contains all entries.
    ///
    /// Exclusivity is not checked at run time, because only the loop's thread uses the object, and accesses do not
    /// overlap.
    final class CurlAddresses {
        /// A host and a port, as they are compared here. libcurl compares more exactly: some versions distinguish a
        /// name with a dot at its end.
        private struct Place: Hashable {
            let host: String
            let port: Int

            /// - Returns: Nil if libcurl may look up another name, because it rewrites numbers such as 127.1.
            init?(_ host: String, _ port: Int) {
                guard let name = HostName.canonical(host) else { return nil }
                var address = in_addr()
                let isNumber = name.split(separator: ".").last?.utf8.first.map(HTTPGrammar.isDigit) ?? true
                guard !isNumber || name.contains(":") || inet_pton(AF_INET, name, &address) == 1 else { return nil }
                self.init(name: name, port)
            }

            /// - Parameter name: A canonical name.
            init(name: String, _ port: Int) {
                host = name.hasSuffix(".") ? String(name.dropLast()) : name
                self.port = port
            }
        }

        /// The names that libcurl may look up for a request. A name without an entry counts as no name.
        private enum Need: Hashable {
            case all
            case host(Place?)
        }

        private let entries: [Place: [String]]
        private let proxy: Proxy
        /// The lists that requests have needed so far.
        @exclusivity(unchecked) private var lists: [Need: CurlHeaderLines] = [:]

        private enum Proxy {
            case none
            case known(Place)
            case unknown
        }

        init(_ configuration: CurlTransport.Configuration) {
            var entries: [Place: [String]] = [:]
            for (key, addresses) in configuration.resolve {
                // Each key has been checked: it is a canonical name, a colon and a port.
                let colon = key.lastIndex(of: ":") ?? key.endIndex
                let place = Place(name: key[..<colon].lowercased(), Int(key[colon...].dropFirst()) ?? 0)
                let addresses = addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
                entries[place, default: []].append("\(key):\(addresses)")
            }
            self.entries = entries
            switch configuration.proxy {
            case .direct: proxy = .none
            case .environment: proxy = .unknown
            case .url(let url):
                // These are libcurl's default ports of proxies.
                let port = url.port ?? (configuration.proxy.isSecure ? 443 : 1_080)
                proxy = url.host.flatMap { Place($0, port) }.map { .known($0) } ?? .unknown
            }
        }

        /// Returns the list of a request; nil if it needs none. The list is valid as long as this object exists. Reads
        /// the origin only if there are entries.
        ///
        /// - Parameter isDirect: Whether the request bypasses the configured proxy.
        func list(for origin: @autoclosure () -> HTTPOrigin?, isDirect: Bool = false) -> UnsafeRawPointer? {
            guard !entries.isEmpty else { return nil }
            let need = need(of: origin(), isDirect)
            if let list = lists[need] { return list.list }
            let list = CurlHeaderLines(lines(for: need))
            lists[need] = list
            return list.list
        }

        private func need(of origin: HTTPOrigin?, _ isDirect: Bool) -> Need {
            if case .unknown = proxy, !isDirect { return .all }
            guard let place = origin.flatMap({ Place($0.host, $0.port) }) else { return .all }
            return .host(entries[place] == nil ? nil : place)
        }

        private func lines(for need: Need) -> [String] {
            switch (need, proxy) {
            case (.all, _): entries.values.flatMap { $0 }
            case (.host(let place), .known(let proxy)): lines(at: place) + (place == proxy ? [] : lines(at: proxy))
            case (.host(let place), _): lines(at: place)
            }
        }

        private func lines(at place: Place?) -> [String] { place.flatMap { entries[$0] } ?? [] }
    }
#endif
