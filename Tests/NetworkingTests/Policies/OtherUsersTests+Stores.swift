import Foundation
import NetworkingTesting
import Testing

@testable import Networking

// Tokens in a store, and responses in the cache and in files.
extension OtherUsersTests {
    @Test("If an adapter replaces the credentials of the session, the cache tells the users apart")
    func replacedCredentials() async throws {
        let stub = StubTransport { .text($0.headers[.authorization] ?? "", headers: [.cacheControl: "max-age=60"]) }
        let session = session(AccessToken("staff", userInfo: ["tenant": "1"]))
        let user = Box("ann")
        let service = service(session, stub) {
            $0.cache = ResponseCache(clock: clock.networkClock)
            $0.requestAdaptingService = RequestAdaptingService([
                TokenRequestAdapter(accessTokenSupervisor: session) { $1["X-Tenant"] = $0.userInfo["tenant"] },
                AdHocAdapter { request, _ in request.headers[.authorization] = user.value },
            ])
        }
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ann")
        user.change { $0 = "bob" }
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "bob")
    }

    @Test("The two responses of cachedThenFresh belong to one user")
    func cachedThenFresh() async throws {
        let stub = StubTransport { .text($0.headers[.authorization] ?? "", headers: [.cacheControl: "max-age=1"]) }
        let session = session(AccessToken("alice"))
        let service = service(session, stub) {
            $0.cache = ResponseCache(clock: clock.networkClock)
        }
        _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .string)
        clock.advance(by: .seconds(5))
        var responses = service.cachedThenFresh(UserEndpoint.fetch(id: "7"), as: .string).makeAsyncIterator()
        #expect(try await responses.next()?.value == "Bearer alice")
        session.accessToken = AccessToken("bob")
        var later: String?
        let error = await Fixture.failure { later = try await responses.next()?.value }
        #expect(error != nil && later == nil, "\(later ?? "")")
    }

    @Test("A part of a file is not continued for another user")
    func resumed() async throws {
        let folder = try TemporaryFolder()
        let target = folder.url.appendingPathComponent("report")
        let destination = FileDestination(target, overwriting: .replace, resuming: .sameAddress)
        let session = session(AccessToken("alice"))
        let service = service(session, HalfTransport()) {
            $0.retry = nil
        }
        _ = await Fixture.failure { _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .file(destination)) }
        #expect(destination.partialSize == 4)
        session.accessToken = AccessToken("bob")
        let error = await Fixture.failure {
            _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .file(destination))
        }
        #expect(error == nil)
        #expect(try String(contentsOf: target, encoding: .utf8) == "bob.bob.")
    }

    @Test("A stored token without a session id is never sent in a call of a known session", arguments: [true, false])
    func unnamedLogIn(isRejected: Bool) async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let session = AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in
            try await store.put(AccessToken("bob"))
            if isRejected { throw AccessToken.Rejected() }
            return AccessToken("alice-2")
        }
        try await session.load()
        await expectOnlyAlice(in: session)
    }

    @Test("A token that is found when the server refuses the session is not sent in its calls, either")
    func unnamedLogInBefore() async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let session = AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in throw AccessToken.Rejected()
        }
        try await session.load()
        try await store.put(AccessToken("bob"))
        await expectOnlyAlice(in: session)
    }

    /// Makes a call whose token is refused, and expects that no other token is sent in it.
    private func expectOnlyAlice(in session: AccessTokenSupervisor) async {
        let stub = StubTransport {
            $0.headers[.authorization] == "Bearer alice" ? .status(.unauthorized) : .status(.ok)
        }
        _ = await Fixture.failure { try await service(session, stub).request(UserEndpoint.rename(id: "7", to: "x")) }
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer alice"])
    }

    /// A store that records what it is asked to save, and calls a closure while the supervisor reads it.
    private final class WatchedStore: AccessTokenStore {
        let base = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let saved = Box<[String?]>([])
        let whileReading = Box<(@Sendable () -> Void)?>(nil)

        func load() async throws -> AccessToken? {
            let token = try await base.load()
            whileReading.value?()
            whileReading.change { $0 = nil }
            return token
        }

        func save(_ token: AccessToken?, replacing expected: AccessToken?) async throws -> Bool {
            saved.change { $0.append(token?.value) }
            return try await base.save(token, replacing: expected)
        }

        func exclusively<Value: Sendable>(_ operation: ExclusiveOperation<Value>) async throws -> Value {
            try await base.exclusively(operation)
        }
    }

    @Test("A refreshed token is not saved if another user logs in while the store is read")
    func refreshAfterLogIn() async throws {
        let store = WatchedStore()
        let box = Box<AccessTokenSupervisor?>(nil)
        let session = AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in
            store.whileReading.change { $0 = { box.value?.accessToken = AccessToken("bob") } }
            return AccessToken("alice-2")
        }
        box.change { $0 = session }
        try await session.load()
        _ = await Fixture.failure { try await session.refresh() }
        while store.saved.value.last != "bob" { await Task.yield() }
        #expect(store.saved.value == ["bob"])
    }

    @Test("replace ignores a token of another session")
    func replacedLate() async throws {
        let stub = StubTransport { _ in .status(.ok) }
        let session = session(AccessToken("alice", refreshToken: "ra"))
        let service = service(session, stub)
        var rotated = try #require(session.accessToken)
        rotated.value = "alice-2"
        session.accessToken = AccessToken("bob", refreshToken: "rb")
        session.replace(rotated)
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer bob"])
    }

    @Test("A first reading of the store that arrives after a second one brings no token back")
    func lateReading() throws {
        let now = Date(timeIntervalSince1970: 1_000_000)
        var machine = AccessTokenMachine(token: nil, session: UUID(), storage: .unread, at: now)
        func start(_ effects: [AccessTokenMachine.Effect]) -> AccessTokenMachine.Job? {
            for case .start(let job) in effects { return job }
            return nil
        }
        let first = try #require(start(machine.load()))
        struct Late: Error {}
        _ = machine.passTimeLimit(of: first, with: Late())
        _ = machine.passTimeLimit(of: first, with: Late())
        let second = try #require(start(machine.load()))
        _ = machine.findNothing(second, at: now)
        let number = machine.sessionNumber
        _ = machine.succeed(first, with: AccessToken("alice", session: UUID()), from: .elsewhere, isKept: true, at: now)
        #expect(machine.token == nil || machine.sessionNumber != number)
    }

    @Test("A paused download does not go on for another user")
    func paused() async throws {
        let folder = try TemporaryFolder()
        let transport = ManualTransport()
        let session = session(AccessToken("alice"))
        let task = service(session, transport).task(
            UserEndpoint.fetch(id: "7"),
            as: .file(FileDestination(folder.url.appendingPathComponent("x"), resuming: .sameAddress)))
        await transport.waitForRequests()
        task.pause()
        while transport.endedCount == 0 { await Task.yield() }
        session.accessToken = AccessToken("bob")
        task.resume()
        #expect(await Fixture.failure { _ = try await task.value } as? GeneralRequestError == .noAuth)
        #expect(transport.count == 1)
    }

    @Test("A stale response is not used offline for another user")
    func offline() async throws {
        let isUp = Box(true)
        let stub = StubTransport { _ in
            isUp.value ? .text("alice's", headers: [.cacheControl: "max-age=1"]) : .failure(.notConnected)
        }
        let session = session(AccessToken("alice"))
        let service = service(session, stub) {
            $0.cache = ResponseCache(clock: clock.networkClock)
            $0.settings.caching = .staleIfOffline
        }
        _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .string)
        isUp.change { $0 = false }
        clock.advance(by: .seconds(9))
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "alice's")
        session.accessToken = AccessToken("bob")
        #expect(
            await Fixture.failure { _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .string) } != nil)
    }

    @Test("A validation in the background that ends after a log-in is stored for its own user")
    func background() async throws {
        let server = ManualTransport()
        let session = session(AccessToken("alice"))
        let stub = Box(true)
        let transport = Switching(
            first: StubTransport {
                .text(
                    $0.headers[.authorization] ?? "", headers: [.cacheControl: "max-age=1, stale-while-revalidate=60"])
            }, then: server, isFirst: stub)
        let service = service(session, transport) { $0.cache = ResponseCache(clock: clock.networkClock) }
        _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .string)
        clock.advance(by: .seconds(2))
        stub.change { $0 = false }
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "Bearer alice")
        await server.waitForRequests()
        session.accessToken = AccessToken("bob")
        server.answer(.ok, "alice's news")
        stub.change { $0 = true }
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "Bearer bob")
        #expect(service.cachedResponse(UserEndpoint.fetch(id: "7"), as: .string)?.value == "Bearer bob")
    }
}
