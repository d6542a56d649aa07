import Foundation

/// A cookie as the jar stores it
/// ([RFC 6265bis section 5.7](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.7)).
struct Cookie: Equatable, Sendable {
    let name: String
    let value: String
    /// The host, or the domain whose hosts receive the cookie, in lower-case ASCII.
    let domain: String
    /// Whether only the host itself receives the cookie, and not its subdomains.
    let isHostOnly: Bool
    let path: String
    let isSecure: Bool
    let isHTTPOnly: Bool
    /// The expiry date; nil for a session cookie, which lives as long as the jar.
    let expires: Date?
    /// The value of the store's counter when the cookie was created. It is not a time, so a clock change cannot reorder
    /// cookies. `lastAccess` is the value of the same counter when the cookie was last sent or received.
    var creation: Int64 = 0
    var lastAccess: Int64 = 0
    /// Whether the server that set the cookie received the request only because another server redirected to it.
    var isForeign = false

    func isExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// Whether a request sends the cookie (RFC 6265 section 5.4).
    func isSent(to location: CookieLocation, at now: Date) -> Bool {
        (isHostOnly ? location.host == domain : HostName.matches(location.host, domain: domain))
            && (!isSecure || location.isSecure) && includes(path: location.path) && !isExpired(at: now)
    }

    /// Whether a path is the path of the cookie or below it (RFC 6265 section 5.1.4).
    func includes(path other: String) -> Bool {
        // Compares bytes, because strings that are equal only after Unicode normalization are different paths and
        // names.
        guard other.utf8.starts(with: path.utf8) else { return false }
        let next = other.utf8.dropFirst(path.utf8.count).first
        return next == nil || next == UInt8(ascii: "/") || path.utf8.last == UInt8(ascii: "/")
    }

    func hasName(of other: Cookie) -> Bool {
        name.utf8.elementsEqual(other.name.utf8)
    }

    /// Whether the cookie is before another one in the order of names, domains and paths. Compares bytes, because
    /// servers choose the names: the time for comparing two strings grows with the square of the number of combining
    /// marks.
    func precedes(_ other: Cookie) -> Bool {
        if !hasName(of: other) { return name.utf8.lexicographicallyPrecedes(other.name.utf8) }
        if domain != other.domain { return domain.utf8.lexicographicallyPrecedes(other.domain.utf8) }
        return path.utf8.lexicographicallyPrecedes(other.path.utf8)
    }

    /// Whether both cookies have the same key (domain, host-only flag, name and path). If true, a received cookie
    /// replaces the stored cookie.
    func hasKey(of other: Cookie) -> Bool {
        domain == other.domain && isHostOnly == other.isHostOnly && hasName(of: other)
            && path.utf8.elementsEqual(other.path.utf8)
    }
}

extension Cookie {
    /// Creates the cookie that a response sets; nil if the response must not set it.
    ///
    /// - Parameter suffixes: The public suffixes. They are read only if the field has a `Domain` attribute.
    init?(
        _ field: SetCookie, from location: CookieLocation, at now: Date,
        suffixes: @autoclosure () -> CookieJar.PublicSuffixList
    ) {
        guard let scope = Cookie.scope(field.domain ?? "", location, suffixes), !field.isSecure || location.isSecure
        else { return nil }
        (domain, isHostOnly) = scope
        path = field.path.flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil } ?? location.defaultPath
        (name, value) = (field.name, field.value)
        (isSecure, isHTTPOnly) = (field.isSecure, field.isHTTPOnly)
        let latest = now.addingTimeInterval(Double(SetCookie.longestAge))
        if let seconds = field.maxAge {
            expires = seconds > 0 ? now.addingTimeInterval(Double(seconds)) : .distantPast
        } else {
            expires = field.expires.map { min($0, latest) }
        }
        guard !hasPrefix("__Secure-") || isSecure,
            !hasPrefix("__Host-") || isSecure && isHostOnly && field.path != nil && path == "/"
        else { return nil }
    }

    private static func scope(
        _ domain: String, _ location: CookieLocation, _ suffixes: () -> CookieJar.PublicSuffixList
    ) -> (domain: String, isHostOnly: Bool)? {
        guard !domain.isEmpty else { return (location.host, true) }
        guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let domain = domain.lowercased()
        guard HostName.matches(location.host, domain: domain) else { return nil }
        let isForHostOnly = HostName.isAddress(domain) || suffixes().contains(domain)
        return isForHostOnly && domain != location.host ? nil : (domain, isForHostOnly)
    }

    private func hasPrefix(_ prefix: StaticString) -> Bool {
        prefix.withUTF8Buffer { HTTPGrammar.isEqualIgnoringCase(name.utf8.prefix($0.count), $0) }
    }
}

/// The parts of a URL that decide which cookies a request to it sends, and which cookies the response may set.
struct CookieLocation {
    /// The host in lower-case ASCII.
    let host: String
    /// The path, percent-encoded as in the request line.
    let path: String
    /// Whether the scheme is `https`. No other origin counts as secure, not even one on this machine.
    let isSecure: Bool

    /// Returns nil for a URL without a host, or with a host that is not a host name or has more than 255 bytes.
    init?(_ url: URL) {
        // Foundation returns an international host decoded or as punycode, depending on the system and the spelling.
        guard let host = url.host.flatMap(HostName.canonical), (1...255).contains(host.utf8.count) else {
            return nil
        }
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
