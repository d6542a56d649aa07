import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("A session that several processes share", .timeLimit(.minutes(5)))
final class AccessTokenStoreTests {
    private let folder: URL
    private let clock = ManualClock()
    private var file: URL { folder.appendingPathComponent("token.json") }
    /// A store as each process has one of its own; its lease does not end by itself while a test runs.
    private var store: AccessTokenFile {
        AccessTokenFile(file, lease: .seconds(365 * 86_400), clock: clock.networkClock)
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("networking-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A server that takes each refresh token once, and ends the session of whoever shows one again.
    private final class Rotation: Sendable {
        private let state = Box((number: 1, isOver: false, refreshes: 0))

        var refreshes: Int { state.value.refreshes }
        var isOver: Bool { state.value.isOver }
        var first: AccessToken { AccessToken("access-1", refreshToken: "refresh-1") }

        func refresh(_ old: AccessToken?) throws -> AccessToken {
            var result: AccessToken?
            state.change { state in
                guard old?.refreshToken == "refresh-\(state.number)", !state.isOver else {
                    state.isOver = true
                    return
                }
                state.number += 1
                state.refreshes += 1
                result = AccessToken("access-\(state.number)", refreshToken: "refresh-\(state.number)")
            }
            guard let result else { throw AccessTokenRejected() }
            return result
        }

        func accepts(_ request: HTTPRequest) -> Bool {
            request.headers[.authorization] == "Bearer access-\(state.value.number)"
        }
    }

    /// Time goes on, for whoever waits for the lease, until the task that this returns is cancelled.
    private func passingTime() -> Task<Void, Never> {
        let clock = clock
        return Task {
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(50))
                await Task.yield()
            }
        }
    }

    private func process(_ rotation: Rotation) throws -> (session: AccessTokenSupervisor, service: UserService) {
        let session = try AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { old in
            await Task.yield()
            return try rotation.refresh(old)
        }
        let stub = StubTransport { rotation.accepts($0) ? .text("ok") : .status(.unauthorized) }
        return (session, UserService(environment: Fixture.environment, authorizedBy: session, transport: stub))
    }

    @Test("Two processes with one rotating token do not log each other out")
    func rotation() async throws {
        let rotation = Rotation()
        let time = passingTime()
        defer { time.cancel() }
        try store.save(AccessToken("access-0", refreshToken: "refresh-1"))
        let processes = [try process(rotation), try process(rotation)]
        await withTaskGroup(of: Void.self) { group in
            for (_, service) in processes {
                for _ in 0..<20 {
                    group.addTask {
                        #expect((try? await service.request(UserEndpoint.fetch(id: "7"), as: .string)) == "ok")
                    }
                }
            }
        }
        #expect(rotation.refreshes == 1)
        #expect(!rotation.isOver)
        #expect(Set(processes.map(\.session.accessToken)).count == 1)
    }

    @Test("A token that another process has brought is taken without a refresh")
    func taken() async throws {
        let rotation = Rotation()
        try store.save(rotation.first)
        let (session, service) = try process(rotation)
        _ = try rotation.refresh(rotation.first)
        let newer = AccessToken("access-2", refreshToken: "refresh-2")
        try store.save(newer)
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        #expect(session.accessToken == newer)
        #expect(rotation.refreshes == 1 && !rotation.isOver)
    }

