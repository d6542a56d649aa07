import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Limits of the cookie jar", .endsInTime)
struct CookieLimitTests {
    private let clock = ManualClock()
    private let jar: CookieJar

    init() {
        jar = CookieJar(publicSuffixes: CookieJar.PublicSuffixList(""), clock: clock.networkClock)
    }

    @Test("Cookies of more than 4,096 bytes (name and value) and attributes of more than 1,024 bytes are ignored")
    func lengths() throws {
        let long = String(repeating: "v", count: 4_093)
        try jar.keep("abc=\(long)", "abcd=\(long)", from: "http://x.example/")
        #expect(jar.cookies.map(\.name) == ["abc"])
        jar.removeAll()
        let path = "/" + String(repeating: "p", count: 1_023)
        try jar.keep(
            "a=1; Path=\(path)", "b=1; Path=\(path)p", "c=1; Path=/c; Path=\(path)p", from: "http://x.example/d/")
        #expect(jar.cookies.map(\.path) == [path, "/d", "/c"])
    }

    @Test("The attributes Expires and Max-Age can set an expiry at most 400 days ahead")
    func longestAge() throws {
        let url = "http://x.example/"
        try jar.keep(
            "a=1; Max-Age=999999999999999999999", "b=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", "c=1", from: url)
        clock.advance(by: .seconds(34_559_999))
        #expect(try jar.sent(to: url) == "a=1; b=1; c=1")
        clock.advance(by: .seconds(1))
        #expect(try jar.sent(to: url) == "c=1")
    }

    @Test(
        "A domain keeps 50 cookies: expired ones are dropped first, then the least recently used, and then Secure ones")
    func domainLimit() throws {
        try jar.keep("safe=1; Secure", "short=1; Max-Age=1", from: "https://x.example/")
        for number in 1...48 { try jar.keep("n\(number)=1; Path=/\(number)", from: "http://x.example/") }
        #expect(jar.cookies.count == 50)
        clock.advance(by: .seconds(1))
        try jar.keep("n49=1", from: "http://x.example/")
        #expect(jar.cookies.map(\.name) == ["safe"] + (1...49).map { "n\($0)" }, "the cookie `short` has expired")
        #expect(try jar.sent(to: "http://x.example/1") == "n1=1; n49=1")
        try jar.keep("n50=1", from: "http://x.example/")
        #expect(jar.cookies.map(\.name) == ["safe", "n1"] + (3...50).map { "n\($0)" }, "the cookie `n2` was not used")
        try jar.keep("other=1", from: "http://www.x.example/")
        #expect(jar.cookies.count == 51, "another domain")
    }

    @Test("A response over http cannot remove Secure cookies by filling up the domain")
    func flooding() throws {
        for number in 1...50 { try jar.keep("safe\(number)=1; Secure", from: "https://x.example/") }
        try jar.keep("flood=1", from: "http://x.example/")
        #expect(jar.cookies.allSatisfy(\.isSecure) && jar.cookies.count == 50)
    }

    @Test("A jar can have 3,000 cookies: expired cookies are removed first, then the least recently used cookies")
    func limit() throws {
        try jar.keep("first=1", from: "https://first.example/")
        try jar.keep("short=1; Max-Age=1", from: "https://short.example/")
        for number in 1...2_998 { try jar.keep("a=1", from: "https://h\(number).example/") }
        clock.advance(by: .seconds(1))
        try jar.keep("a=1", from: "https://h2999.example/")
        #expect(try jar.sent(to: "https://first.example/") == "first=1")
        try jar.keep("a=1", from: "https://h3000.example/")
        #expect(jar.cookies.count == 3_000)
        #expect(try jar.sent(to: "https://h1.example/") == nil)
        #expect(try jar.sent(to: "https://first.example/") == "first=1")
    }

    /// Returns a new Foundation storage and a jar that uses it.
    private func storedJar() throws -> (storage: HTTPCookieStorage, jar: CookieJar) {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        return (storage, CookieJar(storage, publicSuffixes: CookieJar.PublicSuffixList(""), clock: clock.networkClock))
    }

    @Test("A jar with a Foundation storage writes to it, and sends the cookies that other code has added")
    func storage() throws {
        let (storage, jar) = try storedJar()
        try jar.keep("b=1; Path=/", "a=1; Path=/", "wide=1; Domain=x.example; Path=/", from: "http://x.example/")
        #expect(
            Set(storage.cookies?.map { "\($0.domain) \($0.name)" } ?? []) == [
                "x.example a", "x.example b", ".x.example wide",
            ])
        let foreign = HTTPCookie(properties: [.name: "c", .value: "1", .domain: "x.example", .path: "/c"])
        storage.setCookie(try #require(foreign))
        #expect(try jar.sent(to: "http://x.example/c") == "c=1; b=1; a=1; wide=1")
        #expect(jar.cookies(for: try #require(URL(string: "http://x.example/c"))).first == foreign)
        try jar.keep("a=; Path=/; Max-Age=0", "b=2; Path=/", from: "http://x.example/")
        #expect(try jar.sent(to: "http://x.example/") == "b=2; wide=1")
        #expect(storage.cookies?.count == 3 && jar.cookies.count == 3)
        for cookie in storage.cookies ?? [] where cookie.name == "b" { storage.deleteCookie(cookie) }
        #expect(try jar.sent(to: "http://x.example/") == "wide=1")
        jar.removeAll()
        #expect(storage.cookies?.isEmpty == true)
    }

    @Test("An unsendable cookie that other code has stored stays in the Foundation storage")
    func unsendableInStorage() throws {
        let (storage, jar) = try storedJar()
        let properties: [HTTPCookiePropertyKey: Any] = [.value: "x\u{1}y", .domain: "x.example", .path: "/"]
        // Foundation on Apple platforms may refuse such a cookie itself.
        guard let foreign = HTTPCookie(properties: properties.merging([.name: "bad"]) { $1 }) else { return }
        storage.setCookie(foreign)
        try jar.keep("good=1", from: "http://x.example/")
        #expect(try jar.sent(to: "http://x.example/") == "good=1")
        #expect(storage.cookies?.count == 2)
    }

    @Test("Secure cookies in a Foundation storage are also protected from responses over http")
    func secureInStorage() throws {
        let (storage, jar) = try storedJar()
        try jar.keep("sid=1; Secure; HttpOnly", from: "https://x.example/")
        try jar.keep("sid=evil", "sid=; Max-Age=0", from: "http://x.example/")
        #expect(storage.cookies?.map(\.value) == ["1"] && storage.cookies?.first?.isHTTPOnly == true)
    }

    @Test("No description of a jar, or of a service that uses it, shows a cookie")
    func noCookieInTexts() throws {
        try jar.keep("session=hunter2", from: "https://a.example/")
        let service = NetworkService(environment: NetworkEnvironment()) {
            $0.cookies = jar
            $0.transport = StubTransport { _ in StubResponse() }
        }
        var text = "\(jar)"
        dump(jar, to: &text)
        dump(service, to: &text)
        #expect(!text.contains("hunter2"))
        #expect(text.contains("1 cookie"))
    }
}
