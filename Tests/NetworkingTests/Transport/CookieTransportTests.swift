import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Cookies of requests", .endsInTime)
struct CookieTransportTests {
    private let clock = ManualClock()
    private let jar: CookieJar

    init() {
        jar = CookieJar(publicSuffixes: CookieJar.PublicSuffixList(""), clock: clock.networkClock)
    }

    @Test("A cookie that a redirect sets is sent with the next request, but not by a service with another jar")
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
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.cookies = jar
        }
        let other = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.cookies = CookieJar()
        }
        #expect(try await service.request(LogIn(), as: .string) == "done")
        #expect(stub.requests.map { $0.headers[.cookie] } == [nil, "sid=1", "sid=2", nil])
        _ = try await other.request(LogIn(), as: .string)
        #expect(stub.requests[4].headers[.cookie] == nil, "another service has another jar")
    }

    @Test("A server cannot remove the cookies of others by redirecting to many sites that set cookies")
    func flooded() async throws {
        let stub = StubTransport()
        stub.on(nil, nil) { request in
            guard let number = Int(request.url.lastPathComponent), number < 70 else { return .text("done") }
            var headers: HTTPHeaders = [.location: "https://s\(number + 1).example/\(number + 1)"]
            for index in 0..<50 { headers.append(HTTPHeader(.setCookie, "c\(index)=1; Path=/")) }
            return .status(.found, headers: headers)
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.cookies = jar
            $0.redirects = .follow(limit: 100)
        }
        let home = try #require(URL(string: "https://api.example.com/"))
        jar.keep([.setCookie: "session=1; Path=/"], from: home)
        _ = try await service.request(.url("https://s1.example/1"), as: .string)
        #expect(jar.cookies.count == 3_000)
        #expect(jar.cookies(for: home).map(\.name) == ["session"])
        #expect(stub.requests.count == 70)
    }

    @Test("A redirect to a server does not make the server's own cookies foreign; foreign ones become its own")
    func foreignMark() throws {
        let home = try #require(URL(string: "https://api.example.com/"))
        jar.keep([.setCookie: "session=1; Path=/"], from: home)
        jar.keep([.setCookie: "session=2; Path=/"], from: home, isForeign: true)
        jar.keep([.setCookie: "other=1; Path=/"], from: home, isForeign: true)
        jar.keep([.setCookie: "other=2; Path=/"], from: home)
        for site in 0..<61 {
            let url = try #require(URL(string: "https://s\(site).example/"))
            for index in 0..<50 { jar.keep([.setCookie: "c\(index)=1; Path=/"], from: url, isForeign: true) }
        }
        #expect(jar.cookies(for: home).map(\.name) == ["session", "other"])
    }

    @Test("A Cookie field of the request is kept; without a jar no cookies are stored")
    func ownField() async throws {
        struct Home: Endpoint {
            let path: EndpointPath = "home"
            var headers: HTTPHeaders = []
        }
        let stub = StubTransport { _ in .status(.ok, headers: [.setCookie: "sid=1; Path=/"]) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.cookies = jar
        }
        for headers in [[], [], ["Cookie": "mine=1"]] as [HTTPHeaders] {
            try await service.request(Home(headers: headers))
        }
        #expect(stub.requests.map { $0.headers[.cookie] } == [nil, "sid=1", "mine=1"])
        let plain = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        for _ in 0..<2 { try await plain.request(Home()) }
        #expect(stub.requests.suffix(2).allSatisfy { !$0.headers.contains(.cookie) })
    }

    @Test("A redirect whose body is lost sets its cookie before it is followed")
    func redirectWithoutBody() async throws {
        let jar = CookieJar()
        let stub = StubTransport { request in
            if request.url.path == "/v1/target" { return .text(request.headers[.cookie] ?? "none") }
            let response = HTTPResponse(
                .found, headers: [.location: "/v1/target", .setCookie: "session=1; Path=/"], to: request)
            return .failure(NetworkError(.truncatedBody, request: request, response: response))
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.cookies = jar
            $0.retry = nil
        }
        #expect(try await service.request(UserEndpoint.open, as: .string) == "session=1")
    }
}
