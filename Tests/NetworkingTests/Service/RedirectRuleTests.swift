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
