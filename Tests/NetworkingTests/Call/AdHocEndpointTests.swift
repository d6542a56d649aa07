import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Ad-hoc endpoints", .endsInTime)
struct AdHocEndpointTests {
    private let stub = StubTransport { _ in .json(User(id: "7")) }

    private var service: NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService()
        }
    }

    @Test(
        "A call sets its method, path, query, headers and body in one expression", .row("I-03", "N-10", "P-01", "P-02"))
    func fluent() async throws {
        let id = "a/b"
        let user: User = try await service.request(
            .get("users/\(id)").query(["page": 1]).query("q", "x & y").query("left", nil as Int?)
                .header("X-A", "1").headers(["X-A": "2", "X-B": "3"], .keepExisting))
        #expect(user == User(id: "7"))
        #expect(stub.requests[0].url.absoluteString == "https://api.example.com/v1/users/a%2Fb?page=1&q=x%20%26%20y")
        #expect(stub.requests[0].headers["X-A"] == "1" && stub.requests[0].headers["X-B"] == "3")
        try await service.request(.post("users").body(.json(["id": "8"])).idempotent(.value("key")))
        #expect(stub.requests[1].method == .post && stub.requests[1].headers[.idempotencyKey] == "key")
        try await service.request(.post("users").body(.form(["a": "b"])))
        #expect(stub.requests[2].body.data == Data("a=b".utf8))
        for (call, method) in [
            (AdHocEndpoint.put("x"), HTTPMethod.put), (.patch("x"), .patch), (.delete("x"), .delete),
            (.head("x"), .head),
            (AdHocEndpoint("PURGE", "x"), "PURGE"),
        ] {
            try await service.request(call)
            #expect(stub.requests.last?.method == method)
        }
    }

    @Test("An ad-hoc endpoint is sent with the method that it is created with", .row("I-05"))
    func methods() async throws {
        try await service.request(AdHocEndpoint(.get, "x"))
        #expect(stub.requests[0].method == .get)
    }

    @Test(
        "A call can be made with a `URL` or a URL as text; with a text that is not a valid URL, the call fails",
        .row("I-04"))
    func urls() async throws {
        let url = try #require(URL(string: "https://other.example/a?b=c"))
        try await service.request(.at(url).query(["d": 1]))
        try await service.request(.url("https://other.example/text"))
        #expect(
            stub.requests.map(\.url.absoluteString) == [
                "https://other.example/a?b=c&d=1", "https://other.example/text",
            ])
        for text in ["http://[", "ftp://a.example/x", "localhost:8080/x"] {
            let error = await Fixture.failure { try await service.request(.url(text)) } as? NetworkError
            #expect(error?.kind == .invalidRequest, "\(text)")
        }
        let error = await withCheckedContinuation { continuation in
            service.task(.url("http://[?secret"), as: .void).onFailure(on: .global()) {
                continuation.resume(returning: $0)
            }
        }
        #expect("\(error)" == "path: \"http://[\" is not a URL with a scheme and a host (AdHocEndpoint, GET /)")
        #expect(stub.requests.count == 2)
    }

    @Test("A full URL gets no path prefix; the environment's headers and query go only to the environment's server")
    func wholeURL() async throws {
        let base = try #require(URL(string: "https://api.example.com"))
        let service = NetworkService(
            environment: NetworkEnvironment(
                baseURL: base, pathPrefix: "v2", headers: [.authorization: "Basic secret", "X-App": "1"],
                query: ["key": "secret"])
        ) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService()
        }
        try await service.request(.url("https://cdn.example/dir/?sig=1"))
        #expect(stub.requests[0].url.absoluteString == "https://cdn.example/dir/?sig=1")
        #expect(stub.requests[0].headers.authorization == nil && stub.requests[0].headers["X-App"] == nil)
        try await service.request(.url("https://api.example.com/x"))
        #expect(stub.requests[1].url.absoluteString == "https://api.example.com/x?key=secret")
        #expect(stub.requests[1].headers.contains(.authorization))
        for text in ["not a url", "example.com/x", "https://user:secret@[bad#token=secret"] {
            let error = await Fixture.failure { try await service.request(.url(text)) } as? NetworkError
            #expect(error?.kind == .invalidRequest && error?.description.contains("secret") == false, "\(error as Any)")
        }
    }

    @Test(
        "An app can define its service as a constant; a relative path without a base URL is an error",
        .row("I-01", "N-01"))
    func defaultService() async throws {
        enum App { static let service = NetworkService { $0.transport = StubTransport { _ in .status(.noContent) } } }
        try await App.service.request(.url("https://a.example"))
        let error = await Fixture.failure { try await App.service.request(.get("users")) } as? NetworkError
        #expect(error?.kind == .invalidRequest && error?.description.contains("base URL") == true)
    }

    @Test("Validators, timeouts, retries, errors, options and authorization can be set for one call")
    func settings() async throws {
        let refusing = StubTransport { _ in .status(.notFound) }
        let session = AccessTokenSupervisor(token: AccessToken("t"), clock: Fixture.stillClock) { _ in AccessToken("u")
        }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = refusing
        }
        try await service.request(.get("x").settings { $0.validators = [] })
        let mapped = await Fixture.failure {
            try await service.request(.get("x").errors([.notFound: UserError.taken]).authorized())
        }
        #expect(mapped as? UserError == .taken)
        #expect(refusing.requests[1].headers.authorization == .bearer("t"))
        _ = await Fixture.failure {
            try await service.request(
                .get("x").settings { $0.retry = RetryPolicy(retries: 2, on: .any) }.settings {
                    $0.timeouts.idle = .seconds(7)
                }
                .settings { $0.priority = .high })
        }
        #expect(refusing.requests.count == 5)
        #expect(refusing.requests[4].timeouts.idle == .seconds(7))
        #expect(refusing.requests[4].priority == .high)
    }

    @Test("Changing a copy of an endpoint leaves the original unchanged")
    func value() {
        let first = AdHocEndpoint(.get, "x").query(["a": 1])
        let second = first.query(["a": 2, "b": 3]).header("X", "y")
        #expect(first.query.percentEncoded == "a=1" && first.headers.isEmpty)
        #expect(second.query.percentEncoded == "a=2&b=3")
        #expect(second.query(["c": 4], .replaceAll).query.percentEncoded == "c=4")
    }

    @Test("Closures may be written inline in a call")
    func inlineClosures() async throws {
        let stub = StubTransport { _ in .text("yes") }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        try await service.request(.post("x").body(.encoded(headers: []) { Data("made".utf8) }))
        try await service.request(.get("x").settings { $0.validators = [.init { _ in .valid }] })
        let text: String = try await service.request(.get("x").settings { $0.duplicates = .init { _, _ in .allow } })
        let length = try await service.request(
            .get("x").settings { $0.retry = .standard }, as: ResponseConverter.string.map { $0.count })
        let task = service.task(.get("x").settings { $0.priority = .high }, as: .string)
        #expect(try await task.value == "yes" && text == "yes" && length == 3)
        #expect(stub.requests[0].body.data == Data("made".utf8))
    }

    @Test("A call can have a type for server errors; a body of another type does not hide the status", .row("N-10"))
    func failing() async throws {
        struct ShopError: Decodable, Equatable {
            let code: Int
        }
        let stub = StubTransport()
        stub.on(
            nil, "/v1/x", StubResponse(.conflict, body: Data(#"{"code":7}"#.utf8)),
            StubResponse(.conflict, body: Data("?".utf8)))
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let call = AdHocEndpoint(.get, "x").failing(as: ShopError.self)
        let error = await Fixture.failure { try await service.request(call) } as? ServerFailure<ShopError>
        #expect(error?.serverError == ShopError(code: 7) && error?.status == .conflict)
        #expect((await Fixture.failure { try await service.request(call) } as? NetworkError)?.status == .conflict)
    }
}
