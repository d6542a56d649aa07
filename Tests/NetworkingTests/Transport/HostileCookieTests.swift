import Foundation
import Testing

@testable import Networking

@Suite("Cookies of a hostile server", .endsInTime)
struct HostileCookieTests {
    @Test("Cookies that exceed 8,190 bytes together are not sent, those with short paths and the newest first")
    func longCookies() throws {
        let jar = CookieJar(publicSuffixes: CookieJar.PublicSuffixList(""))
        let value = String(repeating: "v", count: 4_000)
        try jar.keep("session=\(value)", "a=\(value)", "b=\(value)", "c=d", from: "http://x.example/")
        #expect(try jar.sent(to: "http://x.example/") == "session=\(value); a=\(value); c=d")
        let most = String(repeating: "v", count: 4_090)
        try jar.keep("long=\(most)", from: "http://y.example/")
        try jar.keep("e=\(most)", from: "http://y.example/")
        #expect(try jar.sent(to: "http://y.example/")?.utf8.count == 8_189)
    }

    @Test("Of a response, at most 50 Set-Cookie fields are read, and a full jar stays within its limit")
    func cookieFlood() throws {
        let jar = CookieJar(publicSuffixes: CookieJar.PublicSuffixList("example\n"))
        let url = try #require(URL(string: "http://a.shop.example/"))
        jar.keep(HTTPHeaders((0..<4_000).map { HTTPHeader(.setCookie, "n\($0)=1") }), from: url)
        #expect(jar.cookies.count == 50)
        for host in 0..<70 {
            let url = try #require(URL(string: "http://h\(host).other.example/"))
            jar.keep(HTTPHeaders((0..<50).map { HTTPHeader(.setCookie, "n\($0)=1") }), from: url)
        }
        #expect(jar.cookies.count == 3_000)
        #expect(try jar.sent(to: "http://a.shop.example/")?.isEmpty == false, "the other site removes its own cookies")
    }

    @Test("Long cookies of a sibling host leave room for the cookies of the host itself, and for those over https only")
    func siblingCookies() throws {
        let jar = CookieJar(publicSuffixes: CookieJar.PublicSuffixList("example\n"))
        let long = String(repeating: "v", count: 4_085)
        try jar.keep("session=1; Path=/; Secure", "plain=2; Path=/", from: "https://app.shop.example/")
        for name in ["a", "b"] {
            try jar.keep(
                "\(name)=\(long); Domain=shop.example; Path=/deep/er", from: "http://evil.shop.example/deep/er")
        }
        #expect(try jar.sent(to: "https://app.shop.example/deep/er") == "a=\(long); session=1; plain=2")
    }

    @Test("A site that fills the jar removes its own cookies, not those of other sites")
    func manyCookies() throws {
        let suffixes = CookieJar.PublicSuffixList("co.uk\n")
        let jar = CookieJar(publicSuffixes: suffixes)
        try jar.keep("session=1", from: "https://bank.co.uk/")
        for host in 0..<70 {
            for number in 0..<50 { try jar.keep("n\(number)=1", from: "https://h\(host).evil.co.uk/") }
        }
        #expect(jar.cookies.count == 3_000)
        #expect(try jar.sent(to: "https://bank.co.uk/") == "session=1")
        #expect(suffixes.site(of: "a.b.evil.co.uk") == "evil.co.uk" && suffixes.site(of: "co.uk") == "co.uk")
        #expect(suffixes.site(of: "127.0.0.1") == "127.0.0.1" && suffixes.site(of: "a.b") == "a.b")
    }

    private func cookie(_ name: String) -> Cookie {
        Cookie(
            name: name, value: "1", domain: "x.example", isHostOnly: true, path: "/", isSecure: false,
            isHTTPOnly: false, expires: nil)
    }

    @Test("Cookies of other code are ordered by the bytes of their names, because text needs n² steps for n marks")
    func orderOfNames() {
        var store = CookieStore()
        store.adopt([cookie("\u{E9}"), cookie("e\u{301}"), cookie("b")])
        #expect(store.cookies.map { Array($0.name.utf8) } == ["b", "e\u{301}", "\u{E9}"].map { Array($0.utf8) })
        store.adopt([cookie("a"), cookie("\u{E9}"), cookie("e\u{301}")])
        #expect(store.cookies.map(\.name).last == "a", "known cookies keep their place")
    }

    @Test("Of cookies that were never used, the oldest is removed first, in whatever order Foundation returns them")
    func unusedCookies() throws {
        var store = CookieStore()
        let cookies = (100..<150).map { cookie("n\($0)") }
        store.adopt(cookies)
        store.adopt(cookies.reversed())
        let url = try #require(URL(string: "http://x.example/"))
        let location = try #require(CookieLocation(url))
        let changes = store.keep(
            [cookie("new")], from: location, at: Date(), suffixes: CookieJar.PublicSuffixList(""))
        #expect(changes.flatMap(\.removed).map(\.name) == ["n100"])
    }
}
