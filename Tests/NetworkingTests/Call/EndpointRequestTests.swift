import Foundation
import Testing

@testable import Networking

@Suite("Creating a request from an endpoint", .endsInTime)
struct EndpointRequestTests {
    private struct Call: Endpoint {
        var base: String?
        var path: EndpointPath = ""
        var query: URLQuery = [:]
        var headers: HTTPHeaders = [:]
        var baseURL: URL { base.flatMap { URL(string: $0) } ?? NetworkEnvironment.noBaseURL }
    }

    private func url(_ call: Call, _ environment: NetworkEnvironment) throws -> String {
        try EndpointRequest(endpoint: call, environment: CopyOnWrite(environment)).make(RequestSettings()).url
            .absoluteString
    }

    private func url(base: String, _ path: EndpointPath, _ query: URLQuery = [:]) throws -> String {
        try url(Call(path: path, query: query), NetworkEnvironment(baseURL: URL(string: base)))
    }

    @Test(
        "The base URL and the path are joined with exactly one slash", .row("R-03"),
        arguments: ["https://a.example/v1", "https://a.example/v1/", "https://a.example/v1//"], ["users/7", "/users/7"])
    func joining(base: String, path: String) throws {
        #expect(try url(base: base, EndpointPath(verbatim: path)) == "https://a.example/v1/users/7")
    }

    @Test("A base URL can have no path, a port, an IPv6 address or an escaped path")
    func bases() throws {
        #expect(try url(base: "https://a.example", "x") == "https://a.example/x")
        #expect(try url(base: "http://127.0.0.1:8080/", "x") == "http://127.0.0.1:8080/x")
        #expect(try url(base: "http://[::1]:8080", "x") == "http://[::1]:8080/x")
        #expect(try url(base: "https://a.example/a%20b", "x") == "https://a.example/a%20b/x")
        #expect(try url(base: "https://a.example", "") == "https://a.example")
    }

    @Test(
        "A base URL with dot segments is refused; an IPv6 host is written with brackets",
        arguments: ["https://a.example/v1/../v2", "https://a.example/./v1", "https://a.example/%2E%2e/v1"])
    func dots(base: String) throws {
        let error = #expect(throws: NetworkError.self) { try url(base: base, "x") }
        #expect(error?.reason?.hasPrefix("base URL: its path has the segment \".") == true, "\(error?.reason ?? "")")
        let local = try #require(URL(string: "http://[::1]:8080/x"))
        #expect(HTTPRequest(.get, local).description == "GET [::1]:8080/x")
    }

