import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("Pages of a list", .endsInTime)
struct PageTests {
    private struct Page: Decodable, Equatable, Sendable {
        let items: [Int]
        var cursor: String?
    }

    private enum Orders: Endpoint {
        case list(page: Int)

        var path: EndpointPath { "orders" }
        var query: URLQuery { if case .list(let page) = self { ["page": page] } else { [:] } }
    }

    private struct Typed: TypedEndpoint {
        typealias ResponseValue = [Int]

        let path: EndpointPath = "typed"
    }

    private let stub = StubTransport()

    private func service(_ session: AccessTokenSupervisor? = nil) -> NetworkService {
        let environment = NetworkEnvironment(
            baseURL: URL(string: "https://api.example.com/v1"), headers: ["X-Api-Key": "secret"], query: ["key": "k"])
        return NetworkService(environment: environment, authorizedBy: session) {
            $0.transport = stub
            $0.errorMapping = .unmapped
        }
    }

    private func page(_ items: String, linkingTo next: String? = nil) -> StubResponse {
        .json(text: items, headers: next.map { ["Link": "<\($0)>; rel=\"next\""] } ?? [:])
    }

    private func all<Value>(_ pages: Response<Value>.Pages) async throws -> [Value] {
        var all: [Value] = []
        for try await page in pages { all.append(page) }
        return all
    }

    @Test("The pages of links keep the call's token, fields and settings, and the query of the link")
    func links() async throws {
        stub.on(
            .get, "/v1/issues", page("[1]", linkingTo: "/v1/issues?page=2&key=k"),
            page("[2]", linkingTo: "https://api.example.com/v1/issues?page=3&q=a%2Bb"), page("[3]"))
        let session = AccessTokenSupervisor(token: AccessToken("t"), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        let call = AdHocEndpoint.get("issues").query("per_page", 1).authorized().header("X-Own", "1")
        let adapter = AdHocAdapter { request, _ in request.headers["X-Settings"] = "1" }
        let pages = service(session).pages(call.settings { $0.adapters = [adapter] }, as: .json([Int].self))
        #expect(try await all(pages) == [[1], [2], [3]])
        #expect(
            stub.requests.map(\.target) == [
                "/v1/issues?key=k&per_page=1", "/v1/issues?page=2&key=k", "/v1/issues?page=3&q=a%2Bb",
            ])
        for request in stub.requests {
            #expect(request.headers[.authorization] == "Bearer t" && request.headers["X-Own"] == "1")
            #expect(request.headers["X-Settings"] == "1" && request.headers["X-Api-Key"] == "secret")
        }
    }

    @Test("A link to another origin, or to http, ends the sequence, and nothing is sent there")
    func otherOrigin() async throws {
        let fault = "Link: expected the next page, found a link to another origin"
        for link in ["https://evil.example/issues?key=k", "http://api.example.com/v1/issues?page=2", "//evil.example"] {
            stub.on(.get, "/v1/issues", page("[1]", linkingTo: link))
            var pages = service().pages(.get("issues"), as: .json([Int].self)).makeAsyncIterator()
            let error = await Fixture.failure { while try await pages.next() != nil {} } as? NetworkError
            #expect(error?.kind == .invalidResponse && error?.reason == fault, "\(link)")
        }
        #expect(stub.requests.allSatisfy { $0.url.host() == "api.example.com" && $0.url.scheme == "https" })
    }

    @Test("A page that a redirect of another origin brought cannot choose the next call to the first origin")
    func back() async throws {
        stub.on(.get, "/v1/issues", .redirect(to: "https://evil.example/issues"))
        stub.on(.get, "/issues", page("[2]", linkingTo: "https://api.example.com/v1/admin"))
        let error = await Fixture.failure {
            _ = try await all(service().pages(.get("issues"), as: .json([Int].self)))
        }
        #expect((error as? NetworkError)?.kind == .invalidResponse)
        #expect(stub.requests.count == 2)
    }

    @Test("A page that links to itself ends the sequence with an error, and nothing follows an error")
    func selfLink() async throws {
        stub.on(.get, "/v1/issues", page("[1]", linkingTo: "/v1/issues?key=k"))
        var pages = service().pages(.get("issues"), as: .json([Int].self)).makeAsyncIterator()
        #expect(try await pages.next() == [1])
        let error = await Fixture.failure { _ = try await pages.next() } as? NetworkError
        #expect(
            error?.kind == .invalidResponse
                && error?.reason == "Link: expected the next page, found a link to the page itself")
        #expect(try await pages.next() == nil && stub.requests.count == 1)
    }

    @Test("A closure makes the call of the next page from a cursor, or from the number of the page")
    func closures() async throws {
        stub.on(
            .get, "/v1/cursors", .json(text: #"{"items":[1],"cursor":"a+b"}"#), .json(text: #"{"items":[2]}"#))
        let cursors = service().pages(.get("cursors"), as: .json(Page.self)) { page, call in
            page.value.cursor.map { call.query("cursor", $0) }
        }
        #expect(try await all(cursors).map(\.items) == [[1], [2]])
        #expect(stub.requests.map { $0.query["cursor"] } == [nil, "a+b"])

        stub.on(.get, "/v1/orders", .json(text: "[1]"), .json(text: "[2]"), .json(text: "[]"))
        let numbers = service().pages(Orders.list(page: 1), as: .json([Int].self)) { page, call in
            guard case .list(let number) = call, !page.value.isEmpty else { return nil }
            return .list(page: number + 1)
        }
        #expect(try await all(numbers) == [[1], [2], []])
        #expect(stub.requests.suffix(3).map { $0.query["page"] } == ["1", "2", "3"])
    }

    @Test("The pages of a typed endpoint; each iteration begins with the first page")
    func typed() async throws {
        stub.on(
            .get, "/v1/typed", page("[1]", linkingTo: "/v1/typed?page=2"), page("[2]"),
            page("[1]", linkingTo: "/v1/typed?page=2"), page("[2]"))
        let pages = service().pages(Typed())
        for _ in 0..<2 { #expect(try await all(pages) == [[1], [2]]) }
        stub.on(.get, "/v1/typed", page("[7]"))
        #expect(try await all(service().pages(Typed()) { _, _ in nil }) == [[7]])
    }

    @Test("A call that is sent to another URL is the same call")
    func at() async throws {
        stub.on(.get, "/v1/other", .status(.notFound))
        struct Missing: Error {}
        let call = AdHocEndpoint.get("issues").query("a", 1).errors([.notFound: Missing()])
        let url = try #require(URL(string: "https://api.example.com/v1/other?b=2"))
        let service = service().client.with { $0.errorMapping = .general }
        let error = await Fixture.failure { try await NetworkService(client: service).request(call.at(url)) }
        #expect(error is Missing && stub.requests.last?.target == "/v1/other?b=2")
    }
}
