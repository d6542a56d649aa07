import Foundation

/// Functions for host names in the form that is compared for cookies: lower-case ASCII, with international labels in
/// Punycode.
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
        return last?.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }
}