    @Test("An interpolated value is escaped, stays within one path segment and cannot change the path")
    func interpolation() throws {
        let id = "a/b?c#d%e f"
        #expect(
            try url(base: "https://a.example", "users/\(id)/x") == "https://a.example/users/a%2Fb%3Fc%23d%25e%20f/x")
        let name = "grüß 日本"
        #expect(
            try url(base: "https://a.example", "f-\(name).txt")
                == "https://a.example/f-gr%C3%BC%C3%9F%20%E6%97%A5%E6%9C%AC.txt")
        #expect(
            try url(base: "https://a.example", EndpointPath(segments: ["a/b", "c"])) == "https://a.example/a%2Fb/c")
        let number = 7
        let uuid = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(
            try url(base: "https://a.example", "\(number)/\(uuid)")
                == "https://a.example/7/e621e1f8-c36c-495a-93fc-0c247a3e6e5f")
    }

    @Test(
        "Dot segments, empty interpolated segments and queries in a path are refused before sending",
        arguments: ["..", ".", "%2e%2E", ""])
    func escaping(id: String) {
        let path: EndpointPath = id.contains("%") ? EndpointPath(verbatim: "users/\(id)") : "users/\(id)"
        #expect(
            #expect(throws: NetworkError.self) { _ = try url(base: "https://a.example", path) }?.kind == .invalidRequest
        )
        let error = #expect(throws: NetworkError.self) { _ = try url(base: "https://a.example", "users?page=1") }
        #expect(error?.description.contains("query") == true)
    }

    @Test("Escapes in a literal are kept, and characters that a path cannot contain are escaped")
    func literals() throws {
        #expect(
            try url(base: "https://a.example", "a%20b/c d/100%/é;v=1")
                == "https://a.example/a%20b/c%20d/100%25/%C3%A9;v=1")
    }

    @Test("Query items keep their order, and + & = # ? are escaped; the base URL's query is kept", .row("L37"))
    func query() throws {
        let page: Int? = nil
        let query: URLQuery = ["b": "1+1=2&x#y?", "a": 2, "a": true, "page": page, "grüß": " "]
        #expect(
            try url(base: "https://a.example/v1?key=k%2B", "x", query)
                == "https://a.example/v1/x?key=k%2B&b=1%2B1%3D2%26x%23y%3F&a=2&a=true&gr%C3%BC%C3%9F=%20")
        #expect(URLQuery([URLQuery.Item("debug", nil)]).percentEncoded == "debug")
    }

    @Test("The endpoint's values, including its base URL, override those of the environment")
    func environment() throws {
        let environment = NetworkEnvironment(
            baseURL: URL(string: "https://a.example"), pathPrefix: "api/v2", headers: ["X-A": "1", "X-B": "1"],
            query: ["lang": "en"])
        let request = try EndpointRequest(
            endpoint: Call(path: "users", query: ["q": "x"], headers: ["x-b": "2"]),
            environment: CopyOnWrite(environment)
        ).make(RequestSettings())
        #expect(request.url.absoluteString == "https://a.example/api/v2/users?lang=en&q=x")
        #expect(request.headers["X-A"] == "1" && request.headers["X-B"] == "2")
        #expect(
            try url(Call(base: "http://b.example:81/z", path: "x"), NetworkEnvironment(baseURL: environment.baseURL))
                == "http://b.example:81/z/x")
        #expect(
            try url(Call(base: "/sub", path: "x"), NetworkEnvironment(baseURL: environment.baseURL))
                == "https://a.example/sub/x")
    }

    @Test(
        "No error text about an invalid base URL shows the user, the password or the query",
        arguments: ["ftp://ada:hush@a.example/?k=hush", "//ada:hush@a.example/?k=hush"])
    func secrets(base: String) {
        let error = #expect(throws: NetworkError.self) {
            _ = try url(Call(base: base, path: "x"), NetworkEnvironment())
        }
        #expect(error?.description.contains("hush") == false)
    }

    @Test("The prefix is added to a path, unless the path already begins with all segments of the prefix", .row("P-06"))
    func prefix() throws {
        let environment = NetworkEnvironment(baseURL: URL(string: "https://a.example"), pathPrefix: "api")
        #expect(try url(Call(path: "api/x"), environment) == "https://a.example/api/x")
        #expect(try url(Call(path: "apis/x"), environment) == "https://a.example/api/apis/x")
    }

    @Test("Every property of an endpoint except the path has a default", .row("R-02"))
    func defaults() throws {
        struct Bare: Endpoint { let path: EndpointPath = "x" }
        let endpoint = Bare()
        #expect(endpoint.method == .get && endpoint.body.isEmpty && endpoint.headers.isEmpty && endpoint.query.isEmpty)
        #expect(
            endpoint.authorizationType == .inherited && endpoint.error(for: .notFound) == nil
                && endpoint.error(for: URLError.Code.timedOut) == nil)
    }

    @Test(
        "The environment's headers are sent with every request; the request's headers override them",
        .row("N-01", "N-02", "N-03")
    )
    func environmentHeaders() throws {
        let environment = NetworkEnvironment(
            baseURL: URL(string: "https://a.example"),
            headers: [.accept: "application/json", .contentType: "application/json"])
        let request = try EndpointRequest(
            endpoint: Call(path: "x", headers: [.accept: "text/plain"]), environment: CopyOnWrite(environment)
        ).make(RequestSettings())
        #expect(request.headers[.accept] == "text/plain" && request.headers[.contentType] == "application/json")
    }

    @Test("A request can be created from a method, a URL, headers and a body, without an endpoint", .row("P-01"))
    func bareRequest() throws {
        var request = HTTPRequest(
            .put, try #require(URL(string: "https://a.example/x?y=1")), headers: ["X-A": "1"], body: .string("t"))
        request.headers["X-A"] = "2"
        #expect(request.method == .put && request.url.host == "a.example" && request.allHeaders["X-A"] == "2")
        #expect(request.description == "PUT a.example/x")
    }

    @Test("An endpoint's base URL and path are read once; if the URL changes later, no other server gets the secrets")
    func readOnce() throws {
        struct Fickle: Endpoint {
            let reads: Box<Int>
            let paths: Box<Int>
            var baseURL: URL {
                reads.change { $0 += 1 }
                return reads.value.isMultiple(of: 2)
                    ? Fixture.environment.baseURL ?? NetworkEnvironment.noBaseURL
                    : URL(string: "https://other.example") ?? NetworkEnvironment.noBaseURL
            }
            var path: EndpointPath {
                paths.change { $0 += 1 }
                return "x"
            }
        }
        let environment = NetworkEnvironment(
            baseURL: Fixture.environment.baseURL, headers: [.authorization: "secret"])
        let endpoint = Fickle(reads: Box(0), paths: Box(0))
        let request = try EndpointRequest(endpoint: endpoint, environment: CopyOnWrite(environment)).make(
            RequestSettings(of: endpoint).over(.standard))
        #expect(endpoint.reads.value == 1 && endpoint.paths.value == 1)
        #expect(request.url.host == "other.example" && request.headers.isEmpty)
    }

    @Test("A path prefix is added to a path, unless the literal text of the path begins with the prefix")
    func prefixes() throws {
        func url(_ prefix: EndpointPath, _ path: EndpointPath) throws -> String {
            struct Plain: Endpoint { let path: EndpointPath }
            let environment = NetworkEnvironment(baseURL: URL(string: "https://a.example"), pathPrefix: prefix)
            return try EndpointRequest(endpoint: Plain(path: path), environment: CopyOnWrite(environment))
                .make(RequestSettings()).url.absoluteString
        }
        let name = "api"
        #expect(try url("api", "\(name)/x") == "https://a.example/api/api/x")
        #expect(try url("api", "api/x") == "https://a.example/api/x")
        #expect(try url("api", "api") == "https://a.example/api")
        #expect(try url("api", "api\(name)/x") == "https://a.example/api/apiapi/x")
        #expect(try url("/v1/", "users") == "https://a.example/v1/users")
        #expect(try url("/v1/", "v1/users") == "https://a.example/v1/users")
    }
}
