import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The back-off gate", .endsInTime)
struct BackoffGateTests {
    private let clock = ManualClock()
    private let log = Box<[String]>([])

    /// Returns a service whose stub returns `first` for the first request and "ok" for all later requests. The stub
    /// logs the time of each request.
    private func service(
        _ first: StubResponse, session: AccessTokenSupervisor? = nil,
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        let (clock, log) = (clock, log)
        let stub = StubTransport(clock: clock.networkClock) { request in
            let name = request.url.lastPathComponent
            log.change { $0.append("\(name) \(Int(clock.now.offset / .milliseconds(1)))") }
            return log.value.count == 1 ? first : .text("ok")
        }
        return NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.clock = clock.networkClock
            configure(&$0)
        }
    }

    private struct Named: Endpoint {
        let name: String
        var host = "api.example.com"
        var baseURL: URL { URL(string: "https://\(host)") ?? NetworkEnvironment.noBaseURL }
        var path: EndpointPath { "\(name)" }
    }

    private func refusal(_ seconds: Int, _ status: HTTPStatus = .tooManyRequests) -> StubResponse {
        StubResponse(status, headers: [.retryAfter: "\(seconds)"])
    }

    @Test("After a 429 with Retry-After, other calls to that host wait; calls to other hosts are sent")
    func siblings() async throws {
        let service = service(refusal(5))
        #expect(await Fixture.failure { try await service.request(Named(name: "first")) } != nil)
        clock.advance(by: .seconds(2))
        let waiting = (0..<3).map { service.task(Named(name: "sibling\($0)"), as: .void) }
        await clock.waitForSleepers(3)
        try await service.request(Named(name: "elsewhere", host: "other.example.com"))
        clock.advance(by: .milliseconds(2_999))
        #expect(log.value == ["first 0", "elsewhere 2000"])
        clock.advance(by: .milliseconds(1))
        for task in waiting { try await task.value }
        #expect(log.value.dropFirst(2).sorted() == (0..<3).map { "sibling\($0) 5000" })
    }

    @Test("A retry waits for the gate, as other calls do")
    func withRetry() async throws {
        let service = service(refusal(3, .serviceUnavailable)) { $0.retry = RetryPolicy(retries: 1) }
        let first = service.task(Named(name: "first"), as: .void)
        await clock.waitForSleepers()
        let second = service.task(Named(name: "second"), as: .void)
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(3))
        try await first.value
        try await second.value
        #expect(log.value[0] == "first 0")
        #expect(Set(log.value[1...]) == ["first 3000", "second 3000"])
    }

    @Test("A call that waits at the gate holds no permit")
    func holdsNothing() async throws {
        let limit = ConcurrencyLimit(1)
        let service = service(refusal(5)) { $0.concurrencyLimit = limit }
        _ = await Fixture.failure { try await service.request(Named(name: "first")) }
        let task = service.task(Named(name: "second"), as: .void)
        await clock.waitForSleepers()
        #expect(limit.activeCount == 0 && limit.waiterCount == 0)
        clock.advance(by: .seconds(5))
        try await task.value
    }

    @Test("A call whose deadline would pass at the gate ends at once; a cancelled call leaves the gate")
    func endings() async throws {
        let service = service(refusal(5))
        _ = await Fixture.failure { try await service.request(Named(name: "first")) }
        let settings = RequestSettings { $0.timeouts.total = .seconds(4) }
        let hasty = await Fixture.failure { try await service.request(Named(name: "hasty"), with: settings) }
        #expect(hasty as? GeneralRequestError == .timedOut)
        #expect(clock.now.offset == .zero)
        let task = service.task(Named(name: "cancelled"), as: .void)
        await clock.waitForSleepers()
        #expect(task.cancel())
        #expect(await Fixture.failure { try await task.value } as? GeneralRequestError == .cancelled)
        #expect(log.value == ["first 0"])
    }

    @Test("A token refresh is sent even if the gate is closed; the retry with the new token waits")
    func refresh() async throws {
        struct Authorized: Endpoint {
            let path: EndpointPath = "authorized"
            let authorizationType = AuthorizationType.bearer
        }
        let holder = Box<NetworkService?>(nil)
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            try await holder.value?.request(Named(name: "refresh"))
            return AccessToken("new")
        }
        let service = service(
            StubResponse(.unauthorized, headers: ["RateLimit": "\"all\";r=0;t=5"]), session: session)
        holder.change { $0 = service }
        let task = service.task(Authorized(), as: .void)
        #expect(await clock.advanceToNextSleeper() == .seconds(5))
        try await task.value
        #expect(log.value == ["authorized 0", "refresh 0", "authorized 5000"])
        holder.change { $0 = nil }
    }

    @Test(
        "A RateLimit field closes the gate if no requests remain",
        arguments: [
            ("\"default\";r=0;t=4", nil), ("limit=100, remaining=0, reset=4", nil),
            ("\"a\";r=9;t=60, \"b\";r=0;t=4", nil), ("\"b\";r=0", "\"a\";q=10;w=60, \"b\";q=5;w=4"),
        ] as [(String, String?)])
    func rateLimit(limit: String, policy: String?) async throws {
        var headers: HTTPHeaders = ["RateLimit": limit]
        headers["RateLimit-Policy"] = policy
        let service = service(StubResponse(.ok, headers: headers))
        try await service.request(Named(name: "first"))
        let task = service.task(Named(name: "second"), as: .void)
        #expect(await clock.advanceToNextSleeper() == .seconds(4))
        try await task.value
        #expect(log.value == ["first 0", "second 4000"])
    }

    @Test(
        "A RateLimit field does not close the gate if requests remain or if it cannot be parsed",
        arguments: ["\"a\";r=1;t=9", "r=", ";;,", "x", ""])
    func remaining(limit: String) async throws {
        let service = service(StubResponse(.ok, headers: ["RateLimit": limit]))
        for _ in 0..<2 { try await service.request(Named(name: "call")) }
        #expect(log.value == ["call 0", "call 0"])
    }

    @Test(
        "After a RateLimit of a day, calls end at once and say when to come again")
    func usedUpDay() async throws {
        let gate = BackoffGate(clock: clock.networkClock)
        let service = service(StubResponse(.ok, headers: ["RateLimit": "\"day\";r=0;t=86400"])) {
            $0.backoffGate = gate
        }
        try await service.request(Named(name: "first"))
        let failure = await Fixture.failure { try await service.request(Named(name: "second")) }
        let error = try #require(failure as? NetworkError)
        #expect(error.kind == .rateLimited && error.reason?.contains("try again in 86400 s") == true, "\(error)")
    }

    @Test("A long pause lasts a day at most, and needs a time that the server has stated")
    func longPauses() throws {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        let origin = try #require(request.origin)
        func wait(_ headers: HTTPHeaders, _ status: HTTPStatus = .ok) -> Duration? {
            let gate = BackoffGate(clock: clock.networkClock)
            gate.heard(AdmissionPermit(for: origin), HTTPResponse(status, headers: headers, to: request))
            return gate.wait(for: origin)
        }
        #expect(wait(["RateLimit": "\"year\";r=0;t=99999999999"]) == .seconds(86_400))
        #expect(wait(["RateLimit": "\"day\";r=0", "RateLimit-Policy": "\"day\";q=9;w=86400"]) == .seconds(60))
        let both: HTTPHeaders = ["RateLimit": "\"hour\";r=0;t=3600", .retryAfter: "3600"]
        #expect(wait(both, .tooManyRequests) == .seconds(3_600))
        #expect(wait([.retryAfter: "3600"], .tooManyRequests) == .seconds(60))
    }

    @Test("A refusal that a redirect of another origin has led to closes no gate")
    func foreignRedirect() throws {
        let gate = BackoffGate(clock: clock.networkClock)
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        let origin = try #require(request.origin)
        let answer = HTTPResponse(.tooManyRequests, headers: [.retryAfter: "60"], to: request)
        let other = try #require(URL(string: "https://b.example/").flatMap { HTTPOrigin($0) })
        gate.heard(AdmissionPermit(for: other), answer)
        #expect(gate.wait(for: origin) == nil)
        gate.heard(AdmissionPermit(for: origin), answer)
        #expect(gate.wait(for: origin) == .seconds(60))
    }

    @Test("The gate reports when it closes and opens, and closes for the longest requested time, up to a maximum")
    func events() throws {
        let gate = BackoffGate(longest: .seconds(10), clock: clock.networkClock)
        let seen = Box<[AdmissionEvent]>([])
        let token = gate.events.observe(on: nil) { event in seen.change { $0.append(event) } }
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        let origin = try #require(request.origin)
        for seconds in [4, 2, 900] {
            let answer = HTTPResponse(.serviceUnavailable, headers: [.retryAfter: "\(seconds)"], to: request)
            gate.heard(AdmissionPermit(for: origin), answer)
        }
        #expect(gate.wait(for: origin) == .seconds(10))
        #expect(gate.tryEnter(request, for: UserEndpoint.open) == nil)
        clock.advance(by: .seconds(10))
        #expect(gate.tryEnter(request, for: UserEndpoint.open) != nil)
        #expect(gate.wait(for: origin) == nil)
        #expect(
            seen.value == [
                .gateClosed(origin, for: .seconds(4)), .gateClosed(origin, for: .seconds(10)), .gateOpened(origin),
            ])
        token.cancel()
    }

    @Test("The breaker and the gate drop hosts that have not been used for a long time")
    func manyHosts() async throws {
        let breaker = CircuitBreaker(clock: clock.networkClock)
        let gate = BackoffGate(clock: clock.networkClock)
        let stub = StubTransport { _ in .status(.tooManyRequests, headers: [.retryAfter: "1"]) }
        stub.on(.head, nil, .status(.ok))
        let service = NetworkService(environment: NetworkEnvironment()) {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [breaker, gate]
        }
        for index in 0..<1_000 {
            _ = await Fixture.failure { try await service.request(.head("https://h\(index).example/")) }
            _ = await Fixture.failure { try await service.request(.get("https://h\(index).example/")) }
            clock.advance(by: .seconds(60))
        }
        #expect(breaker.knownOrigins < 200)
        #expect(gate.knownOrigins < 200)
        let dead = NetworkService(environment: NetworkEnvironment()) {
            $0.transport = StubTransport { _ in .status(.badGateway) }
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [breaker]
        }
        for index in 0..<300 {
            for _ in 0..<10 { _ = await Fixture.failure { try await dead.request(.get("https://d\(index).example/")) } }
            clock.advance(by: .seconds(60))
        }
        #expect(breaker.knownOrigins < 200, "failed hosts without new calls are dropped, too")
    }
}
