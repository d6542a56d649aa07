import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Public suffixes of cookies", .endsInTime)
struct PublicSuffixTests {
    private static let text = """
        // ===BEGIN ICANN DOMAINS===
        com
        uk
        co.uk   A comment may follow a blank.
        *.ck
        !www.ck
        jp
        *.kobe.jp
        !city.kobe.jp\r
        公司.cn
        食狮.公司.cn
        // ===BEGIN PRIVATE DOMAINS===
        github.io
        """

    private func list() throws -> CookieJar.PublicSuffixList {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).dat")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(Self.text.utf8).write(to: file)
        return try CookieJar.PublicSuffixList(contentsOf: file)
    }

    @Test(
        "Rules, wildcards, exceptions and both sections apply; without a rule, a single label is a public suffix",
        arguments: [
            ("com", true), ("example.com", false), ("co.uk", true), ("uk", true), ("shop.co.uk", false),
            ("ac.uk", false),
            ("ck", true), ("any.ck", true), ("www.ck", false), ("a.www.ck", false), ("a.any.ck", false),
            ("c.kobe.jp", true), ("b.c.kobe.jp", false), ("city.kobe.jp", false), ("x.city.kobe.jp", false),
            ("github.io", true), ("me.github.io", false), ("io", true), ("nothing.unknown", false), ("unknown", true),
            ("xn--55qx5d.cn", true), ("xn--85x722f.xn--55qx5d.cn", true), ("a.xn--55qx5d.cn", false), ("co.uk.", true),
        ])
    func algorithm(domain: String, isSuffix: Bool) throws {
        #expect(try list().contains(domain) == isSuffix)
    }

    @Test("A cookie for a public suffix is refused, unless the suffix is the host; then only this host gets the cookie")
    func refused() throws {
        let jar = CookieJar(publicSuffixes: try list(), clock: ManualClock().networkClock)
        try jar.keep(
            "a=1; Domain=co.uk", "b=1; Domain=.CO.UK", "c=1; Domain=uk", "d=1; Domain=shop.co.uk",
            from: "https://www.shop.co.uk/")
        #expect(jar.cookies.map(\.name) == ["d"])
        try jar.keep("e=1; Domain=github.io", from: "https://github.io/")
        try jar.keep("f=1; Domain=github.io", from: "https://me.github.io/")
        #expect(jar.cookies.map(\.domain) == [".shop.co.uk", "github.io"])
        #expect(try jar.sent(to: "https://github.io/") == "e=1")
        #expect(try jar.sent(to: "https://me.github.io/") == nil)
    }

    @Test("Without a list, only domains with a single label are refused")
    func withoutList() throws {
        let jar = CookieJar(publicSuffixes: CookieJar.PublicSuffixList(""), clock: ManualClock().networkClock)
        try jar.keep("a=1; Domain=co.uk", "b=1; Domain=uk", "c=1; Domain=uk.", from: "https://shop.co.uk/")
        #expect(jar.cookies.map(\.domain) == [".co.uk"])
    }

    @Test("A list that cannot be read is an error")
    func missing() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).dat")
        #expect(throws: (any Error).self) { try CookieJar.PublicSuffixList(contentsOf: file) }
    }

    @Test(
        "An international host is compared as punycode (RFC 3492)",
        arguments: [
            ("example.COM", "example.com"), ("b\u{FC}cher.example", "xn--bcher-kva.example"),
            ("B\u{DC}CHER.example", "xn--bcher-kva.example"), ("bu\u{308}cher.example", "xn--bcher-kva.example"),
            ("stra\u{DF}e.de", "xn--strae-oqa.de"), ("食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
            ("рф", "xn--p1ai"), ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"), ("☃.net", "xn--n3h.net"),
            ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"), ("::1", "::1"),
        ])
    func punycode(host: String, canonical: String) {
        #expect(HostName.canonical(host) == canonical)
    }

    @Test("A label that is longer than DNS allows is not a host name")
    func longLabel() {
        #expect(HostName.canonical(String(repeating: "\u{10FFFF}", count: 64)) == nil)
    }
}
