import Foundation
import NetworkingTesting
import Testing

@testable import Networking

// What the gate, the breaker and the session decide when they hear a head.
extension HeardHeadTests {
    @Test("A 429 whose body stalls closes the gate at once")
    func gate() async throws {
        let gate = BackoffGate(clock: clock.networkClock)
        let server = SlowBodyTransport(.tooManyRequests, headers: [.retryAfter: "9"])
        let task = service(server) { $0.backoffGate = gate }.task(UserEndpoint.open, as: .string)
        await server.head.wait()
        let origin = try #require(URL(string: "https://api.example.com").flatMap(HTTPOrigin.init))
        #expect(gate.wait(for: origin) == .seconds(9))
        server.end()
        _ = await Fixture.failure { _ = try await task.value }
    }

    @Test("A probe whose body stalls closes the breaker at once, and its end counts no second time")
    func probe() async throws {
        let breaker = CircuitBreaker(minimumCalls: 1, clock: clock.networkClock)
        let origin = try #require(URL(string: "https://api.example.com").flatMap(HTTPOrigin.init))
        let request = HTTPRequest(.get, try #require(URL(string: "https://api.example.com/")))
        func open() throws {
            let permit = try #require(try breaker.tryEnter(request, for: UserEndpoint.open))
            breaker.leave(permit, .failed(NetworkError(.cannotConnect)))
            clock.advance(by: .seconds(30))
        }
        try open()
        let server = SlowBodyTransport(.ok)
        let task = service(server) { $0.circuitBreaker = breaker }.task(UserEndpoint.open, as: .string)
        await server.head.wait()
        #expect(breaker.state(of: origin) == .closed)
        task.cancel()
        _ = await Fixture.failure { _ = try await task.value }
        server.end()
        #expect(breaker.state(of: origin) == .closed, "the cancelled body says nothing")

        // A head that says nothing about the host admits the next probe, which the end of the first one does not end.
        try open()
        let first = try #require(try breaker.tryEnter(request, for: UserEndpoint.open))
        breaker.heard(first, HTTPResponse(.notFound, to: request))
        let second = try #require(try breaker.tryEnter(request, for: UserEndpoint.open))
        breaker.leave(first, .responded(HTTPResponse(.notFound, to: request)))
        #expect(throws: NetworkError.self) { _ = try breaker.tryEnter(request, for: UserEndpoint.open) }
        breaker.leave(second, .responded(HTTPResponse(.ok, to: request)))
        #expect(breaker.state(of: origin) == .closed)
    }

    @Test("A 401 whose body stalls starts the refresh at once")
    func refresh() async throws {
        let refreshed = Settlement<Void>()
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: clock.networkClock) { _ in
            refreshed.settle(.success(()))
            return AccessToken("new")
        }
        let server = SlowBodyTransport(.unauthorized)
        let task = service(server, session: session).task(UserEndpoint.fetch(id: "7"), as: .string)
        await server.head.wait()
        await refreshed.wait()  // although the body has not ended
        task.cancel()
        server.end()
        let error = await Fixture.failure { _ = try await task.value }
        #expect(error as? GeneralRequestError == .cancelled)
    }

    @Test("A validation in the background that is refused starts the refresh of the call's session at once")
    func background() async throws {
        let refreshed = Settlement<Void>()
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: clock.networkClock) { _ in
            refreshed.settle(.success(()))
            return AccessToken("new")
        }
        let slow = SlowBodyTransport(.unauthorized)
        let server = AlternatingTransport(
            StubTransport { _ in
                .text(
                    "body", headers: [.cacheControl: "max-age=1, stale-while-revalidate=60, private", .eTag: "\"1\""])
            }, slow)
        let service = service(server, session: session) {
            $0.cache = ResponseCache(clock: clock.networkClock)
        }
        _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .string)
        clock.advance(by: .seconds(2))
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "body")
        await slow.head.wait()
        await refreshed.wait()
        slow.end()
    }

    @Test("If the cache sends a second request because a 304 does not fit, its head is heard")
    func refetch() async throws {
        let gate = BackoffGate(clock: clock.networkClock)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = RefetchTransport()
            $0.clock = clock.networkClock
            $0.retry = nil
            $0.backoffGate = gate
            $0.cache = ResponseCache(clock: clock.networkClock)
        }
        _ = try await service.request(UserEndpoint.open, as: .string)
        clock.advance(by: .seconds(5))
        _ = await Fixture.failure { _ = try await service.request(UserEndpoint.open, as: .string) }
        let origin = try #require(URL(string: "https://api.example.com").flatMap(HTTPOrigin.init))
        #expect(gate.wait(for: origin) == .seconds(9))
    }

    @Test("If a download starts again after a 416, the last head is heard")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let target = folder.url.appendingPathComponent("report")
        let destination = FileDestination(target, overwriting: .replace, resuming: .sameAddress)
        let gate = BackoffGate(clock: clock.networkClock)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = HalfTransport(restarts: true)
            $0.clock = clock.networkClock
            $0.retry = nil
            $0.backoffGate = gate
        }
        _ = await Fixture.failure { _ = try await service.request(UserEndpoint.open, as: .file(destination)) }
        #expect(destination.partialSize == 4)
        _ = await Fixture.failure { _ = try await service.request(UserEndpoint.open, as: .file(destination)) }
        let origin = try #require(URL(string: "https://api.example.com").flatMap(HTTPOrigin.init))
        #expect(gate.wait(for: origin) == .seconds(9))
    }

    @Test("A newer call takes over the transfer of an older one, and gives its own permit back unheard")
    func latest() async throws {
        let server = SlowBodyTransport(.ok)
        let limit = ConcurrencyLimit(8)
        let service = service(server) {
            $0.duplicates = .always(.keepLatest)
            $0.concurrencyLimit = limit
            listening("a")(&$0)
        }
        let first = service.task(UserEndpoint.open, as: .string)
        await server.head.wait()
        let second = service.task(UserEndpoint.open, as: .string)
        _ = await Fixture.failure { _ = try await first.value }
        // The newer call gives its permit back after it has taken the transfer over.
        while limit.activeCount != 1 { await Task.yield() }
        server.end()
        #expect(try await second.value == "body")
        #expect(log.value.filter { $0.contains("heard") }.count == 1)
        #expect(log.value.filter { $0 == "a left" }.count == 2)
    }
}
