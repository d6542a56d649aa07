import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Tests for defects that were fixed and must not return.
@Suite("Stub transports", .endsInTime)
struct StubTransportTests {
    private let clock = ManualClock()

    @Test("A manual clock throws an error if the condition that it waits for never becomes true")
    func nothingHappens() async {
        await #expect(throws: ManualClock.NothingHappened.self) {
            try await clock.advance(by: .seconds(1), atMost: 10, until: { false })
        }
    }

    @Test("The rules of a stub accept patterns, and paths with or without a slash at the beginning")
    func stubPatterns() async throws {
        let stub = StubTransport()
        stub.on(.get, "v1/users/:id", .text("user"))
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        #expect(try await service.request(.get("users/7")) as String == "user")
        let error = await Fixture.failure { try await service.request(.get("users/7/files")) } as? NetworkError
        #expect(error?.kind == .noStubRule)
    }
}
