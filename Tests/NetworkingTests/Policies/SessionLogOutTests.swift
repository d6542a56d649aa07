import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Logging out", .endsInTime)
struct SessionLogOutTests {
    private let clock = ManualClock()

    private func service(_ session: AccessTokenSupervisor, _ transport: any Transport) -> UserService {
        UserService(environment: Fixture.environment, authorizedBy: session) { $0.transport = transport }
    }

    @Test("A log-out takes effect at once; a failed removal is reported and retried until it succeeds")
    func removal() async throws {
        let store = MemoryTokenStore(AccessToken("a"), isFull: true)
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in throw AccessToken.Rejected()
        }
        try await session.load()
        let reports = Box(0)
        let observation = session.events.observe(on: nil) { event in
            if case .notStored(let error) = event, error is MemoryTokenStore.Full { reports.change { $0 += 1 } }
        }
        session.accessToken = nil
        #expect(session.accessToken == nil)
        for round in 1...3 {
            while reports.value < round { await Task.yield() }
            await clock.advanceToNextSleeper()
        }
        store.isFull.change { $0 = false }
        while try await store.load() != nil {
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        observation.cancel()
    }

    @Test("A store that hangs during a removal is cancelled after the time limit, and the removal is retried")
    func hangingStore() async throws {
        let store = MemoryTokenStore(AccessToken("a"))
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in AccessToken("c") }
        try await session.load()
        let reports = Box<[String]>([])
        let observation = session.events.observe(on: nil) { event in
            if case .notStored(let error) = event { reports.change { $0.append("\(error)") } }
        }
        store.barrier.change { $0 = Settlement() }
        session.accessToken = nil
        while clock.sleeperCount == 0 { await Task.yield() }
        clock.advance(by: .seconds(30))
        while reports.value.isEmpty { await Task.yield() }
        await clock.waitForSleepers()
        store.barrier.change { $0 = nil }
        clock.advance(by: .seconds(1))
        while session.isKeeping { await Task.yield() }
        #expect(try await store.load() == nil)
        #expect(
            reports.value.count == 1 && reports.value.first?.contains("the token store took longer than 30") == true)
        observation.cancel()
    }

    @Test("A log-out removes its own token, not the token of a session that another process has started since")
    func removalOfAnother() async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in throw AccessToken.Rejected()
        }
        try await session.load()
        let bob = AccessToken("bob", session: UUID())
        try await store.put(bob)
        session.accessToken = nil
        while session.isKeeping { await Task.yield() }
        #expect(try await store.load() == bob)
    }

    @Test("A log-out in another process during a refresh discards the new token, in the store and in this process")
    func loggedOutElsewhere() async throws {
        let store = MemoryTokenStore(AccessToken("old", session: UUID()))
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in
            try await store.put(nil)
            return AccessToken("late")
        }
        let events = Box<[String]>([])
        let observation = session.events.observe(on: nil) { event in
            if case .sessionOver = event { events.change { $0.append("over") } }
        }
        try await session.load()
        let service = service(session, StubTransport { _ in .status(.unauthorized) })
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(try await store.load() == nil)
        #expect(events.value == ["over"])
        observation.cancel()
    }

    @Test("A log-out during a refresh also discards the new token in the store")
    func loggedOutMeanwhile() async throws {
        let store = MemoryTokenStore(AccessToken("old", session: UUID()))
        let mayGoOn = Settlement<Void>()
        let hasBegun = Settlement<Void>()
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in
            hasBegun.settle(.success(()))
            await withCheckedContinuation { continuation in mayGoOn.observe { _ in continuation.resume() } }
            return AccessToken("late")
        }
        try await session.load()
        let service = service(session, StubTransport { _ in .status(.unauthorized) })
        let call = service.task(UserEndpoint.fetch(id: "7"), as: .string)
        try await hasBegun.value()
        session.accessToken = nil
        mayGoOn.settle(.success(()))
        _ = await Fixture.failure { _ = try await call.value }
        try await store.exclusively(ExclusiveOperation {})  // waits for the end of the refresh
        while session.isKeeping { await Task.yield() }
        #expect(session.accessToken == nil)
        #expect(try await store.load() == nil)
    }
}
