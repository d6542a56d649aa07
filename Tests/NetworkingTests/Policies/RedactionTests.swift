import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Redaction", .endsInTime)
struct RedactionTests {
    /// The secrets that no output may contain.
    private static let secrets = [
        "hunter2", "tok-123", "key-456", "sid-789", "jwt.aaa.bbb", "fragment-000", "form-111", "answer-222", "set-333",
        "custom-444", "location-555", "multi-666",
    ]

    private let lines = Box<[String]>([])
    private let recorder = HARRecorder()

    /// Makes a call with a secret in each of its parts.
    private func call(_ body: HTTPBody, refused: Bool = false) async throws -> (NetworkError?, CallReport) {
        let stub = StubTransport()
        let headers: HTTPHeaders = [
            .setCookie: "session=set-333", "X-Anything": "answer-222",
            .location: "https://elsewhere.example/x?code=location-555#fragment-000", .contentType: "application/json",
        ]
        stub.on(.post, "/v1/users/7", StubResponse(.found, headers: headers))
        stub.on(
            nil, "/x",
            StubResponse(refused ? .conflict : .ok, headers: headers, body: Data(#"{"token":"answer-222"}"#.utf8)))
        let base = try #require(URL(string: "https://user:hunter2@api.example.com/v1?api_key=key-456#fragment-000"))
        let log = LogObserver(level: .debug) { [lines] line in lines.change { $0.append(line.description) } }
        let remember = RecordingObserver()
        let service = NetworkService(environment: NetworkEnvironment(baseURL: base)) {
            $0.transport = stub
            $0.observers = [log, recorder, remember]
        }
        let endpoint = AdHocEndpoint(.post, "users/7").query("access_token", "tok-123").query("page", 2)
            .headers([
                .authorization: "Bearer jwt.aaa.bbb", .cookie: "sid=sid-789", "X-Custom": "custom-444",
                .accept: "application/json",
            ]).body(body)
        let task = service.task(endpoint, as: .data)
        let error = await Fixture.failure { _ = try await task.value } as? NetworkError
        while remember.reports.isEmpty { await Task.yield() }
        return (error, try #require(remember.reports.first))
    }

    @Test(
        "Secrets in headers, URL, query, body and cookies are in no output",
        arguments: [
            HTTPBody.json(["password": "hunter2", "token": "tok-123"]), .string("form-111"),
            .form(["password": "form-111"]), .multipart([.field("secret", "multi-666")]),
        ], [false, true])
    func planted(body: HTTPBody, refused: Bool) async throws {
        let (error, report) = try await call(body, refused: refused)
        #expect((error != nil) == refused)
        var outputs = lines.value
        outputs.append(String(decoding: try recorder.archive.encoded(), as: UTF8.self))
        outputs += [report.description, report.waterfall, "\(report.attributes)"]
        for attempt in report.attempts {
            outputs += [attempt.description, attempt.request?.curlCommand() ?? "", "\(attempt.attributes())"]
            for hop in attempt.redirects { outputs += [hop.description, hop.request.curlCommand()] }
        }
        if let error {
            outputs += [
                error.description, error.localizedDescription, error.recoverySuggestion ?? "",
                "\((error as NSError).userInfo)",
            ]
        }
        #expect(outputs.contains { $0.contains("page") }, "query names are shown")
        #expect(outputs.contains { $0.contains("/v1/users/7") })
        for secret in Self.secrets {
            for output in outputs { #expect(!output.contains(secret), "\(secret) in \(output)") }
        }
    }

    @Test("Only allowed values are shown")
    func allowed() throws {
        let redaction = Redaction.standard.allowing(headers: ["X-Tenant"], query: ["page"], fields: ["name", "tags"])
        #expect(redaction.value(of: HTTPHeader("x-tenant", "acme")) == "acme")
        #expect(redaction.value(of: HTTPHeader("X-Tenant", "acme", isSensitive: true)) == "<redacted>")
        #expect(redaction.value(of: HTTPHeader("X-Other", "acme")) == "<redacted>")
        #expect(redaction.value(of: HTTPHeader(.authorization, "Bearer x")) == "<redacted>")
        let url = try #require(URL(string: "https://a:b@h.example/p?page=2&q=x&flag&=y#f"))
        #expect(redaction.text(of: url) == "https://h.example/p?page=2&q=REDACTED&REDACTED&=REDACTED")
        let json = Data(#"{"name":"Ada","age":36,"tags":["a",{"secret":"b"}],"none":null,"more":{"name":"c"}}"#.utf8)
        #expect(
            redaction.text(of: json, type: .json)
                == #"{"age":"<redacted>","more":{"name":"c"},"name":"Ada","none":null,"tags":["a",{"secret":"<redacted>"}]}"#
        )
        let form = Data("name=Ada+L&password=x".utf8)
        #expect(redaction.text(of: form, type: .formURLEncoded) == "name=Ada+L&password=REDACTED")
        #expect(redaction.text(of: Data("free".utf8), type: .plainText) == "<4 bytes of text/plain>")
        #expect(redaction.text(of: Data([0xFF]), type: nil) == "<1 bytes>")
        let large = Data(("[\"\(String(repeating: "x", count: 1 << 20))\"]").utf8)
        #expect(redaction.text(of: large, type: .json) == "<\(large.count) bytes of application/json>")
        #expect(Redaction.standard.text(of: json, type: .json) == "<\(json.count) bytes of application/json>")
        #expect(Redaction.revealed.text(of: json, type: .json) == String(decoding: json, as: UTF8.self))
        #expect(Redaction.revealed.text(of: url) == url.absoluteString)
        #expect(Redaction.revealed.text(of: Data("12345".utf8), type: nil, limit: 3) == "123…")
    }

    @Test("A query name that may be a value is hidden; URL credentials are hidden even if all header fields are shown")
    func tricks() throws {
        let redaction = Redaction.standard.allowing(headers: [.location], query: ["page"], fields: ["name"])
        func shown(_ text: String) throws -> String { redaction.text(of: try #require(URL(string: text))) }
        #expect(try shown("https://h.example/?c2VjcmV0dG9rZW4=") == "https://h.example/?REDACTED")
        #expect(try shown("https://h.example/?q==x&page=1=2") == "https://h.example/?q=REDACTED&page=1=2")
        #expect(try shown("https://h.example/?page=1;token=secret") == "https://h.example/?page=REDACTED")
        let location = HTTPHeader(.location, "https://u:pw@h.example/cb?code=secret#tok")
        #expect(redaction.value(of: location) == "https://h.example/cb?code=REDACTED")
        #expect(Redaction(headers: nil, query: [], fields: nil).value(of: location).contains("pw") == false)
        let json = Data(#"{"password":"hunter2=x"}"#.utf8)
        #expect(!redaction.text(of: json, type: .formURLEncoded).contains("hunter2"))
        struct LogIn: Endpoint {
            let password = "hunter2"
            let path: EndpointPath = "login"
        }
        var dumped = ""
        let call = RequestEvent.Call(endpoint: LogIn())
        dump(call, to: &dumped)
        let report = CallReport(of: LogIn(), last: nil, duration: .zero)
        dump(report, to: &dumped)
        dump(RequestEvent.head(.ok, ["X-Custom": "hunter2"]), to: &dumped)
        #expect(!dumped.contains("hunter2") && !"\(call)".contains("hunter2"))
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

    @Test("For every public value, print, dump and String(reflecting:) show no secret")
    func values() async throws {
        let stub = StubTransport { _ in
            StubResponse(
                .unauthorized,
                headers: [.setCookie: "sid=set-333", "X-Secret": "answer-222", .location: "/x?code=location-555"],
                body: Data("answer-222".utf8))
        }
        let jar = CookieJar()
        let environment = NetworkEnvironment(
            baseURL: URL(string: "https://user:hunter2@api.example.com/v1?api_key=key-456"),
            headers: ["X-Vault-Token": "tok-123", "apikey": "custom-444"], query: ["token": "tok-123"])
        let token = AccessToken("jwt.aaa.bbb", refreshToken: "sid-789")
        let session = AccessTokenSupervisor(token: token, clock: Fixture.stillClock) { _ in throw AccessToken.Rejected()
        }
        let failures = Box<[RequestFailure]>([])
        let configured = NetworkService(environment: environment, authorizedBy: session) {
            $0.transport = stub
            $0.cookies = jar
            $0.errorHandlingService = ErrorHandlingService([
                AdHocErrorHandler { failure in
                    failures.change { $0.append(failure) }
                    return .next(failure.error)
                }
            ])
        }
        let open =
            try await configured.response(Planted(), with: RequestSettings { $0.validators = [] }) as Response<String>
        let task = configured.task(Planted(), as: .string)
        let error = await Fixture.failure { _ = try await task.value }
        let general = try #require(error as? GeneralRequestError)
        let values: [Any] = [
            open, open.http, open.http.request, open.http.headers, open.report, general, general.cause as Any, task,
            task.state,
            failures.value, environment, configured, configured.client, configured.client.configuration, session, token,
            session.accessToken as Any, jar, stub, stub.requests, Planted().headers, Planted().query,
            Planted().body, Planted().idempotencyKey, RequestSettings { $0.idempotencyKey = "custom-444" },
            ServerFailure("answer-222", general.cause ?? NetworkError(.unknown)), session.events,
            stub.requests[0].options,
            configured.events(Planted()), ResponseCache(), Planted().query.items,
            NetworkError(
                .unknown,
                underlying: URLError(
                    .timedOut, userInfo: [NSURLErrorFailingURLErrorKey: "https://a/?key=key-456"])),
            AdHocEndpoint(.post, "x").query("a", "key-456").header("X-Vault-Token", "tok-123").body(
                .string("form-111")),
            HTTPAuthorization.basic(username: "ada", password: "hunter2"), RequestParameters.query(["a": "key-456"]),
            HTTPHeader("Private-Token", "tok-123"), HTTPBody.Part.field("name", "multi-666"),
            URLQuery(dictionaryLiteral: ("a", "key-456")),
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                let shown = Self.secrets.filter(text.contains)
                #expect(shown.isEmpty, "\(type(of: value)) shows \(shown): \(text.prefix(1_500))")
            }
        }
    }
}
