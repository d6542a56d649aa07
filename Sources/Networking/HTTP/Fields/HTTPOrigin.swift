public import Foundation

/// The scheme, host and port of a URL, [RFC 9110 section
/// 4.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.1). A redirect to another origin removes credentials.
public struct HTTPOrigin: Hashable, Sendable {
    /// The storage of an origin. The storage is a class, so copying an origin copies only a reference. An origin is
    /// created once per URL, but policies copy it and use it as a dictionary key for every request.
    private final class Parts: Sendable {
        let scheme: String
        let host: String
        let port: Int
        let isSecure: Bool
        let hash: Int

        init(scheme: String, host: String, port: Int) {
            self.scheme = scheme
            self.host = host
            self.port = port
            isSecure = scheme == "https"
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
    /// Whether the scheme is `https`.
    var isSecure: Bool { parts.isSecure }

    /// Returns the origin of a URL, or nil if the URL has no scheme or no host, or if its host has more than 1,024
    /// bytes.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host, !host.isEmpty, host.utf8.count <= 1_024 else {
            return nil
        }
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
        "\(scheme)://\(hostInURL):\(port)".onOneLine
    }

    private var hostInURL: String { host.contains(":") ? "[\(host)]" : host }

    /// The value of a `Host` field: the host, and the port unless it is the default port of the scheme.
    var authority: String { port == (scheme == "https" ? 443 : 80) ? hostInURL : "\(hostInURL):\(port)" }
}

/// The host and port of a URL. The host has the form in which it is sent.
///
/// This type parses the text of the whole URL, because Foundation loses information. Foundation decodes the host in
/// `host(percentEncoded:)`, ignores a port that is too large or not a number, and removes brackets even if they do not
/// contain an IP address.
struct URLAuthority {
    /// The host. An international name is in its ASCII form (Punycode); an IPv6 address has its brackets. Empty if the
    /// URL has no host.
    let host: String
    /// The text after the colon; nil if there is no colon.
    let port: String?

    init(_ url: URL) {
        var text = url.absoluteString
        (host, port) = text.withUTF8 { bytes in
            guard let offsets = URLAuthority.offsets(in: bytes) else { return ("", nil) }
            func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
            return (part(offsets.host), offsets.port.map(part))
        }
    }

    /// Returns the offsets of host and port in the bytes of a URL. The method works on bytes, because it runs for every
    /// request.
    private static func offsets(in bytes: UnsafeBufferPointer<UInt8>) -> (host: Range<Int>, port: Range<Int>?)? {
        guard let scheme = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[scheme...].starts(with: "://".utf8) else {
            return nil
        }
        var start = scheme + 3
        var end = start
        var colon: Int?
        search: while end < bytes.count {
            switch bytes[end] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break search
            case UInt8(ascii: "@"): (start, colon) = (end + 1, nil)
            case UInt8(ascii: "]"): colon = nil  // the colons before it belong to an IPv6 address
            case UInt8(ascii: ":"): colon = end
            default: break
            }
            end += 1
        }
        return (start..<(colon ?? end), colon.map { ($0 + 1)..<end })
    }

    /// A description of the error in the host or port; nil if both are valid.
    var fault: String? {
        if let port, !port.isEmpty, UInt16(port) == nil { return "expected a port below 65536, found \(port)" }
        // With a SOCKS proxy, libcurl up to 8.3 writes a longer host name past the end of its buffer.
        guard host.utf8.count <= 255 else { return "its host has more than 255 bytes" }
        guard host.utf8.first == UInt8(ascii: "[") else { return nil }
        let address = host.dropFirst().dropLast()
        let digits = address.prefix { $0 != "%" }  // the zone identifier follows the percent sign
        var parsed = in6_addr()
        guard host.last == "]", inet_pton(AF_INET6, String(digits), &parsed) == 1 else {
            return "expected an IPv6 address between the brackets, found \(address)"
        }
        return nil
    }
}

extension URL {
    /// The URL without user, password, query and fragment, for messages.
    var withoutSecrets: String { URL.withoutSecrets(absoluteString) }

    /// Returns a text without user, password, query and fragment. The text need not be a valid URL.
    static func withoutSecrets(_ text: String) -> String {
        let address = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let slashes = zip(address.indices, address.indices.dropFirst()).first {
            address[$0] == UInt8(ascii: "/") && address[$1] == UInt8(ascii: "/")
        }
        let start = slashes.map { address.index(after: $1) } ?? address.startIndex
        let authority = address[start...].prefix { $0 != UInt8(ascii: "/") }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return String(Substring(address)) }
        return String(Substring(address[..<start])) + String(Substring(address[at...].dropFirst()))
    }

    /// Returns a text without the user information of all URLs in it, and without everything after the first `?` or
    /// `#`. User information is the text between two slashes and an `@`, if no other slash comes before the `@`.
    ///
    /// Both methods work on bytes, because finding the previous character of a string can take time that is
    /// proportional to the length of the text.
    static func withoutUsers(_ text: String) -> String {
        var kept: [UInt8] = []
        var rest = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        while let byte = rest.popFirst() {
            kept.append(byte)
            guard byte == UInt8(ascii: "/"), kept.suffix(2).elementsEqual("//".utf8) else { continue }
            let authority = rest.prefix { $0 != UInt8(ascii: "/") }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { rest = rest[at...].dropFirst() }
        }
        return String(decoding: kept, as: UTF8.self)
    }
}

/// Functions for host names in canonical form: lower-case ASCII, with international labels in Punycode. In this form,
/// the host names of cookies are compared.
enum HostName {
    /// Returns the canonical form of a host name, or nil if Foundation cannot convert the name to ASCII.
    static func canonical(_ host: String) -> String? {
        guard !host.utf8.allSatisfy({ $0 < 0x80 }) else { return host.lowercased() }
        guard let name = URL(string: "http://\(host)/").map({ URLAuthority($0).host }), !name.isEmpty else {
            return nil
        }
        return name.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "%") } ? name.lowercased() : nil
    }

    /// Returns whether a host is a domain itself or one of its subdomains (RFC 6265 section 5.1.3). Both names must be
    /// canonical.
    static func matches(_ host: String, domain: String) -> Bool {
        guard host != domain else { return true }
        let start = host.utf8.count - domain.utf8.count
        guard start > 0, host.utf8.dropFirst(start).elementsEqual(domain.utf8) else { return false }
        return host.utf8.dropFirst(start - 1).first == UInt8(ascii: ".") && !isAddress(host)
    }

    /// Returns whether a host is an IP address: it contains a colon, or its last label is a number. No top-level domain
    /// is a number.
    static func isAddress(_ host: String) -> Bool {
        guard !host.utf8.contains(UInt8(ascii: ":")) else { return true }
        let last = host.utf8.split(separator: UInt8(ascii: ".")).last
        return last?.allSatisfy(HTTPGrammar.isDigit) ?? false
    }
}
