import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One `Set-Cookie` field, read as [RFC 6265 section 5](https://www.rfc-editor.org/rfc/rfc6265#section-5) has it.
///
/// Foundation on Linux takes cookies for other hosts, and knows neither `Max-Age` nor the default path.
struct SetCookie {
    let name: String
    let value: String
    let domain: String
    /// Whether hosts below the domain get it, too.
    let includesSubdomains: Bool
    let path: String
    let isSecure: Bool
    /// When it ends; nil for the end of the session.
    let expires: Date?

    /// Reads a field; nil where it is none, or is for somebody else.
    init?(_ field: String, from url: URL, at now: Date) {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false).map { part in
            part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        guard let pair = parts.first, pair.count == 2, !pair[0].isEmpty, let host = url.host?.lowercased() else {
            return nil
        }
        var attributes: [String: String] = [:]
        for part in parts.dropFirst() { attributes[part[0].lowercased()] = part.count > 1 ? part[1] : "" }
        let named = (attributes["domain"] ?? "").lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "."))
        guard named.isEmpty || SetCookie.covers(named, host) else { return nil }
        // A name of one label would be everybody's; hosts of digits have no domains.
        guard named.isEmpty || named == host || named.contains(".") else { return nil }
        isSecure = attributes["secure"] != nil
        guard !isSecure || url.scheme?.lowercased() == "https" else { return nil }
        (name, value) = (pair[0], pair[1])
        includesSubdomains = !named.isEmpty && !SetCookie.isAddress(host)
        domain = named.isEmpty ? host : named
        path = attributes["path"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? SetCookie.defaultPath(url)
        if let seconds = attributes["max-age"].flatMap({ Double($0) }) {
            expires = now.addingTimeInterval(min(max(seconds, -1), 34_560_000))
        } else {
            expires = attributes["expires"].flatMap { HTTPDate(ofCookie: $0)?.date }
        }
    }

    /// The cookie as Foundation keeps it; nil where it has ended.
    func cookie(at now: Date) -> HTTPCookie? {
        guard expires.map({ $0 > now }) ?? true else { return nil }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: includesSubdomains ? ".\(domain)" : domain, .path: path,
        ]
        if isSecure { properties[.secure] = "TRUE" }
        if let expires { properties[.expires] = expires } else { properties[.discard] = "TRUE" }
        return HTTPCookie(properties: properties)
    }

    /// Whether this is another cookie's successor.
    func replaces(_ cookie: HTTPCookie) -> Bool {
        cookie.name == name && cookie.path == path
            && cookie.domain.trimmingCharacters(in: CharacterSet(charactersIn: ".")) == domain
    }

    /// Whether a domain is a host's own or one above it.
    static func covers(_ domain: String, _ host: String) -> Bool {
        host == domain || host.hasSuffix(".\(domain)") && !isAddress(host)
    }

    private static func isAddress(_ host: String) -> Bool {
        host.contains(":") || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || ($0 >= 0x30 && $0 <= 0x39) }
    }

    /// RFC 6265 section 5.1.4: the folder that the URL's path is in.
    private static func defaultPath(_ url: URL) -> String {
        let path = url.path(percentEncoded: true)
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
