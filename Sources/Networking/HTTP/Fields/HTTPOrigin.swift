public import Foundation

/// Scheme, host and port of a URL, [RFC 9110 section 4.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.1):
/// credentials stay within one.
public struct HTTPOrigin: Hashable, Sendable {
    /// One reference, so that policies hand it around and look it up at little cost: it is made once and used with
    /// every request.
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

    /// `http` or `https`, in lower case.
    public var scheme: String { parts.scheme }
    /// The host in lower case; an IPv6 address without its brackets.
    public var host: String { parts.host }
    /// The port, also where the URL leaves it to the scheme.
    public var port: Int { parts.port }

    /// The origin of a URL; nil if it has no scheme or no host.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host, !host.isEmpty else { return nil }
        parts = Parts(scheme: scheme, host: host.lowercased(), port: url.port ?? (scheme == "https" ? 443 : 80))
    }

    /// Whether scheme, host and port are the same.
    public static func == (lhs: HTTPOrigin, rhs: HTTPOrigin) -> Bool {
        lhs.parts === rhs.parts
            || lhs.parts.hash == rhs.parts.hash && lhs.port == rhs.port && lhs.host == rhs.host
                && lhs.scheme == rhs.scheme
    }

    /// Hashes scheme, host and port.
    public func hash(into hasher: inout Hasher) { hasher.combine(parts.hash) }
}

extension HTTPOrigin: CustomStringConvertible {
    /// The origin as a URL without a path.
    public var description: String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
