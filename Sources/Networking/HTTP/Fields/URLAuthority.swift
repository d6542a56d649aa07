import Foundation

/// Host and port as they stand in a URL, with the host in the form that goes on the wire.
///
/// Foundation decodes the host of `host(percentEncoded:)`, ignores a port that is not a number it can hold, and takes
/// the brackets off what is no address; the text of the whole URL has them all.
struct URLAuthority {
    /// An international name in its ASCII form (punycode), an IPv6 address with its brackets; empty if the URL has no
    /// host.
    let host: String
    /// The digits after the colon; nil without a colon.
    let port: String?

    init(_ url: URL) {
        var text = url.absoluteString
        (host, port) = text.withUTF8 { bytes in
            guard let offsets = URLAuthority.offsets(in: bytes) else { return ("", nil) }
            func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
            return (part(offsets.host), offsets.port.map(part))
        }
    }

    /// Where host and port are in the bytes of a URL. (Bytes, because each request is checked.)
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
            case UInt8(ascii: "]"): colon = nil  // those before belong to an IPv6 address
            case UInt8(ascii: ":"): colon = end
            default: break
            }
            end += 1
        }
        return (start..<(colon ?? end), colon.map { ($0 + 1)..<end })
    }

    /// What is wrong with it, in words; nil if nothing is.
    var fault: String? {
        if let port, !port.isEmpty, UInt16(port) == nil { return "expected a port below 65536, found \(port)" }
        // libcurl up to 8.3 with a SOCKS proxy writes longer ones past the end of its memory.
        guard host.utf8.count <= 255 else { return "its host has more than 255 bytes" }
        guard host.utf8.first == UInt8(ascii: "[") else { return nil }
        let address = host.dropFirst().dropLast()
        let digits = address.prefix { $0 != "%" }  // the rest is the zone
        var parsed = in6_addr()
        guard host.last == "]", inet_pton(AF_INET6, String(digits), &parsed) == 1 else {
            return "expected an IPv6 address between the brackets, found \(address)"
        }
        return nil
    }
}

extension URL {
    /// For messages: neither query nor user and password.
    var withoutSecrets: String { URL.withoutSecrets(absoluteString) }

    /// A text that may be a URL, without query, fragment, user and password.
    static func withoutSecrets(_ text: String) -> String {
        let address = text.prefix { $0 != "?" && $0 != "#" }
        let start = address.range(of: "//")?.upperBound ?? address.startIndex
        let authority = address[start...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(address) }
        return address[..<start] + String(address[address.index(after: at)...])
    }
}
