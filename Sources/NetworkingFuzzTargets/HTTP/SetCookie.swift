import Foundation
import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension FuzzTarget {
    /// A `Set-Cookie` field, and the URL of its response. A stored cookie is valid in a request. It is sent only to
    /// URLs to which it applies, and does not change if it is received again.
    static let setCookie = FuzzTarget("set-cookie") { input in
        let field = input.text(0)
        let address = input.parts.count > 1 ? input.text(1) : "https://www.example.com/a/b"
        guard let url = URL(string: address) else { return }
        let now = Date(timeIntervalSince1970: 1_784_000_000)
        let clock = NetworkClock(ContinuousClock(), date: { now })
        let jar = CookieJar(publicSuffixes: suffixes, clock: clock)
        jar.keep([HTTPHeader(.setCookie, field)], from: url)
        for cookie in jar.cookies {
            try require(!cookie.name.isEmpty, "a cookie has no name")
            if let expires = cookie.expiresDate {
                try require(expires <= now.addingTimeInterval(34_560_000), "a cookie expires on \(expires)")
            }
            let host = (url.host ?? "").lowercased()
            let domain = cookie.domain.drop { $0 == "." }
            let isAbove = host == domain || host.hasSuffix(".\(domain)") || !host.utf8.allSatisfy { $0 < 0x80 }
            try require(isAbove, "\(host) sets a cookie for \(domain)")
        }
        guard let sent = jar.field(for: url) else { return }
        var request = HTTPRequest(.get, url)
        request.headers.append(HTTPHeader(.cookie, sent))
        do { try request.validate() } catch {
            // The request may be refused because of its host, but not because of the `Cookie` field.
            try requireReason(error, .invalidRequest)
            try require(!"\(error)".contains("header"), "the cookie cannot be sent: \(sent.debugDescription)")
        }
        try require(Bytes.isFieldValue(sent), "the Cookie field is not a field value: \(sent.debugDescription)")
        try requireScope(jar, url, field)
        // Names that begin with `__` may require attributes, and a `Cookie` field has no attributes.
        guard !sent.utf8.starts(with: "__".utf8) else { return }
        let second = CookieJar(publicSuffixes: suffixes, clock: clock)
        second.keep([HTTPHeader(.setCookie, sent)], from: url)
        try require(second.field(for: url) ?? "", equals: sent, "the cookie changes if it is received again")
    }

    /// Only two suffixes, because the list of the system differs from machine to machine.
    private static let suffixes: CookieJar.PublicSuffixList? = {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("fuzz-suffixes-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try? Data("com\nco.uk\n".utf8).write(to: file)
        return try? CookieJar.PublicSuffixList(contentsOf: file)
    }()

    private static func requireScope(_ jar: CookieJar, _ url: URL, _ field: String) throws {
        for other in ["https://other.example.org/a/b", "https://com/a/b", "https://co.uk/"] {
            guard let other = URL(string: other), other.host != url.host?.lowercased() else { continue }
            try require(jar.field(for: other) == nil, "the cookie is sent to \(other)")
        }
        guard jar.cookies.allSatisfy(\.isSecure), let scheme = url.scheme, scheme == "https",
            let plain = URL(string: "http" + url.absoluteString.dropFirst(scheme.count)), !jar.cookies.isEmpty
        else { return }
        try require(jar.field(for: plain) == nil, "a Secure cookie is sent over http")
    }
}
