import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Reports", .endsInTime)
struct ReportTests {
    private let clock = ManualClock()

    private func service(_ stub: StubTransport) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 1, backoff: .constant(.seconds(2)), jitter: .none)
            $0.transport = stub
            $0.clock = clock.networkClock
        }
    }

    @Test("A response's report has the times of every attempt, and the reason and the wait of every retry")
    func answer() async throws {
        let stub = StubTransport(clock: clock.networkClock)
        stub.on(
            nil, nil, .status(.serviceUnavailable).delayed(by: .seconds(1)), .text("there").delayed(by: .seconds(3)))
        async let response = service(stub).response(UserEndpoint.fetch(id: "a/b"), as: .string)
        for step in [1, 2, 3] {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(step))
        }
        let report = try await response.report
        #expect(report.attempts.map { $0.status?.code } == [503, 200])
        #expect(report.attempts.map(\.number) == [1, 2])
        #expect(report.attempts.map(\.start) == [.zero, .seconds(3)])
        #expect(report.attempts.map(\.duration) == [.seconds(1), .seconds(3)])
        #expect(report.waits == [.seconds(2)] && report.duration == .seconds(6))
        #expect(report.attempts[0].decision?.description == "retried after 2 s: 503 Service Unavailable")
        #expect(report.date == clock.date.addingTimeInterval(-6) && report.error == nil)
        #expect(report.endpoint?.urlTemplate == "/users/{}")
        #expect(
            report.waterfall == """
                GET api.example.com/v1/users/a%2Fb: 200 OK in 6 s, 2 attempts
                  1 |=====                           | 503  1 s  retried after 2 s: 503 Service Unavailable
                  2 |                ================| 200  3 s
                """)
    }

    @Test("A call's error contains the report; if the error is mapped, the task contains the report")
    func error() async throws {
        let stub = StubTransport { _ in .status(.conflict) }
        let raw = await Fixture.failure { try await service(stub).request(.post("users")) } as? NetworkError
        let report = try #require(raw?.report)
        #expect(report.attempts.count == 1 && report.status == .conflict)
        #expect((report.error as? NetworkError)?.kind == .unacceptableStatus)
        let task = service(stub).task(UserEndpoint.fetch(id: "7"), as: .string)
        #expect(await Fixture.failure { _ = try await task.value } as? UserError == .taken)
        #expect(task.report?.error as? UserError == .taken && task.report?.attempts.count == 1)
    }

    @Test("No text of a report describes a response that cannot be decoded as a success")
    func undecodable() async throws {
        let task = service(StubTransport { _ in .text("no user") }).task(UserEndpoint.open, as: .json(User.self))
        _ = await Fixture.failure { _ = try await task.value }
        let report = try #require(task.report)
        #expect(report.description == "GET api.example.com/v1/open: 200 OK, undecodableBody, in 0 s")
        #expect(report.waterfall.contains("200  0 s  undecodableBody"))
        #expect(report.attempts.first?.description.contains("undecodableBody") == true)
        let first = report.date
        #expect(report.date == first)
    }

    @Test("A wait that a cancellation ends is not reported as a retry")
    func cutShort() async throws {
        let task = service(StubTransport { _ in .status(.serviceUnavailable) }).task(UserEndpoint.open, as: .string)
        await clock.waitForSleepers()
        task.cancel()
        _ = await Fixture.failure { _ = try await task.value }
        #expect(task.report?.waits == [])
        #expect(task.report?.attempts.first?.decision?.reason == "the call was ended while it waited")
    }

    @Test("Attributes have the names of the OpenTelemetry conventions and contain no secrets")
    func attributes() async throws {
        let stub = StubTransport { _ in .json(text: #"{"id":"7"}"#) }
        let endpoint = AdHocEndpoint(.post, "users/\(7)").query("token", "s3cret").body(.string("hello"))
        let response = try await service(stub).response(endpoint, as: .data)
        #expect(
            response.report.attributes == [
                "http.request.method": "POST", "url.full": "https://api.example.com/v1/users/7?token=REDACTED",
                "url.scheme": "https", "server.address": "api.example.com", "server.port": 443,
                "http.response.status_code": 200, "http.request.body.size": 5, "http.response.body.size": 10,
                "url.template": "/users/{}",
            ])
        let failing = StubTransport()
        failing.on(nil, nil, .failure(.cannotConnect), .status(.notFound))
        let task = service(failing).task(.get("users/7"), as: .void)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(2))
        #expect(await Fixture.failure { try await task.value } as? GeneralRequestError == .notFound)
        let report = try #require(task.report)
        #expect(report.attributes["error.type"] == "404" && report.attributes["http.request.resend_count"] == 1)
        #expect(report.attempts[0].attributes()["error.type"] == "cannotConnect")
    }

    @Test("The template of a path has a placeholder for each interpolation")
    func templates() {
        let (id, name) = (7, "a{}b/c")
        #expect(("users" as EndpointPath).template == "users")
        #expect(("/users/\(id)/files/\(name).png" as EndpointPath).template == "users/{}/files/{}.png")
        #expect(("\(id)" as EndpointPath).template == "{}")
        #expect(EndpointPath(segments: ["a", "b"]).template == "{}/{}")
    }

    @Test("An attempt has the request, the response, the error, the time and the curl command", .row("N-39"))
    func debugInfo() async throws {
        let stub = StubTransport { _ in .json(text: #"{"id":"7"}"#, status: .conflict) }
        let told = Box<[RequestAttempt]>([])
        let task = service(stub).task(UserEndpoint.fetch(id: "7"), as: .string)
            .onAttempt(on: DispatchQueue(label: "debug")) { attempt in told.change { $0.append(attempt) } }
        _ = await Fixture.failure { _ = try await task.value }
        while told.value.isEmpty { await Task.yield() }
        let attempt = try #require(told.value.first)
        #expect(attempt.request?.method == .get && attempt.response?.status == .conflict)
        #expect((attempt.error as? NetworkError)?.status == .conflict && attempt.duration >= .zero)
        #expect(attempt.response?.data.count == 10)
        #expect(attempt.request?.curlCommand().contains("--url 'https://api.example.com/v1/users/7'") == true)
    }

    @Test(
        "Each call has one background task, which ends once: after the call or when the background time expires",
        .row("N-41"))
    func background() async throws {
        let begun = Box<[@Sendable () -> Void]>([])
        let ended = Box<[Int]>([])
        let observer = BackgroundTaskObserver(
            begin: { expire in
                begun.change { $0.append(expire) }
                return begun.value.count
            }, end: { number in ended.change { $0.append(number) } })
        let manual = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = manual
            $0.observers = [observer]
        }
        async let first: String = service.request(UserEndpoint.open)
        await manual.waitForRequests()
        #expect(begun.value.count == 1 && ended.value.isEmpty)
        manual.answer()
        _ = try await first
        #expect(ended.value == [1])
        async let second: String = service.request(UserEndpoint.open)
        await manual.waitForRequests()
        begun.value[1]()
        #expect(ended.value == [1, 2])
        manual.answer()
        _ = try await second
        #expect(ended.value == [1, 2])
        let eager = BackgroundTaskObserver(
            begin: { expire in
                expire()
                return 3
            }, end: { number in ended.change { $0.append(number) } })
        eager.observe(.started, of: RequestEvent.Call(endpoint: UserEndpoint.open))
        #expect(ended.value == [1, 2, 3])
    }

    @Test("A retry without a wait is also reported to observers, and the log has a warning that names the endpoint")
    func retryAtOnce() async throws {
        let lines = Box<[String]>([])
        let stub = StubTransport()
        stub.on(nil, nil, .status(.serviceUnavailable), .text("ok"))
        let service = NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 1)
            $0.transport = stub
            $0.observers = [LogObserver(level: .warning) { line in lines.change { $0.append("\(line)") } }]
        }
        try await service.request(UserEndpoint.open)
        #expect(
            lines.value.count == 1
                && lines.value.first?.hasSuffix(" GET /open: retried: 503 Service Unavailable") == true,
            "\(lines.value)")
    }

    @Test("The waterfall names no token if the request carried none")
    func requestWithoutToken() async throws {
        let session = AccessTokenSupervisor(token: nil, clock: Fixture.stillClock) { _ in AccessToken("new") }
        var request = HTTPRequest(.get, try #require(Fixture.environment.baseURL))
        try session.adapter.adapt(&request, for: UserEndpoint.fetch(id: "7"))
        #expect(request.parts.session?.token != nil)
        let attempt = RequestAttempt(number: 1, request: request, response: nil, error: nil, duration: .zero)
        #expect(attempt.tokenGeneration == nil)
    }

    @Test("The reason of a failed refresh is in the log and in the report of the refused call")
    func brokenRefresh() async throws {
        struct Grant: Decodable, Sendable { let expiresIn: Int }
        let auth = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .json(text: "{}") }
        }
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            let grant: Grant = try await auth.request(.post("token"))
            return AccessToken("\(grant.expiresIn)")
        }
        let lines = Box<[String]>([])
        let observer = RecordingObserver()
        let service = UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = StubTransport { _ in .status(.unauthorized) }
            $0.observers = [LogObserver { line in lines.change { $0.append("\(line)") } }, observer]
        }
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(error as? GeneralRequestError == .noAuth)
        let words = "\"expiresIn\" is missing"
        #expect(lines.value.last?.contains(words) == true, "\(lines.value)")
        #expect(observer.reports.first?.waterfall.contains(words) == true)
    }
}

extension CallReport {
    /// The waits between attempts, in order.
    var waits: [Duration] { attempts.compactMap { $0.decision?.delay } }
}

extension RequestAttempt {
    fileprivate var status: HTTPStatus? { response?.status }
}
