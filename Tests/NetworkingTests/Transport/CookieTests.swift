import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Cookies")
struct CookieTests {
    private let clock = ManualClock(date: Date())

    private func jar() -> CookieJar { CookieJar(clock: clock.networkClock) }

    private func sent(_ jar: CookieJar, _ url: String) throws -> String? {
        jar.field(for: try #require(URL(string: url)))
    }

    private func keep(_ jar: CookieJar, _ fields: String..., from url: String) throws {
        var headers = HTTPHeaders()
        for field in fields { headers.append(HTTPHeader(.setCookie, field)) }
        jar.keep(headers, from: try #require(URL(string: url)))
    }

    @Test("Host, path, Secure and subdomains decide where a cookie goes, as RFC 6265 says")
    func matching() throws {
        let jar = jar()
        try keep(
            jar, "here=1; Path=/", "deep=2", "wide=3; Domain=example.com; Path=/", from: "http://www.example.com/a/b")
        try keep(jar, "safe=4; Secure; Path=/", from: "https://www.example.com/")
        #expect(try sent(jar, "https://www.example.com/a/c") == "deep=2; here=1; safe=4; wide=3")
        #expect(try sent(jar, "http://www.example.com/a") == "deep=2; here=1; wide=3")
        #expect(try sent(jar, "http://www.example.com/ab") == "here=1; wide=3")
        #expect(try sent(jar, "http://api.example.com/") == "wide=3")
        #expect(try sent(jar, "http://badexample.com/") == nil)
    }

    @Test("A cookie for somebody else's host, a top-level domain or from an insecure place is not taken")
    func refused() throws {
        let jar = jar()
        try keep(
            jar, "a=1; Domain=evil.example", "b=1; Domain=example", "c=1; Secure", "noequals", "=nameless",
            "d=1; Domain=0.0.1", from: "http://good.example/")
        #expect(jar.cookies.isEmpty)
        try keep(jar, "e=1; Domain=0.0.1", from: "http://127.0.0.1/")
        #expect(jar.cookies.isEmpty)
    }

    @Test("Max-Age wins over Expires, and what has ended is neither kept nor sent")
    func expiry() throws {
        let jar = jar()
        let past = "Wed, 21 Oct 2015 07:28:00 GMT"
        try keep(jar, "a=1; Max-Age=10; Expires=\(past)", "b=2; Expires=\(past)", "c=3", from: "http://x.example/")
        #expect(try sent(jar, "http://x.example/") == "a=1; c=3")
        clock.advance(by: .seconds(11))
        #expect(try sent(jar, "http://x.example/") == "c=3")
        try keep(jar, "c=; Max-Age=0", from: "http://x.example/")
        #expect(try sent(jar, "http://x.example/") == nil)
    }

    @Test("A later cookie of the name takes the earlier one's place")
    func replaced() throws {
        let jar = jar()
        try keep(jar, "a=1", from: "http://x.example/")
        try keep(jar, "a=2; Expires=Wed, 21 Oct 2099 07:28:00 GMT", "b=x=y", from: "http://x.example/")
        #expect(try sent(jar, "http://x.example/") == "a=2; b=x=y")
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
    }

    @Test(
        "The date of a cookie is read as browsers read it, whatever its zone and order (RFC 6265 section 5.1.1)",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 01-Jan-1970 00:00:01 GMT", 1),
            ("Thu, 01-Jan-70 00:00:01 UTC", 1), ("Fri, 31 Dec 1999 23:59:59 UTC", 946_684_799),
            ("2038 jan 19 03:14:07", 2_147_483_647), ("Tue Jan 19 03:14:07 2038", 2_147_483_647),
            ("January 19 38 03:14:07", 2_147_483_647), ("Thu, 30 Feb 2020 00:00:00 GMT", nil), ("tomorrow", nil),
            ("Thu, 01 Jan 1970", nil), ("01 Jan 1500 00:00:00", nil), ("", nil), ("1 jan \u{664}\u{665} 00:00:00", nil),
        ] as [(String, Int?)])
    func dates(text: String, seconds: Int?) {
        #expect(HTTPDate(ofCookie: text)?.secondsSince1970 == seconds)
    }

    @Test("While a cookie is renewed, nobody finds the jar without it")
    func renewed() async throws {
        let jar = jar()
        let url = try #require(URL(string: "https://x.example/"))
        let headers: HTTPHeaders = [.setCookie: "sid=1; Path=/"]
        jar.keep(headers, from: url)
        let writer = Task.detached { for _ in 0..<2_000 { jar.keep(headers, from: url) } }
        for _ in 0..<2_000 { #expect(jar.field(for: url) == "sid=1") }
        await writer.value
    }

    @Test("Each service has its own jar, over redirects: a cookie set on the way is sent on the next hop")
    func redirects() async throws {
        let stub = StubTransport()
        stub.on(.post, "/v1/login", .status(.seeOther, headers: [.location: "/v1/home", .setCookie: "sid=1; Path=/"]))
        stub.on(.get, "/v1/home", .status(.found, headers: [.location: "/v1/final", .setCookie: "sid=2; Path=/"]))
        stub.on(.get, "/v1/final", .status(.found, headers: [.location: "https://other.example/end"]))
        stub.on(.get, "/end", .text("done"))
        struct LogIn: Endpoint {
            let path: EndpointPath = "login"
            let method = HTTPMethod.post
        }
        let jar = jar()
        let service = NetworkService(environment: Fixture.environment, transport: stub, cookies: jar)
        let other = NetworkService(environment: Fixture.environment, transport: stub, cookies: self.jar())
        #expect(try await service.request(LogIn(), as: .string) == "done")
        #expect(stub.requests.map { $0.headers[.cookie] } == [nil, "sid=1", "sid=2", nil])
        _ = try await other.request(LogIn(), as: .string)
        #expect(stub.requests[4].headers[.cookie] == nil, "another service's jar is another one")
    }

    @Test("A Cookie field that the user set is left alone; without a jar none is kept")
    func ownField() async throws {
        struct Home: Endpoint {
            let path: EndpointPath = "home"
            var headers: HTTPHeaders = []
        }
        let stub = StubTransport { _ in .status(.ok, headers: [.setCookie: "sid=1; Path=/"]) }
        let service = NetworkService(environment: Fixture.environment, transport: stub, cookies: jar())
        for headers in [[], [], ["Cookie": "mine=1"]] as [HTTPHeaders] {
            try await service.request(Home(headers: headers))
        }
        #expect(stub.requests.map { $0.headers[.cookie] } == [nil, "sid=1", "mine=1"])
        let plain = NetworkService(environment: Fixture.environment, transport: stub)
        for _ in 0..<2 { try await plain.request(Home()) }
        #expect(stub.requests.suffix(2).allSatisfy { !$0.headers.contains(.cookie) })
    }
}
