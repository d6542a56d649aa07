public import Foundation

/// The scheme, host and port of a URL, [RFC 9110 section
/// 4.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.1). A redirect to another origin removes credentials.
public struct HTTPOrigin: Hashable, Sendable {
    /// The storage of an origin. It is a class, so that a copy of an origin is only a reference. An origin is created
    /// once per URL, but policies copy it and use it as a dictionary key for every request.
    private final class Parts: Sendable {
        let scheme: String
        let host: String
        let port: Int
        let hash: Int

        init(scheme: String, host: String, port: Int) {
            self.scheme = scheme
            self.host = host
            self.port = port
            var hasher = Hasher()
            hasher.combine(scheme)
            hasher.combine(host)
            hasher.combine(port)
            hash = hasher.finalize()
        }
    }

    private let parts: Parts

    /// The scheme in lower case: `http` or `https` for a request that can be sent.
    public var scheme: String { parts.scheme }
    /// The host in lower case; an IPv6 address without its brackets.
    public var host: String { parts.host }
    /// The port. If the URL contains no port: 443 for `https`, otherwise 80.
    public var port: Int { parts.port }

    /// Returns the origin of a URL, or nil if the URL has no scheme or no host.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host, !host.isEmpty else { return nil }
        parts = Parts(scheme: scheme, host: host.lowercased(), port: url.port ?? (scheme == "https" ? 443 : 80))
    }

    /// Whether two origins have the same scheme, host and port.
    public static func == (lhs: HTTPOrigin, rhs: HTTPOrigin) -> Bool {
        lhs.parts === rhs.parts
            || lhs.parts.hash == rhs.parts.hash && lhs.port == rhs.port && lhs.host == rhs.host
                && lhs.scheme == rhs.scheme
    }

    /// Hashes the scheme, host and port.
    public func hash(into hasher: inout Hasher) { hasher.combine(parts.hash) }
}

extension HTTPOrigin: CustomStringConvertible {
    /// The origin as a URL without a path.
    public var description: String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