    @Test("Before the session is declared over the store is read again")
    func readAgain() async throws {
        let store = store
        let newer = AccessToken("newer")
        try store.save(AccessToken("old"))
        let session = try AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in
            try store.save(newer)  // somebody without a lease was faster
            throw AccessTokenRejected()
        }
        let stub = StubTransport { $0.headers[.authorization] == "Bearer newer" ? .text("ok") : .status(.unauthorized) }
        let service = UserService(environment: Fixture.environment, authorizedBy: session, transport: stub)
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        #expect(session.accessToken == newer)
    }

    @Test("Logging out in one process ends the session in the other at its next refresh; nobody refreshes")
    func loggedOut() async throws {
        let rotation = Rotation()
        try store.save(rotation.first)
        let (first, _) = try process(rotation)
        let (second, service) = try process(rotation)
        let events = Box<[String]>([])
        let token = second.events.observe { event in
            if case .sessionOver = event { events.change { $0.append("over") } }
        }
        first.accessToken = nil
        #expect(try store.load() == nil)
        _ = try rotation.refresh(rotation.first)
        #expect(
            await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } as? GeneralRequestError
                == .noAuth)
        #expect(events.value == ["over"])
        #expect(rotation.refreshes == 1)
        token.cancel()
    }

    @Test("Logging out during a refresh wins in the store, too")
    func loggedOutMeanwhile() async throws {
        let store = store
        let mayGoOn = Settlement<Void>()
        try store.save(AccessToken("old"))
        let session = try AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in
            await withCheckedContinuation { continuation in mayGoOn.observe { _ in continuation.resume() } }
            return AccessToken("late")
        }
        let service = UserService(
            environment: Fixture.environment, authorizedBy: session,
            transport: StubTransport { _ in .status(.unauthorized) })
        let call = service.task(UserEndpoint.fetch(id: "7"), as: .string)
        while !session.isRefreshing { await Task.yield() }
        session.accessToken = nil
        mayGoOn.settle(.success(()))
        _ = await Fixture.failure { _ = try await call.value }
        let time = passingTime()
        defer { time.cancel() }
        try await store.exclusively {}  // by then the refresh has ended
        #expect(session.accessToken == nil)
        #expect(try store.load() == nil)
    }

    @Test("Logging out in another process during a refresh wins")
    func loggedOutElsewhere() async throws {
        let mayGoOn = Settlement<Void>()
        let hasBegun = Settlement<Void>()
        try store.save(AccessToken("old"))
        let session = try AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in
            hasBegun.settle(.success(()))
            await withCheckedContinuation { continuation in mayGoOn.observe { _ in continuation.resume() } }
            return AccessToken("late")
        }
        let other = try AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in
            throw AccessTokenRejected()
        }
        let service = UserService(
            environment: Fixture.environment, authorizedBy: session,
            transport: StubTransport { _ in .status(.unauthorized) })
        let call = service.task(UserEndpoint.fetch(id: "7"), as: .string)
        try await hasBegun.value()
        other.accessToken = nil
        mayGoOn.settle(.success(()))
        _ = await Fixture.failure { _ = try await call.value }
        #expect(try store.load() == nil)
    }

    @Test("After a token could not be kept, the older one in the store is not taken for a newer one")
    func failedSave() async throws {
        struct Full: Error {}
        final class FailingStore: AccessTokenStore {
            let kept = Box<AccessToken?>(AccessToken("access-0", refreshToken: "refresh-1"))
            func load() -> AccessToken? { kept.value }
            func save(_ token: AccessToken?) throws { throw Full() }
            func exclusively<Value: Sendable>(_ operation: @Sendable () async throws -> Value) async throws -> Value {
                try await operation()
            }
        }
        let rotation = Rotation()
        let session = try AccessTokenSupervisor(store: FailingStore(), clock: Fixture.stillClock) {
            try rotation.refresh($0)
        }
        let stub = StubTransport { rotation.accepts($0) ? .text("ok") : .status(.unauthorized) }
        let service = UserService(environment: Fixture.environment, authorizedBy: session, transport: stub)
        for round in 0..<3 {
            #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
            if round < 2 { session.accessToken = AccessToken("stale", refreshToken: session.accessToken?.refreshToken) }
        }
        #expect(rotation.refreshes == 3 && !rotation.isOver)
    }

    @Test("A lease from a clock that was a day ahead keeps nobody out")
    func futureLease() async throws {
        let ahead = ManualClock(date: clock.date.addingTimeInterval(86_400))
        let store = AccessTokenFile(file, clock: clock.networkClock)
        try await AccessTokenFile(file, clock: ahead.networkClock).exclusively {
            try await store.exclusively {}
        }
    }

    @Test("A lease that somebody left behind ends by its time; one that is held keeps others out")
    func lease() async throws {
        let clock = ManualClock()
        let store = AccessTokenFile(file, lease: .seconds(40), clock: clock.networkClock)
        let mayEnd = Settlement<Void>()
        let order = Box<[String]>([])
        let hanging = Task {
            try await store.exclusively {
                order.change { $0.append("first") }
                await withCheckedContinuation { continuation in mayEnd.observe { _ in continuation.resume() } }
            }
        }
        while order.value.isEmpty { await Task.yield() }
        let waiting = Task { try await store.exclusively { order.change { $0.append("second") } } }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(39))
        await clock.waitForSleepers()
        #expect(order.value == ["first"])
        clock.advance(by: .seconds(2))
        try await waiting.value
        #expect(order.value == ["first", "second"])
        mayEnd.settle(.success(()))
        try await hanging.value
        let cancelled = Task { try await store.exclusively { withUnsafeCurrentTask { $0?.cancel() } } }
        try await cancelled.value
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { $0.hasPrefix("token.json") })
    }

    @Test("The file is its owner's alone, and is replaced as a whole; what is no token is an error")
    func ownedFile() throws {
        let token = AccessToken("a", expiresAt: Date(timeIntervalSince1970: 1_700_000_000), refreshToken: "r")
        for value in [token, AccessToken("b"), token] { try store.save(value) }
        #expect(try store.load() == token)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try store.save(nil)
        try store.save(nil)
        #expect(try store.load() == nil)
        try Data("{".utf8).write(to: file)
        #expect(throws: (any Error).self) {
            _ = try AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in token }
        }
    }

    @Test("A store that cannot keep the token is told; the session goes on")
    func notStored() async throws {
        struct Full: Error {}
        struct FullStore: AccessTokenStore {
            func load() -> AccessToken? { AccessToken("old") }
            func save(_ token: AccessToken?) throws { throw Full() }
            func exclusively<Value: Sendable>(_ operation: @Sendable () async throws -> Value) async throws -> Value {
                try await operation()
            }
        }
        let session = try AccessTokenSupervisor(store: FullStore(), clock: Fixture.stillClock) { _ in AccessToken("new")
        }
        let told = Box(0)
        let token = session.events.observe { event in
            if case .notStored(let error) = event, error is Full { told.change { $0 += 1 } }
        }
        let stub = StubTransport { $0.headers[.authorization] == "Bearer new" ? .text("ok") : .status(.unauthorized) }
        let service = UserService(environment: Fixture.environment, authorizedBy: session, transport: stub)
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        #expect(told.value == 1)
        token.cancel()
    }
}
