import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Stored tokens that cannot be decoded, and stores that cannot be read", .endsInTime)
final class UndecodableTokenTests {
    private let folder: URL
    private let clock = ManualClock()
    private var file: URL { folder.appendingPathComponent("token.json") }
    private var store: AccessTokenFile { AccessTokenFile(file, clock: clock.networkClock) }

    private static let contents = [
        "", "{", "not json", "7", "null", "[]", "{}", #"{"token":"A1","refresh":"r1"}"#,
        #"{"value":"a","expiresAt":1e400}"#, #"{"value":"a","expiresAt":-1e999}"#, #"{"value":"a","expiresAt":NaN}"#,
        #"{"value":"a","expiresAt":"infinity"}"#, #"{"value":"a","session":"alice"}"#, #"{"value":1e999}"#,
        "\u{0}\u{0}",
    ]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("networking-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func session(
        _ store: some AccessTokenStore, refresh: @escaping AccessTokenSupervisor.Refresh = { _ in AccessToken("new") }
    ) -> (AccessTokenSupervisor, Box<[AccessTokenSupervisor.Event]>, ObservationToken) {
        let barrier = Settlement<Void>()
        let events = Box<[AccessTokenSupervisor.Event]>([])
        let late = LateStore(store: store, barrier: barrier)
        let session = AccessTokenSupervisor(store: late, clock: clock.networkClock, refresh: refresh)
        let observation = session.events.observe(on: nil) { event in events.change { $0.append(event) } }
        barrier.settle(.success(()))
        return (session, events, observation)
    }

    private func service(_ session: AccessTokenSupervisor, _ transport: any Transport) -> UserService {
        UserService(environment: Fixture.environment, authorizedBy: session) { $0.transport = transport }
    }

    private func reports(_ events: Box<[AccessTokenSupervisor.Event]>) -> Int {
        events.value.filter { if case .notStored(let error) = $0 { error is AccessToken.Undecodable } else { false } }
            .count
    }

    private func isUnreachable(_ events: Box<[AccessTokenSupervisor.Event]>) -> Bool {
        events.value.contains { if case .unreachable = $0 { true } else { false } }
    }

