import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Stored responses for requests that cannot be sent", .endsInTime)
struct CacheOfflineTests {
    private struct Get: Endpoint {
        var path: EndpointPath = "items"
        var method: HTTPMethod = .get
        var authorizationType: AuthorizationType = .bearer
    }

    private let clock = ManualClock()
    private let stub = StubTransport()
    private let refreshError = Box<any Error & Sendable>(NetworkError(.notConnected))
    private let offline = RequestSettings { $0.caching = .staleIfOffline }

    /// A service whose cache contains a response that is fresh for a minute, and whose token has expired.
    private func service(
        _ configure: @escaping (inout NetworkConfiguration) -> Void = { _ in }
    ) async throws -> NetworkService {
        let session = AccessTokenSupervisor(
            token: AccessToken("a", expiresAt: clock.date.addingTimeInterval(30), session: UUID()),
            clock: clock.networkClock
        ) { [refreshError] _ in throw refreshError.value }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.cache = ResponseCache(clock: clock.networkClock)
            $0.transport = stub
            $0.clock = clock.networkClock
            configure(&$0)
        }
        stub.on(nil, nil) { _ in StubResponse(.ok, headers: [.cacheControl: "max-age=60"], body: Data("one".utf8)) }
        try await service.request(Get())
        return service
    }

    @Test(
        "If an expired token cannot be refreshed, a fresh response is used, or a stale response if the rule permits it")
    func expiredToken() async throws {
        let service = try await service()
        clock.advance(by: .seconds(40))
        #expect(try await service.request(Get()) == "one", "still fresh")
        clock.advance(by: .seconds(40))
        let stale: Response<String> = try await service.response(Get(), with: offline)
        #expect(stale.value == "one" && stale.http.source == .cache)
        let error = await Fixture.failure { try await service.request(Get()) } as? NetworkError
        #expect(error?.kind == .noToken && error?.underlying is NetworkError)
        #expect(error?.errorDescription == "There is no internet connection.")
        #expect(stub.requests.count == 1)
    }

    @Test("With an expired token and no network, cachedThenFresh ends after a fresh response")
    func cachedThenFresh() async throws {
        let service = try await service()
        clock.advance(by: .seconds(40))
        var values: [String] = []
        for try await response in service.cachedThenFresh(Get(), as: .string) { values.append(response.value) }
        #expect(values == ["one"])
    }

    @Test(
        "Without a valid token and a stored response, a call ends with an error and sends nothing",
        arguments: ["GET", "POST"])
    func nothingStored(method: String) async throws {
        let service = try await service()
        clock.advance(by: .seconds(40))
        let call = Get(path: "others", method: HTTPMethod(method))
        let error = await Fixture.failure { try await service.request(call, with: offline) } as? NetworkError
        #expect(error?.kind == .noToken)
        #expect(stub.requests.count == 1)
    }

    @Test("After the end of a session, its stored responses are not used")
    func sessionOver() async throws {
        let service = try await service()
        refreshError.change { $0 = AccessToken.Rejected() }
        clock.advance(by: .seconds(40))
        for _ in 0..<2 {
            let error = await Fixture.failure { try await service.request(Get(), with: offline) }
            #expect((error as? GeneralRequestError)?.cause?.kind == .noToken)
        }
        #expect(stub.requests.count == 1)
    }

    @Test("While the circuit breaker is open, a stale response is used if the rule permits it")
    func openCircuit() async throws {
        let service = try await service {
            $0.circuitBreaker = CircuitBreaker(minimumCalls: 1)
        }
        stub.on(nil, nil, .failure(.cannotConnect))
        await #expect(throws: (any Error).self) {
            try await service.request(Get(path: "others", authorizationType: .none))
        }
        clock.advance(by: .seconds(20))
        let call = Get(authorizationType: .none)
        let before = stub.requests.count
        let error = await Fixture.failure { try await service.request(call, with: offline) } as? NetworkError
        #expect(error?.kind == .circuitOpen, "the response is stored for another user")
        let stale: Response<String> = try await service.response(Get(), with: offline)
        #expect(stale.http.source == .cache)
        #expect(stub.requests.count == before)
    }

    @Test("If the circuit breaker is open and nothing is stored, a retry after the breaker's pause is sent")
    func retryAfterPause() async throws {
        let breaker = CircuitBreaker(minimumCalls: 1, pause: .seconds(30), clock: clock.networkClock)
        let patient = AdHocErrorHandler { failure in
            (failure.error as? NetworkError)?.kind == .circuitOpen && failure.attempt == 1
                ? .retry(after: .seconds(31)) : .next(failure.error)
        }
        let service = try await service {
            $0.circuitBreaker = breaker
            $0.errorHandlingService = ErrorHandlingService([patient])
        }
        let call = Get(path: "others", authorizationType: .none)
        stub.on(nil, nil, .failure(.cannotConnect))
        await #expect(throws: (any Error).self) { try await service.request(call) }
        stub.on(nil, nil) { _ in StubResponse(.ok, body: Data("two".utf8)) }
        let before = stub.requests.count
        let task = service.task(call, as: .string, with: offline)
        #expect(await clock.advanceToNextSleeper() == .seconds(31))
        #expect(try await task.value == "two")
        #expect(stub.requests.count == before + 1)
    }
}
