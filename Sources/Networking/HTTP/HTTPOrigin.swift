public import Foundation

/// Scheme, host and port of a URL, [RFC 9110 section 4.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.1): credentials stay
/// within one.
public struct HTTPOrigin: Hashable, Sendable {
    /// `http` or `https`, in lower case.
    public let scheme: String
    /// The host in lower case; an IPv6 address without its brackets.
    public let host: String
    /// The port, also where the URL leaves it to the scheme.
    public let port: Int
    /// Computed once: an origin that is made once is looked up for every request.
    private let hash: Int

    /// The origin of a URL; nil where it has no scheme or no host.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host, !host.isEmpty else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = url.port ?? (scheme == "https" ? 443 : 80)
        var hasher = Hasher()
        hasher.combine(self.scheme)
        hasher.combine(self.host)
        hasher.combine(port)
        hash = hasher.finalize()
    }
}

extension HTTPOrigin {
    /// Hashes scheme, host and port.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension HTTPOrigin: CustomStringConvertible {
    /// The origin as a URL without a path.
    public var description: String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