    @Test(
        "A file that does not contain a token means that nobody is logged in, and is reported once",
        arguments: contents)
    func loggedOut(content: String) async throws {
        try Data(content.utf8).write(to: file)
        #expect(throws: AccessToken.Undecodable.self) { try self.store.load() }
        let (session, events, observation) = session(store)
        defer { observation.cancel() }
        #expect(try await session.load() == nil)
        let stub = StubTransport { _ in .text("ok") }
        for _ in 0..<2 {
            #expect(try await service(session, stub).request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        }
        #expect(stub.requests.allSatisfy { $0.headers[.authorization] == nil })
        #expect(reports(events) == 1 && !isUnreachable(events), "\(events.value)")
    }

    @Test("The token of a log-in replaces a file that does not contain a token", arguments: contents)
    func logIn(content: String) async throws {
        try Data(content.utf8).write(to: file)
        let (session, events, observation) = session(store)
        defer { observation.cancel() }
        session.accessToken = AccessToken("login", refreshToken: "r")
        while session.isKeeping { await Task.yield() }
        #expect(try store.load() == AccessToken("login", refreshToken: "r"))
        #expect(reports(events) == 1 && events.value.count == 1, "\(events.value)")
    }

    @Test("A log-out removes a file that does not contain a token", arguments: contents, [true, false])
    func logOut(content: String, isRead: Bool) async throws {
        try Data(content.utf8).write(to: file)
        let (session, events, observation) = session(store)
        defer { observation.cancel() }
        if isRead { _ = try? await session.load() }
        session.accessToken = nil
        while session.isKeeping { await Task.yield() }
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(reports(events) == 1 && events.value.count == 1, "\(events.value)")
    }

    @Test("A file that stops containing a token ends the session; the token of the next log-in is saved and refreshed")
    func damagedLater() async throws {
        try await store.put(AccessToken("old", refreshToken: "r0"))
        let (session, events, observation) = session(store)
        defer { observation.cancel() }
        try await session.load()
        try Data("{".utf8).write(to: file)
        let stub = StubTransport { $0.headers[.authorization] == "Bearer new" ? .text("ok") : .status(.unauthorized) }
        let service = service(session, stub)
        let over = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(over as? GeneralRequestError == .noAuth)
        session.accessToken = AccessToken("login")
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        while session.isKeeping { await Task.yield() }
        #expect(try store.load()?.value == "new")
        #expect(reports(events) == 1 && !isUnreachable(events), "\(events.value)")
    }

    @Test("A save that expects no token replaces or removes what is not a token; any other save writes nothing")
    func compared() throws {
        try Data("{".utf8).write(to: file)
        #expect(try store.save(AccessToken("a"), replacing: AccessToken("b")) == false)
        #expect(try Data(contentsOf: file) == Data("{".utf8))
        #expect(try store.save(nil, replacing: nil))
        #expect(!FileManager.default.fileExists(atPath: file.path))
        try Data("{".utf8).write(to: file)
        #expect(try store.save(AccessToken("a"), replacing: nil))
        #expect(try store.load() == AccessToken("a"))
    }

    @Test("The error about a token that cannot be decoded names the file and shows nothing of its content")
    func text() throws {
        try Data(#"{"value":5,"refresh":"secret"}"#.utf8).write(to: file)
        let error = #expect(throws: AccessToken.Undecodable.self) { try self.store.load() }
        let text = error.map { "\($0)" }
        #expect(text == "the stored token cannot be decoded: CocoaError 259 (token.json)")
        #expect("\(AccessToken.Undecodable())" == "the stored token cannot be decoded")
    }

    @Test("An expiry that is finite but far away, or not a number, causes no trap")
    func extremeExpiry() async throws {
        for expiry in ["1e308", "-1e308", "1e18"] {
            try Data(#"{"value":"a","expiresAt":\#(expiry)}"#.utf8).write(to: file)
            let (session, _, observation) = session(store)
            defer { observation.cancel() }
            let token = try #require(try await session.load())
            var text = ""
            dump(token, to: &text)
            let stub = StubTransport { _ in .status(.ok) }
            try await service(session, stub).request(UserEndpoint.fetch(id: "7"))
        }
        var text = ""
        dump(AccessToken("a", expiresAt: Date(timeIntervalSinceReferenceDate: .nan)), to: &text)
        #expect(text.contains("expiresAt"))
    }

    @Test("A symbolic link in place of the file is replaced, and neither it nor its target is read or written")
    func link() throws {
        let target = folder.appendingPathComponent("target.json")
        let bytes = try JSONEncoder().encode(AccessToken("foreign"))
        try bytes.write(to: target)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        #expect(throws: AccessToken.Undecodable.self) { try self.store.load() }
        #expect(try store.save(AccessToken("own"), replacing: nil))
        #expect(try store.load() == AccessToken("own"))
        #expect(try Data(contentsOf: target) == bytes)
    }

    @Test("A store that cannot be read now is no log-out: the call ends with this reason; the next call reads again")
    func locked() async throws {
        let store = LockedStore()
        let (session, events, observation) = session(store)
        defer { observation.cancel() }
        let stub = StubTransport { _ in .text("ok") }
        let service = service(session, stub)
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } as? NetworkError
        #expect(error?.kind == .noToken && stub.requests.isEmpty)
        #expect(
            error?.reason == "no access token: the token store cannot be read now: NSOSStatusErrorDomain -25308",
            "\(String(describing: error))")
        #expect(error?.errorDescription == "The log-in cannot be checked at the moment.")
        #expect(error?.recoverySuggestion == "Try again later.")
        #expect(reports(events) == 0 && isUnreachable(events), "\(events.value)")
        store.isLocked.change { $0 = false }
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer kept"])
    }

    @Test("A file that cannot be read now is neither a log-out nor an undecodable token")
    func unreadableFile() async throws {
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        let (session, events, observation) = session(store)
        defer { observation.cancel() }
        let error = await Fixture.failure { try await session.load() } as? CocoaError
        #expect(error?.code == .fileReadUnknown && error?.userInfo[NSFilePathErrorKey] as? String == file.path)
        #expect(reports(events) == 0 && isUnreachable(events), "\(events.value)")
    }

    /// A store that is read only after a test has observed the events of the supervisor.
    private struct LateStore<Store: AccessTokenStore>: AccessTokenStore {
        let store: Store
        let barrier: Settlement<Void>

        func load() async throws -> AccessToken? {
            try await barrier.value()
            return try await store.load()
        }

        func save(_ token: AccessToken?, replacing expected: AccessToken?) async throws -> Bool {
            try await store.save(token, replacing: expected)
        }

        func exclusively<Value: Sendable>(_ operation: ExclusiveOperation<Value>) async throws -> Value {
            try await store.exclusively(operation)
        }
    }

    /// A store that behaves like a keychain before the device is unlocked for the first time.
    private struct LockedStore: AccessTokenStore {
        let isLocked = Box(true)

        func load() throws -> AccessToken? {
            guard isLocked.value else { return AccessToken("kept") }
            throw NSError(domain: "NSOSStatusErrorDomain", code: -25308)
        }

        func save(_ token: AccessToken?, replacing expected: AccessToken?) throws -> Bool {
            _ = try load()
            return true
        }

        func exclusively<Value: Sendable>(_ operation: ExclusiveOperation<Value>) async throws -> Value {
            try await operation()
        }
    }
}
