#if os(Linux)
    import Foundation

    extension CurlTransport.Configuration {
        /// Checks the configuration.
        ///
        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest``. Its reason names the wrong setting.
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
            for (part, isWanted, feature) in wanted where isWanted {
                try NetworkError.require(
                    features.contains(feature),
                    "\(part): this system's libcurl was built without support for this setting")
            }
            try NetworkError.require(
                httpVersions != .http2 || !library.has(.repeatsRequests),
                "httpVersions: expected .http1 or .preferHTTP2, found .http2; this version of libcurl may send a POST "
                    + "twice over HTTP/2")
        }

        private func validateLimits() throws {
            let counts = [
                ("threads", threads), ("limits.connectionsPerHost", limits.connectionsPerHost ?? 1),
                ("limits.connections", limits.connections ?? 1), ("limits.bufferedBytes", limits.bufferedBytes),
                ("limits.headBytes", limits.headBytes), ("limits.decodedBytes", limits.decodedBytes),
            ]
            for (name, count) in counts {
                try NetworkError.require(count > 0, "\(name): expected more than 0, found \(count)")
            }
            for (name, time) in [
                ("idleAge", limits.idleAge), ("lifetime", limits.lifetime ?? .seconds(1)), ("silence", limits.silence),
            ] {
                try NetworkError.require(time > .zero, "limits.\(name): expected more than zero, found \(time)")
            }
            try NetworkError.require(threads <= 256, "threads: expected at most 256, found \(threads)")
            let idle = limits.idleConnections
            try NetworkError.require(idle >= 0, "limits.idleConnections: expected 0 or more, found \(idle)")
        }

        private func validateUnixSocket() throws {
            guard let count = unixSocketPath?.utf8.count else { return }
            // The capacity of `sockaddr_un`, without the terminating zero.
            let isValid = (1...107).contains(count)
            try NetworkError.require(isValid, "unixSocketPath: expected 1 to 107 bytes, found \(count)")
        }

        private func validateProxy() throws {
            guard case .url(let url) = proxy else { return }
            guard let scheme = url.scheme?.lowercased(), CurlTransport.Configuration.proxySchemes.contains(scheme),
                let host = url.host, !host.isEmpty, (0...65_535).contains(url.port ?? 0)
            else {
                throw NetworkError(.invalidRequest, reason: "proxy: expected an http, https or socks URL with a host")
            }
        }

        private func validateResolve() throws {
            try NetworkError.require(
                Set(resolve.keys.map { $0.lowercased() }).count == resolve.count,
                "resolve: expected each host once, found one host in two spellings")
            for (host, addresses) in resolve {
                // Some characters have a special meaning for libcurl: a leading minus removes a name, `*` matches all
                // hosts, and a leading plus limits how long an entry is valid.
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
                try NetworkError.require(
                    !addresses.isEmpty && !addresses.contains(where: isNoAddress),
                    "resolve: expected IP addresses for \"\(host)\", found \(addresses)")
            }
        }

        private static let proxySchemes: Set<String> = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
    }
#endif
