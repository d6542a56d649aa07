import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Sessions that several processes share", .endsInTime)
final class AccessTokenStoreTests {
    private let folder: URL
    private let clock = ManualClock()
    private var file: URL { folder.appendingPathComponent("token.json") }
    /// A new store for the same file, as in another process. Its lease is too long to expire during a test.
    private var store: AccessTokenFile {
        AccessTokenFile(file, lease: .seconds(365 * 86_400), clock: clock.networkClock)
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("networking-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A server that accepts each refresh token once and ends the session if a refresh token is used again.
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
            guard let result else { throw AccessToken.Rejected() }
            return result
        }

        func accepts(_ request: HTTPRequest) -> Bool {
            request.headers[.authorization] == "Bearer access-\(state.value.number)"
        }
    }

    /// Advances the clock until the returned task is cancelled, so that tasks that wait for the lease continue.
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
        let session = AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { old in
            await Task.yield()
            return try rotation.refresh(old)
        }
        let stub = StubTransport { rotation.accepts($0) ? .text("ok") : .status(.unauthorized) }
        return (session, UserService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub })
    }

    @Test("Two processes that share a rotating refresh token do not end each other's session")
    func rotation() async throws {
        let rotation = Rotation()
        let time = passingTime()
        defer { time.cancel() }
        try await store.put(AccessToken("access-0", refreshToken: "refresh-1"))
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

    @Test("A token that another process has stored is used without a refresh")
    func taken() async throws {
        let rotation = Rotation()
        try await store.put(rotation.first)
        let (session, service) = try process(rotation)
        let first = try await session.load()
        _ = try rotation.refresh(rotation.first)
        let newer = AccessToken("access-2", refreshToken: "refresh-2", session: first?.session)
        try await store.put(newer)
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        #expect(session.accessToken == newer)
        #expect(rotation.refreshes == 1 && !rotation.isOver)
    }

    @Test("Only the owner can access the token file; a save replaces the whole file")
    func ownedFile() async throws {
        let token = AccessToken("a", expiresAt: Date(timeIntervalSince1970: 1_700_000_000), refreshToken: "r")
        for value in [token, AccessToken("b"), token] { try await store.put(value) }
        #expect(try store.load() == token)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try await store.put(nil)
        try await store.put(nil)
        #expect(try store.load() == nil)
    }

    @Test("The store compares the expected token and writes the new token under one lock")
    func compared() throws {
        let (first, second) = (AccessToken("a"), AccessToken("b"))
        #expect(try store.save(first, replacing: second) == false)
        #expect(try store.save(first, replacing: nil))
        #expect(try store.save(second, replacing: nil) == false)
        #expect(try store.load() == first)
        #expect(try store.save(nil, replacing: first))
        #expect(try store.load() == nil)
    }

    @Test("The next use of the store removes the temporary file of a process that ended during a write")
    func remains() throws {
        let left = URL(fileURLWithPath: file.path + ".new")
        try Data("secret".utf8).write(to: left)
        _ = try store.load()
        #expect(!FileManager.default.fileExists(atPath: left.path))
    }

    /// Runs `body` while another process holds the lease and renews it.
    private func holding(
        _ store: AccessTokenFile, _ body: () async throws -> Void
    ) async throws {
        let (hasBegun, mayEnd) = (Settlement<Void>(), Settlement<Void>())
        let holder = Task {
            try await store.exclusively(
                ExclusiveOperation {
                    hasBegun.settle(.success(()))
                    try await mayEnd.value()
                })
        }
        try await hasBegun.value()
        try await body()
        mayEnd.settle(.success(()))
        try await holder.value
    }

    @Test(
        "A lease is exclusive, even if the lease lengths and the wall clocks of the processes differ",
        arguments: [-86_400, 0, 86_400])
    func exclusive(ahead: Double) async throws {
        let clock = ManualClock()
        let other = ManualClock(date: clock.date.addingTimeInterval(ahead))
        let short = AccessTokenFile(file, lease: .seconds(20), clock: clock.networkClock)
        let long = AccessTokenFile(file, lease: .seconds(60), clock: other.networkClock)
        let isIn = Box(false)
        try await holding(long) {
            let waiting = Task { try await short.exclusively(ExclusiveOperation { isIn.change { $0 = true } }) }
            // The holder renews the lease every 20 seconds; the waiting store checks it more often.
            for round in 0..<60 {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(5))
                guard round % 4 == 3 else { continue }
                await other.waitForSleepers()
                other.advance(by: .seconds(20))
            }
            #expect(!isIn.value)
            waiting.cancel()
            _ = await waiting.result
        }
    }

    @Test("A lease that is no longer renewed is taken over when it expires, and its holder fails")
    func takenOver() async throws {
        let (clock, stopped) = (ManualClock(), ManualClock())
        let hanging = AccessTokenFile(file, lease: .seconds(40), clock: stopped.networkClock)
        let store = AccessTokenFile(file, clock: clock.networkClock)
        let hasBegun = Settlement<Void>()
        let holder = Task {
            try await hanging.exclusively(
                ExclusiveOperation {
                    hasBegun.settle(.success(()))
                    try await Settlement<Void>().value()
                })
        }
        try await hasBegun.value()
        let order = Box<[String]>([])
        let waiting = Task {
            try await store.exclusively(ExclusiveOperation { order.change { $0.append("second") } })
        }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(39))
        await clock.waitForSleepers()
        #expect(order.value.isEmpty)
        clock.advance(by: .seconds(2))
        try await waiting.value
        #expect(order.value == ["second"])
        await stopped.waitForSleepers()
        stopped.advance(by: .seconds(14))
        await #expect(throws: LeaseLost.self) { try await holder.value }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { $0.hasPrefix("token.json") })
    }

    @Test("A session whose token could never be saved is refreshed anyway and does not end")
    func neverKept() async throws {
        let session = AccessTokenSupervisor(store: MemoryTokenStore(isFull: true), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        let events = Box<[String]>([])
        let token = session.events.observe(on: nil) { event in events.change { $0.append("\(event)") } }
        session.accessToken = AccessToken("old")  // the user logs in
        let stub = StubTransport { $0.headers[.authorization] == "Bearer new" ? .text("ok") : .status(.unauthorized) }
        let service = UserService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        for _ in 0..<2 {
            #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
            session.accessToken = AccessToken("old")
        }
        #expect(!events.value.contains { $0.contains("sessionOver") }, "\(events.value)")
        token.cancel()
    }

    @Test("The unsaved token of a log-in is refreshed, even after another process has ended the old session")
    func keptBefore() async throws {
        let store = MemoryTokenStore(AccessToken("t1"))
        let session = AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in AccessToken("new") }
        try await session.load()
        let stub = StubTransport { $0.headers[.authorization] == "Bearer new" ? .text("ok") : .status(.unauthorized) }
        let service = UserService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        try await store.put(nil)  // another process logs out
        let over = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(over as? GeneralRequestError == .noAuth)
        store.isFull.change { $0 = true }
        session.accessToken = AccessToken("t2")
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
    }
}
