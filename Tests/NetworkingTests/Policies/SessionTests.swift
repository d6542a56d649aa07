import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests which session a call belongs to, and how tokens behave with time limits, other processes and failing stores.
@Suite("Sessions", .timeLimit(.minutes(5)))
struct SessionTests {
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

    // MARK: A call belongs to the session in which it began

    @Test("A call that is refused after another user has logged in is not sent again")
    func refusedOrder() async throws {
        let transport = ManualTransport()
        let session = session(AccessToken("alice"))
        let service = service(session, transport)
        let order = service.task(UserEndpoint.rename(id: "7", to: "x"), as: .void)
        await transport.waitForRequests()
        session.accessToken = nil
        session.accessToken = AccessToken("bob")
        transport.answer(.unauthorized)
        #expect(await Fixture.failure { try await order.value } as? GeneralRequestError == .noAuth)
        #expect(transport.count == 1)
    }

    @Test("A call that waits for its permit while another user logs in is not sent")
    func queuedOrder() async throws {
        let limit = ConcurrencyLimit(1)
        let stub = StubTransport { _ in .status(.ok) }
        let session = session(AccessToken("alice"))
        let service = service(session, stub, limit: limit)
        let request = HTTPRequest(.get, try #require(Fixture.environment.baseURL))
        let held = try #require(limit.tryEnter(request, for: UserEndpoint.open))
        let order = service.task(UserEndpoint.rename(id: "7", to: "x"), as: .void)
        while limit.waiterCount == 0 { await Task.yield() }
        session.accessToken = AccessToken("bob")
        limit.leave(held, .notSent)
        let error = await Fixture.failure { try await order.value } as? NetworkError
        #expect(error?.kind == .noToken && error?.underlying is SessionEnded)
        #expect(error?.reason == "no access token: the session in which the call began has ended")
        #expect(stub.requests.isEmpty)
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(tokens(stub) == ["Bearer bob"])
    }

    @Test("A call is not sent with the token of another user who has logged in in another process")
    func otherProcess() async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()))
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in throw AccessToken.Rejected()
        }
        try await session.load()
        let stub = StubTransport { $0.headers[.authorization] == "Bearer bob" ? .status(.ok) : .status(.unauthorized) }
        let service = service(session, stub)
        try await store.put(AccessToken("bob", session: UUID()))
        let error = await Fixture.failure { try await service.request(UserEndpoint.rename(id: "7", to: "x")) }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(tokens(stub) == ["Bearer alice"])
        #expect(session.accessToken == AccessToken("bob"))
        try await service.request(UserEndpoint.fetch(id: "7"))
    }

    @Test("A token that another process has rotated keeps the session, and calls continue with it")
    func rotatedElsewhere() async throws {
        let transport = ManualTransport()
        let session = session(AccessToken("old"))
        let service = service(session, transport)
        let call = service.task(UserEndpoint.rename(id: "7", to: "x"), as: .void)
        await transport.waitForRequests()
        session.replace(AccessToken("rotated"))
        transport.answer(.unauthorized)
        await transport.waitForRequests()
        transport.answer()
        try await call.value
    }

    @Test("A call that began before there was a token belongs to the session in which it is first sent")
    func beforeTheLogin() async throws {
        let limit = ConcurrencyLimit(1)
        let stub = StubTransport { _ in .status(.ok) }
        let session = session(nil)
        let service = service(session, stub, limit: limit)
        let request = HTTPRequest(.get, try #require(Fixture.environment.baseURL))
        let held = try #require(limit.tryEnter(request, for: UserEndpoint.open))
        let call = service.task(UserEndpoint.fetch(id: "7"), as: .void)
        while limit.waiterCount == 0 { await Task.yield() }
        session.accessToken = AccessToken("alice")
        limit.leave(held, .notSent)
        try await call.value
        #expect(tokens(stub) == ["Bearer alice"])
    }

    // MARK: Late refreshes

    @Test("The result of a refresh after its time limit is stored, and the next call is sent with it")
    func lateRefresh() async throws {
        let result = Settlement<AccessToken>()
        let refreshes = Box(0)
        let session = session(AccessToken("t0")) { _ in
            refreshes.change { $0 += 1 }
            return try await withCheckedThrowingContinuation { continuation in
                result.observe { continuation.resume(with: $0) }
            }
        }
        let stub = StubTransport { $0.headers[.authorization] == "Bearer t1" ? .status(.ok) : .status(.unauthorized) }
        let service = service(session, stub)
        let first = service.task(UserEndpoint.fetch(id: "7"), as: .void)
        while refreshes.value == 0 { await Task.yield() }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        _ = await Fixture.failure { try await first.value }
        result.settle(.success(AccessToken("t1")))
        while session.accessToken != AccessToken("t1") { await Task.yield() }
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(refreshes.value == 1)
    }

    @Test("A refresh whose time limit passes while the token is saved loses no token")
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

    // MARK: A store that cannot be written

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

    @Test("A refreshed token is saved even if the previous token is saved only during the refresh")
    func saveWhileRefreshing() async throws {
        let store = MemoryTokenStore(AccessToken("alice", session: UUID()), isFull: true)
        let box = Box<AccessTokenSupervisor?>(nil)
        let asked = Box<[AccessToken?]>([])
        let clock = clock
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { old in
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

    // MARK: Clocks, ends, origins

    @Test("A device with a wrong clock does not refresh before every call")
    func wrongClock() async throws {
        let refreshes = Box(0)
        let past = clock.date.addingTimeInterval(-3_600)
        let session = session(AccessToken("t0", expiresAt: past)) { _ in
            refreshes.change { $0 += 1 }
            return AccessToken("t\(refreshes.value)", expiresAt: past)
        }
        let service = service(session, StubTransport { _ in .status(.ok) })
        for _ in 0..<20 { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(refreshes.value == 1)
    }

    @Test("After the end of the session, calls fail at once, and the rejected refresh token is not sent again")
    func afterTheEnd() async throws {
        let refreshes = Box(0)
        let session = session(AccessToken("dead")) { _ in
            refreshes.change { $0 += 1 }
            throw AccessToken.Rejected()
        }
        let stub = StubTransport { _ in .status(.unauthorized) }
        let service = service(session, stub)
        let first = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(first as? GeneralRequestError == .noAuth)
        for _ in 0..<20 {
            let error =
                await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } as? NetworkError
            #expect(error?.kind == .noToken && error?.underlying is AccessToken.Rejected)
            #expect(error?.reason == "no access token: the session is over, and the user has to log in again")
        }
        #expect(refreshes.value == 1 && stub.requests.count == 1)
    }

    @Test("A call that waited for a refresh before it was sent starts no second refresh if it is refused")
    func oneRefreshACall() async throws {
        let refreshes = Box(0)
        let session = session(AccessToken("old", expiresAt: clock.date)) { _ in
            refreshes.change { $0 += 1 }
            return AccessToken("new")
        }
        let service = service(session, StubTransport { _ in .status(.unauthorized) })
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(refreshes.value == 1)
    }

    private struct Elsewhere: Endpoint {
        let path: EndpointPath = "next"
        let baseURL = URL(string: "https://mirror.example") ?? NetworkEnvironment.noBaseURL
        let authorizationType = AuthorizationType.bearer
    }

    @Test(
        "The token is sent only to the environment's server and to listed origins, also by a handler's retry")
    func origins() async throws {
        let mirror = try #require(URL(string: "https://mirror.example/x"))
        let handler = ClosureErrorHandler { failure in
            guard failure.attempt == 1, var request = failure.originalRequest else { return .next(failure.error) }
            request.url = mirror
            return .retry(with: request)
        }
        for isListed in [false, true] {
            let session = AccessTokenSupervisor(
                token: AccessToken("T"), origins: isListed ? [try #require(HTTPOrigin(mirror))] : [],
                clock: clock.networkClock
            ) { _ in throw AccessToken.Rejected() }
            let stub = StubTransport { $0.url.host == "mirror.example" ? .status(.ok) : .status(.notFound) }
            let service = service(session, stub, handlers: [handler])
            try await service.request(Elsewhere())
            try await service.request(UserEndpoint.fetch(id: "7"))
            let expected = isListed ? "Bearer T" : nil
            #expect(tokens(stub) == [expected, "Bearer T", expected])
        }
    }

    @Test("A handler's retry to another server carries neither the headers nor the query of the environment")
    func environmentStaysAtHome() async throws {
        let handler = ClosureErrorHandler { failure in
            guard failure.attempt == 1, var request = failure.originalRequest,
                var components = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
            else { return .next(failure.error) }
            components.host = "mirror.example"
            components.percentEncodedQueryItems?.append(URLQueryItem(name: "mirror", value: "1"))
            guard let url = components.url else { return .next(failure.error) }
            request.url = url
            request.headers["X-Own"] = "1"
            return .retry(with: request)
        }
        let stub = StubTransport { $0.url.host == "mirror.example" ? .status(.ok) : .status(.notFound) }
        let service = NetworkService(
            environment: NetworkEnvironment(
                baseURL: Fixture.environment.baseURL, headers: ["Cookie": "secret=1"], query: ["key": "secret"])
        ) {
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([handler])
        }
        try await service.request(.get("users"))
        #expect(stub.requests.first?.url.query() == "key=secret")
        #expect(stub.requests.first?.headers[.cookie] == "secret=1")
        #expect(stub.requests.last?.url.query() == "mirror=1")
        #expect(stub.requests.last?.headers[.cookie] == nil)
        #expect(stub.requests.last?.headers["X-Own"] == "1")
    }

    @Test("Two sessions in one service are an error that names the gate and the adapter")
    func twoSessions() async throws {
        let (first, second) = (session(AccessToken("a")), session(AccessToken("b")))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.ok) }
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [first.gate]
            $0.requestAdaptingService = RequestAdaptingService([second.adapter])
        }
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } as? NetworkError
        #expect(error?.kind == .invalidRequest)
        #expect(error?.reason?.contains("TokenGate") == true && error?.reason?.contains("TokenRequestAdapter") == true)
    }

    /// An endpoint whose properties change each time they are read.
    private final class FickleEndpoint: Endpoint {
        let path: EndpointPath = "x"
        let reads = Box(0)

        var authorizationType: AuthorizationType {
            reads.change { $0 += 1 }
            return reads.value == 1 ? .bearer : .none
        }
    }

    @Test("An endpoint's authorization type is read once for each call")
    func readOnce() async throws {
        let stub = StubTransport { _ in .status(.ok) }
        let endpoint = FickleEndpoint()
        try await service(session(AccessToken("T")), stub).request(endpoint)
        #expect(tokens(stub) == ["Bearer T"] && endpoint.reads.value == 1)
    }

    @Test("Texts of responses and errors hide user, password and query of a URL in a header")
    func urlsInFields() async throws {
        let request = HTTPRequest(.get, try #require(Fixture.environment.baseURL))
        let location = "https://user:password@other.example/path?token=S#fragment"
        let response = HTTPResponse(.found, headers: [.location: location], to: request)
        let error = NetworkError(.unacceptableStatus, request: request, response: response)
        for value in [response, error] as [Any] {
            var text = ""
            dump(value, to: &text)
            #expect(value is NetworkError || text.contains("https://other.example/path?<redacted>"))
            for secret in ["user", "password", "token", "fragment"] {
                #expect(!text.contains(secret), "\(secret)")
            }
        }
        #expect(response.headers[.location] == location)
    }

    @Test("The query in a path is in no text, and the call ends before it is sent")
    func queryInPath() async throws {
        let path = EndpointPath(verbatim: "x?token=S")
        #expect(path.description == "x")
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.ok) }
        }
        let error = await Fixture.failure { try await service.request(AdHocEndpoint.get(path)) } as? NetworkError
        #expect(error?.kind == .invalidRequest)
        #expect(error?.reason?.contains("/x)") == true && error?.reason?.contains("S)") == false)
    }

    // MARK: The store

    @Test("A missing folder of the store is an error that names the folder; a call also fails with a reason")
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

    /// Returns a session that starts with the stored token "a" and whose refresh returns "c", and the refresh tokens
    /// that the refresh has received.
    private func session(in store: MemoryTokenStore) async throws -> (AccessTokenSupervisor, Box<[String?]>) {
        let asked = Box<[String?]>([])
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { old in
            asked.change { $0.append(old?.refreshToken) }
            return AccessToken("c", refreshToken: "rc")
        }
        try await session.load()
        return (session, asked)
    }

    @Test("If the newer token of the store is refused as well, the call starts a refresh with it")
    func deadTokenOfTheStore() async throws {
        let store = MemoryTokenStore(AccessToken("a", refreshToken: "ra"))
        let (session, asked) = try await session(in: store)
        try await store.put(AccessToken("b", refreshToken: "rb"))
        let stub = StubTransport { $0.headers[.authorization] == "Bearer c" ? .status(.ok) : .status(.unauthorized) }
        try await service(session, stub).request(UserEndpoint.fetch(id: "7"))
        #expect(tokens(stub) == ["Bearer a", "Bearer b", "Bearer c"] && asked.value == ["rb"])
    }

    @Test("A token that could not be saved is refreshed anyway, also if another process removes the file")
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
            if clock.sleeperCount > 0 { await clock.advanceToNextSleeper() }
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

    @Test("A log-out in another process during a refresh wins, in the store and in this process")
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

    @Test("A log-out during a refresh also wins in the store")
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
        try await store.exclusively {}  // by then the refresh has ended
        while session.isKeeping { await Task.yield() }
        #expect(session.accessToken == nil)
        #expect(try await store.load() == nil)
    }

    @Test("If a store reports changes, the session notices a newer token and a log-out at once")
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
    }

    @Test("The store is read again before the session is reported as over")
    func readAgain() async throws {
        let store = MemoryTokenStore(AccessToken("old"))
        let session = AccessTokenSupervisor(store: store, clock: clock.networkClock) { _ in
            try await store.put(AccessToken("newer"))  // another process without a lease was faster
            throw AccessToken.Rejected()
        }
        let stub = StubTransport { $0.headers[.authorization] == "Bearer newer" ? .text("ok") : .status(.unauthorized) }
        #expect(try await service(session, stub).request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        #expect(session.accessToken == AccessToken("newer"))
    }

    @Test("A refreshed token that cannot be saved is reported, and the session continues with it")
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

    @Test("A refused refresh ends the session even if its service maps the error; a handled error does not")
    func mappedRefusal() async throws {
        struct SignedOut: Error {}
        struct KeychainFailure: Error {}
        let stub = StubTransport { _ in .status(.unauthorized) }
        let auth = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorMapping = .init { _, _ in SignedOut() }
        }
        for isHandled in [false, true] {
            let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
                do { try await auth.request(.post("token")) } catch {
                    if isHandled { throw KeychainFailure() }
                    throw error
                }
                return AccessToken("new")
            }
            let ended = Box<[String]>([])
            let observation = session.events.observe(on: nil) { event in
                ended.change { if case .sessionOver = event { $0.append("over") } else { $0.append("kept") } }
            }
            let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
                $0.transport = stub
            }
            _ = await Fixture.failure { try await service.request(.get("a").authorized()) }
            observation.cancel()
            #expect(ended.value == [isHandled ? "kept" : "over"])
        }
    }
}
