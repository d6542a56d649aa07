import Foundation

/// The parts of a URL that decide which cookies its request sends and which cookies its response may set.
struct CookieLocation {
    /// The host in lower-case ASCII.
    let host: String
    /// The path, percent-encoded as in the request line.
    let path: String
    /// Whether the scheme is `https`. No other origin counts as secure, not even one on this machine.
    let isSecure: Bool

    /// Returns nil for a URL without a host, or with a host that is not a host name.
    init?(_ url: URL) {
        // Foundation returns an international host decoded or as punycode, depending on the system and the spelling.
        guard let host = url.host.flatMap(HostName.canonical), !host.isEmpty else { return nil }
        let path = url.path(percentEncoded: true)
        self.host = host
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/"
        isSecure = url.scheme?.lowercased() == "https"
    }

    /// The path up to its last slash (RFC 6265 section 5.1.4).
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The host and the domains above it: the domains of all cookies that the host may receive.
    var domains: [Substring] {
        guard !HostName.isAddress(host) else { return [host[...]] }
        let dots = host.utf8.indices.filter { host.utf8[$0] == UInt8(ascii: ".") }
        return [host[...]] + dots.map { host[host.utf8.index(after: $0)...] }
    }
}
