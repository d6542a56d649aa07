import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The circuit breaker", .endsInTime)
struct CircuitBreakerTests {
    private let clock = ManualClock()
    private let request: HTTPRequest
    private let origin: HTTPOrigin
    private let breaker: CircuitBreaker

    init() throws {
        request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        origin = try #require(request.origin)
        breaker = CircuitBreaker(
            failureRatio: 0.5, minimumCalls: 4, window: .seconds(10), pause: .seconds(30),
            clock: clock.networkClock)
    }

    private func call(_ outcome: AdmissionPermit.Outcome) throws {
        breaker.leave(try enter(), outcome)
    }

    private func enter() throws -> AdmissionPermit {
        try #require(try breaker.tryEnter(request, for: UserEndpoint.open))
    }

    private func answer(_ status: HTTPStatus) -> AdmissionPermit.Outcome {
        .responded(HTTPResponse(status, to: request))
    }

    private var isRefused: Bool {
        do {
            _ = try breaker.tryEnter(request, for: UserEndpoint.open)
            return false
        } catch {
            return (error as? NetworkError)?.kind == .circuitOpen
        }
    }

    private func open() throws {
        for _ in 0..<4 { try call(answer(.badGateway)) }
        #expect(breaker.state(of: origin) == .open)
    }

    @Test("The breaker opens at the failure ratio, but not before the minimum number of calls")
    func opens() throws {
        for _ in 0..<3 { try call(answer(.badGateway)) }
        #expect(breaker.state(of: origin) == .closed)
        try call(answer(.ok))
        for _ in 0..<3 { try call(answer(.ok)) }
        #expect(breaker.state(of: origin) == .closed)
        try call(.failed(NetworkError(.cannotConnect)))
        #expect(breaker.state(of: origin) == .open)
        #expect(isRefused)
    }

    @Test("Cancelled calls, 4xx responses and calls that were never sent count neither as successes nor as failures")
    func neither() throws {
        for outcome in [
            answer(.notFound), answer(.tooManyRequests), .failed(CancellationError()), .notSent,
            .failed(NetworkError(.cancelled)), .failed(NetworkError(.invalidRequest)), .failed(Interruption.resetting),
        ] {
            for _ in 0..<20 { try call(outcome) }
        }
        #expect(breaker.state(of: origin) == .closed)
        try open()
    }

    @Test("Calls that ended before the window do not count")
    func window() throws {
        for _ in 0..<3 { try call(answer(.badGateway)) }
        clock.advance(by: .seconds(11))
        for _ in 0..<3 { try call(answer(.badGateway)) }
        #expect(breaker.state(of: origin) == .closed)
        clock.advance(by: .seconds(5))
        try call(answer(.badGateway))
        #expect(breaker.state(of: origin) == .open)
    }

    @Test("After the pause, one probe is sent at a time; a success closes the breaker, and a failure opens it again")
    func probing() throws {
        try open()
        clock.advance(by: .milliseconds(29_999))
        #expect(isRefused)
        clock.advance(by: .milliseconds(1))
        let probe = try enter()
        #expect(breaker.state(of: origin) == .halfOpen)
        #expect(isRefused)
        breaker.leave(probe, answer(.serviceUnavailable))
        #expect(breaker.state(of: origin) == .open && isRefused)
        clock.advance(by: .seconds(30))
        try call(answer(.ok))
        #expect(breaker.state(of: origin) == .closed)
        for _ in 0..<3 { try call(answer(.badGateway)) }
        #expect(breaker.state(of: origin) == .closed, "failures before the pause no longer count")
    }

    @Test("A probe without a response refuses other calls only for the length of the pause")
    func slowProbe() throws {
        var machine = CircuitMachine(
            .init(failureRatio: 0.5, minimumCalls: 1, window: .seconds(10), pause: .seconds(5)))
        machine.leave(.failure, admitted: 0, at: .zero)
        #expect(machine.enter(at: .seconds(5)) == .probe)
        #expect(machine.enter(at: .seconds(9)) == .refuse(after: .zero))
        #expect(machine.enter(at: .seconds(10)) == .probe)
        machine.leave(.failure, probe: 1, at: .seconds(11))
        #expect(machine.state == .halfOpen, "a failure of the first probe says nothing after the second has begun")
        machine.leave(.success, probe: 1, at: .seconds(12))
        #expect(machine.state == .closed)
        machine.leave(.failure, probe: 2, at: .seconds(13))
        #expect(machine.state == .closed, "a probe of before does not open a closed circuit")
    }

    @Test("If a probe is cancelled, the next call becomes the probe")
    func cancelledProbe() throws {
        try open()
        clock.advance(by: .seconds(30))
        for outcome in [AdmissionPermit.Outcome.notSent, .failed(Interruption.cancelled), answer(.notFound)] {
            let probe = try enter()
            #expect(isRefused)
            breaker.leave(probe, outcome)
            #expect(breaker.state(of: origin) == .halfOpen)
        }
        try call(answer(.ok))
        #expect(breaker.state(of: origin) == .closed)
    }

