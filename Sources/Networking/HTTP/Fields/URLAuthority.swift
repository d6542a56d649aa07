import Foundation

/// The host and port as a URL contains them. The host is in the form that is sent.
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
        let address = text.prefix { $0 != "?" && $0 != "#" }
        let start = address.range(of: "//")?.upperBound ?? address.startIndex
        let authority = address[start...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(address) }
        return address[..<start] + String(address[address.index(after: at)...])
    }
}
