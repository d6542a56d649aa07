import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension CookieJar {
    /// Stores the cookies of a response with these `Set-Cookie` fields.
    func keep(_ fields: String..., from url: String) throws {
        var headers = HTTPHeaders()
        for field in fields { headers.append(HTTPHeader(.setCookie, field)) }
        keep(headers, from: try #require(URL(string: url)))
    }

    /// Returns the `Cookie` field of a request to `url`.
    func sent(to url: String) throws -> String? {
        field(for: try #require(URL(string: url)))
    }
}

@Suite("Cookies", .endsInTime)
struct CookieTests {
    private let clock = ManualClock()
    private let jar: CookieJar

    init() {
        jar = CookieJar(publicSuffixes: CookieJar.PublicSuffixList(""), clock: clock.networkClock)
    }

    @Test("Host, path, Secure and subdomains decide which requests send a cookie (RFC 6265 section 5.4)")
    func matching() throws {
        try jar.keep(
            "here=1; Path=/", "deep=2", "wide=3; Domain=example.com; Path=/", from: "http://www.example.com/a/b")
        try jar.keep("safe=4; Secure; Path=/", from: "https://www.example.com/")
        #expect(try jar.sent(to: "https://www.example.com/a/c") == "deep=2; here=1; wide=3; safe=4")
        #expect(try jar.sent(to: "http://www.example.com/a") == "deep=2; here=1; wide=3")
        #expect(try jar.sent(to: "http://www.example.com/ab") == "here=1; wide=3")
        #expect(try jar.sent(to: "http://www.example.com") == "here=1; wide=3")
        #expect(try jar.sent(to: "http://api.example.com/") == "wide=3")
        #expect(try jar.sent(to: "http://badexample.com/") == nil)
        #expect(try jar.sent(to: "http://www.example.com.evil.example/") == nil)
    }

    @Test("A cookie for a foreign host, for a top-level domain, without a name, or Secure over http is refused")
    func refused() throws {
        try jar.keep(
            "a=1; Domain=evil.example", "b=1; Domain=example", "c=1; Secure", "noequals", "=nameless",
            "d=1; Domain=0.0.1", "e=1; Domain=www.good.example", "f=1; Domain=b\u{FC}cher.example",
            from: "http://good.example/")
        #expect(jar.cookies.isEmpty)
        try jar.keep("e=1; Domain=0.0.1", "f=1; Domain=1", from: "http://127.0.0.1/")
        #expect(jar.cookies.isEmpty)
    }

    @Test("A Domain equal to the host is accepted, even an address or a single label; only this host gets the cookie")
    func ownHost() throws {
        try jar.keep("a=1; Domain=localhost", from: "http://localhost/")
        try jar.keep("b=1; Domain=127.0.0.1", from: "http://127.0.0.1/")
        #expect(jar.cookies.map(\.domain) == ["localhost", "127.0.0.1"])
        #expect(try jar.sent(to: "http://localhost/") == "a=1")
        #expect(try jar.sent(to: "http://www.localhost/") == nil)
        #expect(try jar.sent(to: "http://127.0.0.1/") == "b=1")
    }

    @Test("Max-Age takes precedence over Expires; an expired cookie is neither stored nor sent")
    func expiry() throws {
        let past = "Wed, 21 Oct 2015 07:28:00 GMT"
        try jar.keep("a=1; Max-Age=10; Expires=\(past)", "b=2; Expires=\(past)", "c=3", from: "http://x.example/")
        #expect(try jar.sent(to: "http://x.example/") == "a=1; c=3")
        clock.advance(by: .seconds(10))
        #expect(try jar.sent(to: "http://x.example/") == "c=3")
        #expect(jar.cookies.map(\.name) == ["c"])
        try jar.keep("c=; Max-Age=0", from: "http://x.example/")
        #expect(try jar.sent(to: "http://x.example/") == nil)
    }

    @Test("A later cookie with the same name, domain and path replaces the earlier cookie")
    func replaced() throws {
        try jar.keep("a=1", from: "http://x.example/")
        try jar.keep("a=2; Expires=Wed, 21 Oct 2099 07:28:00 GMT", "b=x=y", from: "http://x.example/")
        #expect(try jar.sent(to: "http://x.example/") == "a=2; b=x=y")
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
    }

    @Test("An Expires in the past deletes the cookie, even if the hour has a single digit")
    func singleDigits() throws {
        try jar.keep("sid=1", from: "http://x.example/")
        try jar.keep("sid=; Expires=Thu, 01-Jan-1970 0:00:00 GMT", from: "http://x.example/")
        #expect(jar.cookies.isEmpty)
    }

    @Test("Cookies with equally long paths are sent in the order of creation; a replacement keeps its position")
    func order() throws {
        let url = "http://www.example.org/a/b"
        try jar.keep("z=1; Path=/", "sid=host; Path=/", "y=1; Path=/", "a=1; Path=/a", from: url)
        try jar.keep("sid=domain; Path=/; Domain=example.org", from: url)
        try jar.keep("z=2; Path=/", from: url)
        #expect(try jar.sent(to: url) == "a=1; z=2; sid=host; y=1; sid=domain")
        #expect(jar.cookies(for: try #require(URL(string: url))).map(\.name) == ["a", "z", "sid", "y", "sid"])
        try jar.keep("z=; Path=/; Max-Age=0", "z=3; Path=/", from: url)
        #expect(try jar.sent(to: url) == "a=1; sid=host; y=1; sid=domain; z=3")
    }

    @Test(
        "A Max-Age that is not an integer is ignored; zero and negative values delete the cookie",
        arguments: ["1e5", "0x10", "1.5", "+5", "inf", "nan", "-", "--1", "5 5", "\u{664}", ""])
    func notAnInteger(maxAge: String) throws {
        try jar.keep("a=1; Max-Age=\(maxAge)", "b=1; Max-Age=60; Max-Age=\(maxAge)", from: "http://x.example/")
        clock.advance(by: .seconds(59))
        #expect(try jar.sent(to: "http://x.example/") == "a=1; b=1")
        clock.advance(by: .seconds(3_600))
        #expect(try jar.sent(to: "http://x.example/") == "a=1")
        try jar.keep("a=; Max-Age=-\(UInt64.max)", from: "http://x.example/")
        #expect(jar.cookies.isEmpty)
    }

    @Test("A field with a control character is ignored, so that later requests can still be sent")
    func controlCharacters() throws {
        let set = "good=1; Path=/"
        try jar.keep(
            "bad=x\u{1}y", "bad=1; Path=/\u{7F}", "b\0d=1", "bad=1\r\nX-Evil: 1", set, from: "http://x.example/")
        #expect(jar.cookies.map(\.name) == ["good"])
        try jar.keep("tab=a\tb", from: "http://x.example/")
        let field = try #require(try jar.sent(to: "http://x.example/"))
        #expect(field == "good=1; tab=a\tb")
        #expect(HTTPGrammar.isFieldValue(field))
    }

    @Test("A response over http neither replaces, hides nor deletes a Secure cookie")
    func secureStays() throws {
        try jar.keep("sid=1; Secure; Path=/app; Domain=example.com", from: "https://www.example.com/")
        try jar.keep(
            "sid=evil; Path=/app; Domain=example.com", "sid=evil; Path=/app", "sid=evil; Path=/app/deep",
            "sid=; Path=/app; Domain=example.com; Max-Age=0", from: "http://www.example.com/")
        try jar.keep("sid=evil; Path=/app; Domain=example.com", from: "http://evil.example.com/")
        #expect(try jar.sent(to: "https://www.example.com/app/deep") == "sid=1")
        try jar.keep("other=1; Path=/app", "sid=root; Path=/", "sid=near; Path=/ap", from: "http://www.example.com/")
        #expect(try jar.sent(to: "https://www.example.com/app") == "sid=1; other=1; sid=root")
        try jar.keep("sid=2; Path=/app; Domain=example.com", from: "https://www.example.com/")
        #expect(try jar.sent(to: "http://www.example.com/app") == "sid=2; other=1; sid=root")
    }

    @Test("The protection of a Secure cookie ends when the cookie expires")
    func expiredSecure() throws {
        try jar.keep("sid=1; Secure; Max-Age=10", from: "https://example.com/")
        clock.advance(by: .seconds(10))
        try jar.keep("sid=2", from: "http://example.com/")
        #expect(try jar.sent(to: "http://example.com/") == "sid=2")
    }

    @Test("Name and path of a cookie are compared separately")
    func namesAndPaths() throws {
        try jar.keep("y=1; Path=/x", from: "http://x.example/")
        try jar.keep("xy=2; Path=/", from: "http://x.example/")
        #expect(try jar.sent(to: "http://x.example/x") == "y=1; xy=2")
        try jar.keep("Y=3; Path=/x", "\u{E9}=4; Path=/", "e\u{301}=5; Path=/", from: "http://x.example/")
        #expect(try jar.sent(to: "http://x.example/x") == "y=1; Y=3; xy=2; \u{E9}=4; e\u{301}=5")
    }

    @Test(
        "A cookie with the prefix __Secure- or __Host-, in upper or lower case, needs the prefix's attributes",
        arguments: [
            ("__Secure-a=1; Secure", true), ("__Secure-a=1", false), ("__SECURE-a=1; Path=/", false),
            ("__Host-a=1; Secure; Path=/", true), ("__Host-a=1; Secure", false), ("__Host-a=1; Path=/", false),
            ("__Host-a=1; Secure; Path=/deep", false), ("__Host-a=1; Secure; Path=/; Domain=x.example", false),
            ("__hOsT-a=1; Secure; Path=/; Domain=x.example", false), ("__Host-a=1; Secure; Path=/; Domain=", true),
            ("__Hosta=1", true),
        ])
    func prefixes(field: String, isAccepted: Bool) throws {
        try jar.keep(field, from: "https://x.example/deep/page")
        #expect(jar.cookies.count == (isAccepted ? 1 : 0))
        jar.removeAll()
        try jar.keep(field, from: "http://x.example/")
        #expect(jar.cookies.count == (field.hasPrefix("__Hosta") ? 1 : 0), "no Secure cookie is accepted over http")
    }

    @Test("A host is converted to lowercase ASCII before it is compared")
    func hosts() throws {
        try jar.keep("a=1; Domain=.XN--bcher-kva.Example; Path=/", from: "https://xn--bcher-kva.example/")
        for host in [
            "xn--bcher-kva.example", "www.XN--BCHER-KVA.example", "b%C3%BCcher.example", "B%C3%9CCHER.example",
        ] {
            #expect(try jar.sent(to: "https://\(host)/") == "a=1", "\(host)")
        }
        try jar.keep("b=1", from: "https://b%C3%BCcher.example/")
        #expect(jar.cookies.map(\.domain) == [".xn--bcher-kva.example", "xn--bcher-kva.example"])
    }

    @Test("HttpOnly is visible in the cookies of the jar; SameSite has no effect")
    func otherAttributes() throws {
        try jar.keep("a=1; HttpOnly", "b=1; SameSite=Strict; Partitioned", from: "http://x.example/")
        #expect(jar.cookies.map(\.isHTTPOnly) == [true, false])
        #expect(try jar.sent(to: "http://x.example/") == "a=1; b=1")
    }

    @Test("While a cookie is renewed, no request is sent without it")
    func renewed() async throws {
        let url = try #require(URL(string: "https://x.example/"))
        let headers: HTTPHeaders = [.setCookie: "sid=1; Path=/"]
        jar.keep(headers, from: url)
        let writer = Task.detached { [jar] in for _ in 0..<2_000 { jar.keep(headers, from: url) } }
        for _ in 0..<2_000 { #expect(jar.field(for: url) == "sid=1") }
        await writer.value
    }
}
