import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests for defects that a review found and that must stay fixed.
@Suite("Redirects of calls", .endsInTime)
struct RedirectRuleTests {
    private enum Order: Endpoint {
        case place
        case poll

        var path: EndpointPath { "orders" }
        var method: HTTPMethod { self == .place ? .post : .get }
        var authorizationType: AuthorizationType { .bearer }
    }

    /// Returns a stub that redirects POST /orders to GET /orders/1, which fails with `status`.
    private func redirecting(to status: HTTPStatus) -> StubTransport {
        let stub = StubTransport()
        stub.on(.post, "/v1/orders", .status(.seeOther, headers: [.location: "/orders/1"]))
        stub.on(.get, "/orders/1", .status(status))
        return stub
    }

    private func posts(_ stub: StubTransport) -> Int { stub.requests.filter { $0.method == .post }.count }

    @Test("A POST that a redirect changed to a GET is not sent again if the GET fails")
    func redirectedPost() async throws {
        let stub = redirecting(to: .serviceUnavailable)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([RetryErrorHandler(RetryPolicy(retries: 3))])
        }
        let error = await Fixture.failure { try await service.request(Order.place) }
        #expect((error as? NetworkError)?.status == .serviceUnavailable)
        #expect(posts(stub) == 1)
    }

    @Test("A POST that a redirect changed to a GET is not sent again if the token of the GET is refused")
    func redirectedPostAndToken() async throws {
        let stub = redirecting(to: .unauthorized)
        let session = AccessTokenSupervisor(token: AccessToken("stale"), clock: Fixture.stillClock) { _ in
            AccessToken("fresh")
        }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        _ = await Fixture.failure { try await service.request(Order.place) }
        #expect(posts(stub) == 1)
    }

    @Test("A redirect to another origin removes Host; a changed method removes conditional header fields and Range")
    func boundFields() throws {
        let url = try #require(URL(string: "https://a.example/x"))
        var request = HTTPRequest(
            .post, url, headers: ["Host": "virtual.example", "If-Match": "\"1\"", "Range": "bytes=0-"])
        request.body = .string("text")
        let response = HTTPResponse(.seeOther, headers: [.location: "https://b.example/y"], to: request)
        guard let next = try Redirect.request(after: response) else { return #expect(Bool(false), "not followed") }
        #expect(next.headers.isEmpty)
    }

    @Test(
        "A redirect from https to http is refused", .row("L2"), arguments: ["http://a.example/y", "HTTP://a.example/"])
    func downgrade(location: String) throws {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/x")))
        let error = #expect(throws: NetworkError.self) {
            _ = try Redirect.request(after: HTTPResponse(.found, headers: [.location: location], to: request))
        }
        #expect(error?.kind == .redirectRefused)
    }
}

