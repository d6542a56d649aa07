#if os(Linux)
    import Foundation

    /// The entries of `no_proxy` that have a port, such as `localhost:8080`. libcurl compares an entry with the host
    /// only, so it would send requests to the host and port of such an entry through the proxy. The entries have the
    /// same meaning as in Go and Node.js. A name stands for the host and its subdomains. A name with a leading dot or
    /// `*.` stands for the subdomains only.
    struct ProxyExceptions: Hashable, Sendable {
        private struct Entry: Hashable {
            let host: String
            let port: Int
            let includesHost: Bool
        }

        private var entries: [Entry] = []

        /// - Parameter list: The value of the variable: entries that are separated by commas or blanks.
        init(_ list: String) {
            for item in list.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }) {
                guard let colon = item.lastIndex(of: ":"), let port = Int(item[item.index(after: colon)...]) else {
                    continue
                }
                var host = item[..<colon]
                if host.hasPrefix("["), host.hasSuffix("]") {
                    host = host.dropFirst().dropLast()
                } else if host.contains(":") {
                    continue
                }  // an IPv6 address without a port
                let isSuffix = host.hasPrefix(".") || host.hasPrefix("*.")
                if isSuffix { host = host.drop { $0 == "*" || $0 == "." } }
                guard !host.isEmpty else { continue }
                entries.append(Entry(host: String(host), port: port, includesHost: !isSuffix))
            }
        }

        /// The exceptions of the environment of the process.
        static var ofEnvironment: ProxyExceptions {
            let environment = ProcessInfo.processInfo.environment
            return ProxyExceptions(environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
        }

        /// Returns whether requests to an origin are sent without the proxy. Reads the origin only if there are
        /// exceptions.
        func contains(_ origin: @autoclosure () -> HTTPOrigin?) -> Bool {
            guard !entries.isEmpty, let origin = origin() else { return false }
            let host = origin.host.lowercased().trimmingCharacters(in: ["[", "]"])
            return entries.contains {
                $0.port == origin.port && ($0.includesHost && host == $0.host || host.hasSuffix("." + $0.host))
            }
        }
    }
#endif
