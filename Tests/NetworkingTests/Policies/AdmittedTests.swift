import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The end of an attempt for its policies", .endsInTime)
struct AdmittedTests {
    private func request() throws -> HTTPRequest { HTTPRequest(.get, try #require(URL(string: "https://a.example/"))) }

    /// Records how attempts end.
    private struct OutcomePolicy: AdmissionPolicy {
        let outcomes = Box<[String]>([])

        func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? { AdmissionPermit() }
        func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async -> AdmissionPermit { AdmissionPermit() }

        func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
            let text =
                switch outcome {
                case .responded(let response): "\(response.status.code)"
                case .failed(let error as NetworkError): error.reason ?? "\(error.kind)"
                case .failed(let error): "\(type(of: error))"
                case .notSent: "not sent"
                }
            outcomes.change { $0.append(text) }
        }
    }

    @Test("If a path drops its permits, the attempt ends as cancelled")
    func dropped() async throws {
        let policy = OutcomePolicy()
        do {
            let admitted = try await Admission([policy]).enter(try request(), for: UserEndpoint.open)
            _ = consume admitted
        }
        #expect(policy.outcomes.value == ["the permits of the attempt were dropped"])
    }

    @Test("However a call ends, no path of the pipeline drops its permits, and each attempt ends once")
    func neverDropped() async throws {
        struct Fault: Error {}
        let policy = OutcomePolicy()
        let stub = StubTransport()
        stub.on(nil, "/v1/fine", .text("fine"))
        stub.on(nil, "/v1/failing", .failure(.cannotConnect))
        stub.on(nil, "/v1/missing", .status(.notFound))
        stub.on(nil, "/v1/long", .text(String(repeating: "x", count: 100)))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.admissionPolicies = [policy]
            $0.duplicates = .always(.join)
            $0.cache = ResponseCache(clock: Fixture.stillClock)
            $0.retry = RetryPolicy(retries: 1)
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in
                    if request.headers.contains("X-Fault") { throw Fault() }
                    if request.headers.contains("X-Wait") { try await withCallCancellation { await Task.yield() } }
                }
            ])
        }
        func outcomes(_ call: @escaping @Sendable () async throws -> Void) async -> [String] {
            policy.outcomes.change { $0 = [] }
            _ = await Fixture.failure(call)
            return policy.outcomes.value
        }
        let folder = try TemporaryFolder()
        #expect(await outcomes { try await service.request(.get("fine")) } == ["200"])
        #expect(await outcomes { try await service.request(.get("missing")) } == ["404"])
        #expect(await outcomes { try await service.request(.get("failing")) } == ["cannotConnect", "cannotConnect"])
        #expect(
            await outcomes { try await service.request(AdHocEndpoint.get("fine").header("X-Fault", "1")) } == [
                "not sent"
            ])
        #expect(await outcomes { let _: Int = try await service.request(.get("fine")) } == ["200"])
        let small = RequestSettings { $0.maximumResponseSize = 10 }
        #expect(await outcomes { try await service.request(.get("long"), with: small) }.count == 1)
        let file = folder.url.appendingPathComponent("file")
        let download = ResponseConverter<URL>.file(at: file)
        #expect(await outcomes { _ = try await service.request(AdHocEndpoint.get("fine"), as: download) } == ["200"])
        #expect(await outcomes { _ = try await service.request(AdHocEndpoint.get("fine"), as: download) }.count == 1)
        #expect(await outcomes { _ = try await service.request(AdHocEndpoint.get("fine"), as: .stream) } == ["200"])
        let cached = RequestSettings { $0.caching = .only }
        #expect(await outcomes { try await service.request(.get("none"), with: cached) } == [])
        let cancelled = await outcomes {
            let task = service.task(AdHocEndpoint.get("fine").header("X-Wait", "1"), as: .void)
            task.cancel()
            try await task.value
        }
        #expect(!cancelled.contains { $0.contains("dropped") })
    }
}
