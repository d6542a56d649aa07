import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Idempotency keys and refused tokens", .endsInTime)
struct IdempotencyTests {
    private struct Item: Endpoint {
        var path: EndpointPath = "item"
        var method = HTTPMethod.get
        var headers: HTTPHeaders = []
        var idempotencyKey = IdempotencyKey.none
        var authorizationType = AuthorizationType.none
        var settings = RequestSettings()
    }

    @Test(
        "The statuses that mean that a token is refused can be set, and a repeated 403 ends the call", .row("N-36"))
    func refusals() async throws {
        let refreshes = Box(0)
        let session = AccessTokenSupervisor(
            token: AccessToken("old"), unauthorizedStatuses: [.unauthorized, .forbidden], clock: Fixture.stillClock
        ) { _ in
            refreshes.change { $0 += 1 }
            return AccessToken("new \(refreshes.value)")
        }
        let stub = StubTransport { _ in .status(.forbidden) }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        let error = await Fixture.failure { try await service.request(Item(authorizationType: .bearer)) }
        #expect(error as? GeneralRequestError == .forbidden)
        #expect(refreshes.value == 1 && stub.requests.count == 2)
    }

    @Test(
        "An idempotency key is created once for each call and kept for retries; a key that the app sets is unchanged")
    func idempotency() async throws {
        let stub = StubTransport { $0.headers[.authorization] == "Bearer old" ? .status(.unauthorized) : .text("ok") }
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        try await service.request(Item(method: .post, idempotencyKey: .unique, authorizationType: .bearer))
        let keys = stub.requests.map { $0.headers[.idempotencyKey] }
        #expect(keys.count == 2 && keys[0] == keys[1] && keys[0] != nil)
        try await service.request(Item(method: .post, idempotencyKey: .value("mine")))
        try await service.request(Item(method: .post, headers: [.idempotencyKey: "own"], idempotencyKey: .unique))
        try await service.request(Item(method: .post))
        #expect(stub.requests.suffix(3).map { $0.headers[.idempotencyKey] } == ["mine", "own", nil])
    }

    @Test("Generated keys come from the service's random source: the same seed creates the same keys")
    func seededKeys() async throws {
        var runs: [[String?]] = []
        for _ in 0..<2 {
            let stub = StubTransport { _ in .text("ok") }
            let service = NetworkService(environment: Fixture.environment) {
                $0.transport = stub
                $0.random = RandomSource(SeededGenerator(seed: 9))
            }
            for _ in 0..<3 { try await service.request(Item(method: .post, idempotencyKey: .unique)) }
            runs.append(stub.requests.map { $0.headers[.idempotencyKey] })
        }
        #expect(runs[0] == runs[1])
        #expect(Set(runs[0]).count == 3)
        #expect(runs[0].allSatisfy { UUID(uuidString: $0 ?? "") != nil && $0?.dropFirst(14).first == "4" })
    }
}