extension RedirectRuleTests {
    private func next(
        _ method: HTTPMethod, _ url: String, headers: HTTPHeaders = [], to location: String
    ) throws -> HTTPRequest? {
        let request = HTTPRequest(method, try #require(URL(string: url)), headers: headers)
        return try Redirect.request(
            after: HTTPResponse(.temporaryRedirect, headers: [.location: location], to: request))
    }

    @Test(
        "User and password in a Location are dropped, because a server must not choose the credentials of the client",
        arguments: [
            ("https://a.example/x", "https://u:p@a.example/y", "https://a.example/y"),
            ("https://a.example/x", "https://u:p@b.example/y", "https://b.example/y"),
            ("https://a.example/x", "//u@b.example/y#z", "https://b.example/y#z"),
            ("https://u:p@a.example/x", "https://u:q@a.example/y", "https://a.example/y"),
            ("https://u:p@a.example/x", "https://u:p@b.example/y", "https://b.example/y"),
            ("https://u:p@a.example/x", "/y", "https://u:p@a.example/y"),
        ])
    func userInformation(url: String, location: String, target: String) throws {
        #expect(try next(.get, url, to: location)?.url.absoluteString == target)
    }

    @Test("Conditions, Origin and TE of the first request do not go to another origin; Range and If-Range do")
    func fieldsOfTheFirstOrigin() throws {
        let headers: HTTPHeaders = [
            .ifNoneMatch: "\"1\"", .ifMatch: "\"1\"", .ifModifiedSince: "x", .ifUnmodifiedSince: "x",
            "Origin": "https://app.example", "TE": "trailers", .range: "bytes=5-", .ifRange: "\"1\"", .accept: "*/*",
        ]
        let there = try #require(try next(.get, "https://a.example/x", headers: headers, to: "https://b.example/y"))
        #expect(there.headers.map(\.name) == [.range, .ifRange, .accept])
        #expect(try next(.get, "https://a.example/x", headers: headers, to: "/y")?.headers == headers)
    }

    @Test("A redirect to another origin is refused if the request must not be sent without its condition")
    func conditions() throws {
        for name in [.ifMatch, .ifNoneMatch, .ifUnmodifiedSince, "If"] as [HTTPHeader.Name] {
            let error = #expect(throws: NetworkError.self) {
                try next(.put, "https://a.example/x", headers: [name: "*"], to: "https://b.example/y")
            }
            #expect(error?.kind == .redirectRefused)
            #expect(error?.reason?.hasSuffix("\(name) must not be sent to another origin") == true)
            #expect(try next(.put, "https://a.example/x", headers: [name: "*"], to: "/y")?.headers[name] == "*")
        }
    }

    @Test("`Depth` and `Overwrite` go to another origin, because the request would mean something else without them")
    func webDAV() throws {
        let headers: HTTPHeaders = ["Depth": "0", "Overwrite": "F"]
        #expect(
            try next("PROPFIND", "https://a.example/x", headers: headers, to: "https://b.example/y")?.headers == headers
        )
    }

    @Test("A closure that keeps a POST sends its whole body again, and is refused if the body cannot be read again")
    func keptPost() async throws {
        let stub = StubTransport()
        stub.on(.post, "/v1/a", .status(.movedPermanently, headers: [.location: "/v1/b"]))
        stub.on(.post, "/v1/b", .text("done"))
        let policy = RedirectPolicy.deciding { next, response in
            var next = next
            (next.method, next.body) = (response.request.method, response.request.body)
            return next
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.redirects = policy
        }
        #expect(try await service.request(.post("a").body(.json(["n": 1])), as: .string) == "done")
        #expect(stub.requests.last?.body.data == Data(#"{"n":1}"#.utf8))
        #expect(stub.requests.last?.allHeaders.contentType == .json)
        let zipped = AdHocEndpoint.post("a").body(.data(Data([1, 2]))).header(.contentEncoding, "x-own")
            .header(.contentType, "application/json")
        #expect(try await service.request(zipped, as: .string) == "done")
        #expect(stub.requests.last?.headers[.contentEncoding] == "x-own")
        #expect(stub.requests.last?.allHeaders.contentType == .json)
        let once = HTTPBody.stream(
            AsyncStream {
                $0.yield(Data([1])); $0.finish()
            })
        let error = await Fixture.failure { _ = try await service.request(.post("a").body(once), as: .string) }
        #expect((error as? NetworkError)?.kind == .redirectRefused)
        #expect((error as? NetworkError)?.reason?.hasSuffix("the body cannot be sent a second time") == true)
        #expect(stub.requests.count == 5)
        let condition = AdHocEndpoint.post("a").header(.ifMatch, "\"1\"").body(.json(["n": 1]))
        #expect(try await service.request(condition, as: .string) == "done")
        #expect(stub.requests.last?.headers[.ifMatch] == "\"1\"")
        stub.on(.post, "/v1/a", .status(.movedPermanently, headers: [.location: "https://b.example/v1/b"]))
        let lost = await Fixture.failure { _ = try await service.request(condition, as: .string) }
        #expect((lost as? NetworkError)?.kind == .redirectRefused && stub.requests.count == 8)
    }
}
