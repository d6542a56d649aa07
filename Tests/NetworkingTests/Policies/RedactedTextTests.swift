import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Secrets in texts", .endsInTime)
struct RedactedTextTests {
    /// The secrets that no output may contain.
    private static let secrets = [
        "hunter2", "tok-123", "key-456", "sid-789", "jwt.aaa.bbb", "fragment-000", "form-111", "answer-222", "set-333",
        "custom-444", "location-555", "multi-666",
    ]

    @Test("The description and the dump of a message, environment or error show no query, body or credentials")
    func dumps() throws {
        let url = try #require(URL(string: "https://u:hunter2@h.example/x?token=hunter2"))
        let request = HTTPRequest(
            .post, url, headers: [.authorization(.bearer("hunter2"))], body: .json(["password": "hunter2"]))
        let response = HTTPResponse(
            .forbidden, headers: [.setCookie: "sid=hunter2"], content: .data(Data("hunter2".utf8)), to: request)
        let environment = NetworkEnvironment(baseURL: url, query: ["key": "hunter2"])
        let shown: [Any] = [
            request, response, request.body, environment, RequestSettings { $0.environment = environment },
            NetworkError(.unacceptableStatus, request: request, response: response),
            AdHocEndpoint.post("login").query("token", "hunter2").body(.json(["password": "hunter2"])),
            AdHocEndpoint(url: url),
        ]
        for value in shown {
            var text = "\(value) \(String(reflecting: value)) "
            dump(value, to: &text)
            #expect(!text.contains("hunter2"), "\(type(of: value))")
        }
        #expect("\(AdHocEndpoint.get("users/\(7)"))" == "GET users/7")
        #expect("\(environment)" == "https://h.example/x")
        #expect("\(HTTPBody.string("hunter2"))" == "7 bytes")
    }

    @Test(
        "A log has one line for each call at level info, more lines at level debug, and no error text of the app",
        .row("P-18"))
    func log() async throws {
        func lines(_ level: LogObserver.Level, _ answers: StubResponse...) async -> [String] {
            let written = Box<[LogObserver.Line]>([])
            let stub = StubTransport()
            let left = Box(answers)
            stub.on(nil, nil) { _ in
                defer { left.change { $0.removeFirst() } }
                return left.value[0]
            }
            let clock = ManualClock()
            let service = NetworkService(environment: Fixture.environment) {
                $0.retry = RetryPolicy(retries: 1)
                $0.transport = stub
                $0.observers = [LogObserver(level: level) { line in written.change { $0.append(line) } }]
                $0.clock = clock.networkClock
            }
            _ = await Fixture.failure { try await service.request(UserEndpoint.open) }
            #expect(Set(written.value.map { $0.call.id }).count <= 1)
            return written.value.map { "\($0.level) \($0.message)" }
        }
        #expect(await lines(.info, .text("there")) == ["info GET api.example.com/v1/open: 200 OK in 0 s"])
        #expect(await lines(.warning, .text("there")) == [])
        #expect(
            await lines(.error, .status(.notFound))
                == [
                    "error GET api.example.com/v1/open: 404 Not Found in 0 s (not retried: the policy does not cover this failure), thrown as GeneralRequestError"
                ])
        let debug = await lines(.debug, .status(.serviceUnavailable), .text("there"))
        #expect(debug.contains("debug -> GET https://api.example.com/v1/open"))
        #expect(debug.contains { $0.hasPrefix("debug     User-Agent: ") })
        #expect(debug.contains { $0.hasPrefix("debug attempt 1: 503 Service Unavailable") })
        #expect(debug.contains { $0.hasPrefix("debug <- 200 OK") })
        #expect(debug.last == "info GET api.example.com/v1/open: 200 OK in 0 s, 2 attempts")
    }

    /// An endpoint with a secret in each of its members.
    private struct Planted: Endpoint {
        let password = "hunter2"
        let path: EndpointPath = "login"
        let method = HTTPMethod.post
        let headers: HTTPHeaders = ["X-Vault-Token": "tok-123", .authorization: "Bearer jwt.aaa.bbb"]
        let query: URLQuery = ["key": "key-456"]
        let body = HTTPBody.string("form-111")
        let idempotencyKey: IdempotencyKey = "custom-444"
    }

    @Test("The dump of a service, a client or a task does not show the secrets of calls in progress")
    func inProgress() async throws {
        let mayEnd = Box(false)
        let stub = StubTransport { _ in
            while !mayEnd.value { await Task.yield() }
            return .status(.ok)
        }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let task = service.task(Planted(), as: .string)
        while stub.requests.isEmpty { await Task.yield() }
        for value in [service, service.client, task] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            #expect(Self.secrets.filter(dumped.contains).isEmpty, "\(dumped.prefix(1_500))")
        }
        mayEnd.change { $0 = true }
        _ = try await task.value
    }

    @Test("Headers of an environment go only to its server; a redirect to another origin keeps only harmless headers")
    func otherOrigins() async throws {
        let environment = NetworkEnvironment(
            baseURL: URL(string: "https://api.example.com"),
            headers: ["X-Vault-Token": "tok-123", .acceptLanguage: "de"])
        let stub = StubTransport()
        stub.on(nil, "/away", StubResponse(.found, headers: [.location: "https://other.example/x"]))
        let service = NetworkService(environment: environment) { $0.transport = stub }
        _ = await Fixture.failure {
            try await service.request(.get("away").header("X-Own", "1").header(.accept, "*/*"))
        }
        #expect(stub.requests.count == 2)
        #expect(stub.requests[0].headers["X-Vault-Token"] == "tok-123" && stub.requests[0].headers["X-Own"] == "1")
        #expect(stub.requests[1].headers["X-Vault-Token"] == nil && stub.requests[1].headers["X-Own"] == nil)
        #expect(stub.requests[1].headers[.accept] == "*/*")
        _ = await Fixture.failure { try await service.request(.url("https://other.example/y").header("X-Own", "1")) }
        #expect(stub.requests[2].headers["X-Vault-Token"] == nil && stub.requests[2].headers["X-Own"] == "1")
        stub.on(.post, "/pay", .status(.serviceUnavailable), .status(.ok))
        let pay = AdHocEndpoint(.post, url: "https://other.example/pay").header("X-Own", "1").idempotent("key")
        try await service.request(pay, with: RequestSettings { $0.retry = RetryPolicy(retries: 1) })
        let last = try #require(stub.requests.last)
        #expect(last.headers["X-Own"] == "1" && last.headers[.idempotencyKey] == "key", "a retry has the same fields")
    }
}
