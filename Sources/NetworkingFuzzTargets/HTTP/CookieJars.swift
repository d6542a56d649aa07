import Foundation
import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension FuzzTarget {
    /// Many cookies of many hosts. Each line has a URL and a `Set-Cookie` field, in which `#` stands for the number of
    /// the line. The jar keeps at most 3,000 cookies, and sends at most 8,190 bytes to each of the hosts.
    static let cookieJars = FuzzTarget("cookie-jars", count: 100_000) { input in
        let clock = NetworkClock(ContinuousClock(), date: { Date(timeIntervalSince1970: 1_784_000_000) })
        let jar = CookieJar(publicSuffixes: CookieJar.PublicSuffixList("com"), clock: clock)
        var last: URL?
        for (number, line) in input.bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            let text = String(decoding: line, as: UTF8.self).replacingOccurrences(of: "#", with: "\(number)")
            let parts = text.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let url = URL(string: String(parts[0])) else { continue }
            jar.keep([HTTPHeader(.setCookie, String(parts[1]))], from: url)
            last = url
        }
        try require(jar.cookies.count <= 3_000, "the jar has \(jar.cookies.count) cookies")
        guard let last, let sent = jar.field(for: last) else { return }
        try require(sent.utf8.count <= 8_190, "the Cookie field has \(sent.utf8.count) bytes")
        try require(Bytes.isFieldValue(sent), "the Cookie field is not a field value: \(sent.debugDescription)")
    }
}
