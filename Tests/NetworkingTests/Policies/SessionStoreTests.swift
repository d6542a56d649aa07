import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Sessions with a token store", .endsInTime)
struct SessionStoreTests {
    private let clock = ManualClock()

    private func service(
        _ session: AccessTokenSupervisor, _ transport: any Transport, limit: ConcurrencyLimit = ConcurrencyLimit(),
        handlers: [any ErrorHandler] = []
    ) -> UserService {
        UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.concurrencyLimit = limit
            $0.transport = transport
            $0.errorHandlingService = ErrorHandlingService(handlers)
        }
    }

    private func session(
        _ token: AccessToken?, refresh: @escaping AccessTokenSupervisor.Refresh = { _ in throw AccessToken.Rejected() }
    ) -> AccessTokenSupervisor {
        AccessTokenSupervisor(token: token, clock: clock.networkClock, refresh: refresh)
    }

    private func tokens(_ stub: StubTransport) -> [String?] { stub.requests.map { $0.headers[.authorization] } }

    /// A store that refuses every write, although it contains the token that it has returned.
    private final class RefusingStore: AccessTokenStore {
        let loads = Box(0)

        func load() async throws -> AccessToken? {
            loads.change { $0 += 1 }
            return AccessToken("old", refreshToken: "r0")
        }

        func save(_ token: AccessToken?, replacing expected: AccessToken?) async throws -> Bool { false }

        func exclusively<Value: Sendable>(_ operation: ExclusiveOperation<Value>) async throws -> Value {
            try await operation()
        }
    }

    @Test("A store that refuses every write is asked a few times, with pauses, and then the failure is reported")
    func refusingStore() async throws {
        let store = RefusingStore()
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in AccessToken("new") }
        try await session.load()
        let events = session.events.values()
        let time = Task { [clock] in
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(100))
                await Task.yield()
            }
        }
        defer { time.cancel() }
        let stub = StubTransport { $0.headers[.authorization] == "Bearer new" ? .status(.ok) : .status(.unauthorized) }
        try await service(session, stub).request(UserEndpoint.fetch(id: "7"))  // the refreshed token is used anyway
        for await event in events {
            guard case .notStored(let error) = event else { continue }
            #expect("\(error)".contains("the token store has refused 8 writes"), "\(error)")
            break
        }
        #expect(store.loads.value < 100)
    }

    @Test("If the time limit of a refresh passes while the new token is being saved, the token is not lost")
    func slowSave() async throws {
        let store = MemoryTokenStore(AccessToken("t0", refreshToken: "r0"))
        let asked = Box<[String?]>([])
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { old in
            asked.change { $0.append(old?.refreshToken) }
            let barrier = Settlement<Void>()
            store.barrier.change { $0 = barrier }  // the save hangs
            return AccessToken("t1", refreshToken: "r1")
        }
        try await session.load()
        let stub = StubTransport { $0.headers[.authorization] == "Bearer t1" ? .status(.ok) : .status(.unauthorized) }
        let service = service(session, stub)
        let first = service.task(UserEndpoint.fetch(id: "7"), as: .void)
        while store.barrier.value == nil { await Task.yield() }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        _ = await Fixture.failure { try await first.value }
        let barrier = store.barrier.value
        store.barrier.change { $0 = nil }
        barrier?.settle(.success(()))
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(asked.value == ["r0"])
    }

    @Test("If a user's token could not be saved, the end of the session does not restore the previous user")
    func endWhileUnsaved() async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in throw AccessToken.Rejected()
        }
        try await session.load()
        store.isFull.change { $0 = true }
        session.accessToken = AccessToken("bob")
        let stub = StubTransport { _ in .status(.unauthorized) }
        let service = service(session, stub)
        for _ in 0..<2 { _ = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } }
        #expect(session.accessToken == AccessToken("bob"))
        #expect(tokens(stub) == ["Bearer bob"])
    }

    @Test("A refreshed token is saved, even if the previous token was saved only after the refresh had begun")
    func saveWhileRefreshing() async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()), isFull: true)
        let box = Box<AccessTokenSupervisor?>(nil)
        let asked = Box<[AccessToken?]>([])
        let clock = clock
        let session = AccessTokenSupervisor(
            store: store, refreshTimeout: .seconds(1_000_000), clock: clock.networkClock
        ) { old in
            asked.change { $0.append(old) }
            store.isFull.change { $0 = false }
            while box.value?.isKeeping == true, !Task.isCancelled {
                clock.advance(by: .seconds(2))
                await Task.yield()
            }
            return AccessToken("bob2")
        }
        box.change { $0 = session }
        try await session.load()
        session.accessToken = AccessToken("bob1")
        let stub = StubTransport { $0.headers[.authorization] == "Bearer bob2" ? .status(.ok) : .status(.unauthorized) }
        try await service(session, stub).request(UserEndpoint.fetch(id: "7"))
        #expect(try await store.load() == AccessToken("bob2"))
        #expect(session.accessToken == AccessToken("bob2"))
        #expect(asked.value == [AccessToken("bob1")])
        box.change { $0 = nil }
    }

    @Test("If the folder of the store is missing, loading throws an error with its path, and calls fail with a reason")
    func missingFolder() async throws {
        let folder = URL(fileURLWithPath: "/no/such/folder")
        let file = folder.appendingPathComponent("token.json")
        let store = AccessTokenFile(file, clock: clock.networkClock)
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in throw AccessToken.Rejected()
        }
        let error = await Fixture.failure { try await session.load() } as? CocoaError
        #expect(error?.code == .fileNoSuchFile && error?.userInfo[NSFilePathErrorKey] as? String == folder.path)
        let service = service(session, StubTransport { _ in .status(.ok) })
        let failed = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } as? NetworkError
        #expect(failed?.kind == .noToken && failed?.reason?.hasPrefix("no access token: ") == true)
    }

    @Test("While the store is read, authorized calls wait and the token is nil")
    func loading() async throws {
        let store = MemoryTokenStore(AccessToken("T"))
        let barrier = Settlement<Void>()
        store.barrier.change { $0 = barrier }
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in throw AccessToken.Rejected()
        }
        let stub = StubTransport { _ in .status(.ok) }
        let service = service(session, stub)
        let call = service.task(UserEndpoint.fetch(id: "7"), as: .void)
        while session.waiterCount == 0 { await Task.yield() }
        #expect(session.accessToken == nil && stub.requests.isEmpty)
        store.barrier.change { $0 = nil }
        barrier.settle(.success(()))
        try await call.value
        #expect(tokens(stub) == ["Bearer T"])
    }

    /// Returns a session that starts with the token of the store and whose refresh returns "c". Also returns the
    /// refresh tokens that the refresh has received.
    private func session(in store: MemoryTokenStore) async throws -> (AccessTokenSupervisor, Box<[String?]>) {
        let asked = Box<[String?]>([])
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { old in
            asked.change { $0.append(old?.refreshToken) }
            return AccessToken("c", refreshToken: "rc")
        }
        try await session.load()
        return (session, asked)
    }

    @Test("If the server also refuses the newer token of the store, the call starts a refresh with that token")
    func deadTokenOfTheStore() async throws {
        let store = MemoryTokenStore(AccessToken("a", refreshToken: "ra"))
        let (session, asked) = try await session(in: store)
        try await store.put(AccessToken("b", refreshToken: "rb"))
        let stub = StubTransport { $0.headers[.authorization] == "Bearer c" ? .status(.ok) : .status(.unauthorized) }
        try await service(session, stub).request(UserEndpoint.fetch(id: "7"))
        #expect(tokens(stub) == ["Bearer a", "Bearer b", "Bearer c"] && asked.value == ["rb"])
    }

    @Test("A token that could not be saved is refreshed anyway, even if another process removes the stored token")
    func unsaved() async throws {
        for isRemoved in [false, true] {
            let store = MemoryTokenStore(AccessToken("a", refreshToken: "ra"))
            let (session, asked) = try await session(in: store)
            store.isFull.change { $0 = true }
            session.accessToken = AccessToken("b", refreshToken: "rb")
            if isRemoved { store.removeToken() }
            let stub = StubTransport {
                $0.headers[.authorization] == "Bearer c" ? .status(.ok) : .status(.unauthorized)
            }
            try await service(session, stub).request(UserEndpoint.fetch(id: "7"))
            #expect(asked.value == ["rb"])
        }
    }

    @Test("If a store reports a newer token or a log-out, the session applies it immediately")
    func changes() async throws {
        let alice = UUID()
        let store = MemoryTokenStore(AccessToken("a", session: alice))
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in throw AccessToken.Rejected()
        }
        try await session.load()
        try await store.put(AccessToken("b", session: alice))
        store.notify()
        while session.accessToken?.value != "b" { await Task.yield() }
        try await store.put(nil)
        store.notify()
        while session.accessToken != nil { await Task.yield() }
        #expect(try await session.load() == nil)
    }

    @Test("The session reads the store again before it reports that it is over")
    func readAgain() async throws {
        let store = MemoryTokenStore(AccessToken("old"))
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in
            try await store.put(AccessToken("newer"))  // like another process that does not take the lock
            throw AccessToken.Rejected()
        }
        let stub = StubTransport { $0.headers[.authorization] == "Bearer newer" ? .text("ok") : .status(.unauthorized) }
        #expect(try await service(session, stub).request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        #expect(session.accessToken == AccessToken("newer"))
    }

    @Test("A refreshed token that cannot be saved is reported, and the session continues with the new token")
    func notStored() async throws {
        let store = MemoryTokenStore(AccessToken("old"), isFull: true)
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in AccessToken("new") }
        let reports = Box(0)
        let observation = session.events.observe(on: nil) { event in
            if case .notStored(let error) = event, error is MemoryTokenStore.Full { reports.change { $0 += 1 } }
        }
        let stub = StubTransport { $0.headers[.authorization] == "Bearer new" ? .text("ok") : .status(.unauthorized) }
        #expect(try await service(session, stub).request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        #expect(reports.value >= 1)
        observation.cancel()
    }
}