    @Test("Calls that were in progress when the breaker opened do not change its state later")
    func stragglers() throws {
        let straggler = try enter()
        try open()
        clock.advance(by: .seconds(30))
        let probe = try enter()
        breaker.leave(straggler, answer(.ok))
        #expect(breaker.state(of: origin) == .halfOpen && isRefused)
        breaker.leave(probe, answer(.ok))
        #expect(breaker.state(of: origin) == .closed)
    }

    @Test("Calls that were in progress when the breaker opened do not count after it has closed")
    func lateFailures() throws {
        let stragglers = try (0..<4).map { _ in try enter() }
        try open()
        clock.advance(by: .seconds(30))
        try call(answer(.ok))
        for straggler in stragglers { breaker.leave(straggler, answer(.gatewayTimeout)) }
        #expect(breaker.state(of: origin) == .closed)
        let later = try (0..<4).map { _ in try enter() }
        for one in later { breaker.leave(one, answer(.gatewayTimeout)) }
        #expect(breaker.state(of: origin) == .open)
    }

    @Test("Each origin has its own state, and changes are reported in order")
    func origins() throws {
        let seen = Box<[AdmissionEvent]>([])
        let token = breaker.events.observe(on: nil) { event in seen.change { $0.append(event) } }
        try open()
        let other = HTTPRequest(.get, try #require(URL(string: "https://b.example/")))
        #expect(try breaker.tryEnter(other, for: UserEndpoint.open) != nil)
        clock.advance(by: .seconds(30))
        try call(answer(.ok))
        #expect(seen.value == [.circuit(origin, .open), .circuit(origin, .halfOpen), .circuit(origin, .closed)])
        token.cancel()
    }

    @Test("A call that an open breaker refuses is not retried, and its error contains the host and the wait")
    func inService() async throws {
        let stub = StubTransport(clock: clock.networkClock) { _ in .down }
        let limit = ConcurrencyLimit(1)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [limit, breaker]
            $0.errorHandlingService = ErrorHandlingService([RetryErrorHandler(RetryPolicy(retries: 9))])
            $0.clock = clock.networkClock
        }
        let error = await Fixture.failure { try await service.request(UserEndpoint.open) } as? NetworkError
        #expect(error?.kind == .circuitOpen)
        #expect(stub.requests.count == 4)
        #expect(
            error?.description.contains(
                "https://api.example.com:443 has failed too often recently; try again in 30 s")
                == true)
        #expect(error?.retryDecision?.reason == "the policy does not cover this failure")
    }

    @Test("A token refresh is sent even if the breaker is open")
    func refresh() async throws {
        let refreshed = Box(0)
        let stub = StubTransport { request in
            guard request.url.path.hasSuffix("token") else { return .down }
            refreshed.change { $0 += 1 }
            return .text("new")
        }
        let auth = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [breaker]
        }
        for _ in 0..<4 { _ = await Fixture.failure { try await auth.request(UserEndpoint.open) } }
        struct Token: Endpoint { let path: EndpointPath = "token" }
        let session = AccessTokenSupervisor(token: AccessToken("old", expiresIn: .zero, now: Date() - 9)) { _ in
            AccessToken(try await auth.request(Token(), as: .string))
        }
        let plain = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        _ = await Fixture.failure { try await plain.request(UserEndpoint.fetch(id: "7")) }
        #expect(refreshed.value == 1)
        #expect(session.accessToken == AccessToken("new"))
    }

    @Test("A failure after a redirect to another origin opens no circuit")
    func redirectedBreaker() async throws {
        let breaker = CircuitBreaker(failureRatio: 0.5, minimumCalls: 2, clock: clock.networkClock)
        let stub = StubTransport { request in
            request.url.host == "cdn.example"
                ? .status(.serviceUnavailable) : .status(.found, headers: [.location: "https://cdn.example/x"])
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [breaker]
        }
        for _ in 0..<4 { _ = await Fixture.failure { try await service.request(UserEndpoint.open) } }
        let home = try #require(URL(string: "https://api.example.com").flatMap(HTTPOrigin.init))
        let cdn = try #require(URL(string: "https://cdn.example").flatMap(HTTPOrigin.init))
        #expect(breaker.state(of: home) == .closed)
        #expect(breaker.state(of: cdn) == .closed, "a host must not open the circuit of another host")
        let mirror = AdHocAdapter { request, _ in
            request.url = URL(string: "https://cdn.example/x") ?? request.url
        }
        let mirrored = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [breaker]
            $0.requestAdaptingService = RequestAdaptingService([mirror])
        }
        for _ in 0..<8 { _ = await Fixture.failure { try await mirrored.request(UserEndpoint.open) } }
        #expect(
            breaker.state(of: home) == .open, "failures count for the origin that the request had before adapters ran")
    }
}
