import Foundation

/// Host and port as they stand in a URL, with the host in the form that goes on the wire.
///
/// Foundation decodes the host of `host(percentEncoded:)`, ignores a port that is not a number it can hold, and takes
/// the brackets off what is no address; the text of the whole URL has them all.
struct URLAuthority {
    /// An international name in its ASCII form (punycode), an IPv6 address with its brackets; empty if the URL has no
    /// host.
    let host: Substring
    /// The digits after the colon; nil without a colon.
    let port: Substring?

    init(_ url: URL) {
        let text = url.absoluteString
        guard let start = text.range(of: "://")?.upperBound else {
            (host, port) = ("", nil)
            return
        }
        var authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        let end = authority.first == "[" ? authority.firstIndex(of: "]") ?? authority.startIndex : authority.startIndex
        let colon = authority[end...].lastIndex(of: ":")
        host = colon.map { authority[..<$0] } ?? authority
        port = colon.map { authority[authority.index(after: $0)...] }
    }

    /// What is wrong with it, in words; nil if nothing is.
    var fault: String? {
        if let port, !port.isEmpty, UInt16(port) == nil { return "expected a port below 65536, found \(port)" }
        // libcurl up to 8.3 with a SOCKS proxy writes longer ones past the end of its memory.
        guard host.utf8.count <= 255 else { return "its host has more than 255 bytes" }
        guard host.first == "[" else { return nil }
        let address = host.dropFirst().dropLast()
        let digits = address.prefix { $0 != "%" }  // the rest is the zone
        var parsed = in6_addr()
        guard host.last == "]", inet_pton(AF_INET6, String(digits), &parsed) == 1 else {
            return "expected an IPv6 address between the brackets, found \(address)"
        }
        return nil
    }
}
