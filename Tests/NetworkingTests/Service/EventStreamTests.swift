import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Event streams over several connections", .endsInTime)
struct EventStreamTests {
    struct News: Endpoint {
        var path: EndpointPath { "news" }
        var authorizationType: AuthorizationType { .bearer }
    }

    let clock = ManualClock()
    let stub = StubTransport()

    func events(_ text: String) -> StubResponse {
        StubResponse(.ok, headers: [.contentType: "text/event-stream"], body: Data(text.utf8))
    }

    func service(_ session: AccessTokenSupervisor? = nil) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.random = RandomSource(ConstantGenerator(0.5))
        }
    }

    /// Reads the stream to its end and advances the clock for each wait.
    func read(_ stream: BodySequence<ServerSentEvent>, waits count: Int) async throws -> (
        data: [String], waits: [Duration]
    ) {
        let reading = Task {
            var data: [String] = []
            for try await event in stream { data.append(event.data) }
            return data
        }
        var waits: [Duration] = []
        for _ in 0..<count { waits.append(await clock.advanceToNextSleeper()) }
        return (try await reading.value, waits)
    }

    @Test("After a connection ends, a stream waits for the server's retry time and resumes after the last id")
    func reconnects() async throws {
        stub.on(
            .get, "/v1/news", events("retry: 500\nid: 1\ndata: a\n\nid: 2\ndata: b\n\n"), events("id: 3\ndata: c\n\n"),
            .status(.noContent))
        let (data, waits) = try await read(service().events(News()), waits: 2)
        #expect(data == ["a", "b", "c"])
        #expect(waits == [.milliseconds(500), .milliseconds(500)])
        #expect(stub.requests.map { $0.headers[.lastEventID] } == [nil, "2", "3"])
        #expect(stub.requests.allSatisfy { $0.headers[.accept] == "text/event-stream" })
    }

    @Test("When another user logs in, the stream does not go on for this user: its next connection ends it")
    func otherUser() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("alice"), clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()
        }
        stub.on(.get, "/v1/news", events("id: 1\ndata: a\n\n"))
        let stream = service(session).events(News())
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        session.accessToken = AccessToken("bob")
        let next = Task { [iterator] in
            var iterator = iterator
            return try await iterator.next()
        }
        await clock.advanceToNextSleeper()
        #expect(await Fixture.failure { _ = try await next.value } as? GeneralRequestError == .noAuth)
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer alice"])
        // A stream that begins now belongs to the new user.
        var later = stream.makeAsyncIterator()
        #expect(try await later.next()?.data == "a")
        #expect(stub.requests.last?.headers[.authorization] == "Bearer bob")
    }

    @Test("Each connection carries the current token, and a refused token is refreshed")
    func tokens() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("one"), clock: Fixture.stillClock) { _ in
            AccessToken("two")
        }
        stub.on(nil, nil) { [stub, events] request in
            switch (stub.requests.count, request.headers.authorization) {
            case (1, _): events("id: 1\ndata: a\n\n")
            case (_, .bearer("two")): stub.requests.count == 3 ? events("data: b\n\n") : .status(.noContent)
            default: .status(.unauthorized)
            }
        }
        let (data, _) = try await read(service(session).events(News()), waits: 2)
        #expect(data == ["a", "b"])
        #expect(
            stub.requests.map { $0.headers.authorization } == [
                .bearer("one"), .bearer("one"), .bearer("two"), .bearer("two"),
            ])
    }

    @Test("Repeated failures double the wait, an event resets the wait, and an error that a retry cannot fix is thrown")
    func failures() async throws {
        stub.on(
            .get, "/v1/news", events("data: a\n\n"), .failure(.cannotConnect), .failure(.notConnected),
            events("data: b\n\n"), .status(.forbidden))
        let stream = service().events(News(), reconnecting: ServerSentEvent.Reconnection(delay: .seconds(1)))
        let reading = Task { () -> ([String], (any Error)?) in
            var data: [String] = []
            do { for try await event in stream { data.append(event.data) } } catch { return (data, error) }
            return (data, nil)
        }
        var waits: [Duration] = []
        for _ in 0..<4 { waits.append(await clock.advanceToNextSleeper()) }
        let (data, error) = await reading.value
        #expect(data == ["a", "b"])
        #expect(waits.map(\.roundedMilliseconds) == [1_000, 1_700, 3_400, 1_000])
        #expect(error as? GeneralRequestError == .forbidden)
    }

    @Test("While the circuit breaker is open, a stream waits for the next connection and does not end")
    func openCircuit() async throws {
        stub.on(
            .get, "/v1/news", events("data: a\n\n"), .failure(.cannotConnect), events("data: b\n\n"),
            .status(.noContent))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.random = RandomSource(ConstantGenerator(0.5))
            $0.circuitBreaker = CircuitBreaker(minimumCalls: 1, clock: clock.networkClock)
        }
        let (data, waits) = try await read(service.events(News()), waits: 5)
        #expect(data == ["a", "b"])
        #expect(waits.map(\.roundedMilliseconds) == [3_000, 5_100, 10_200, 20_400, 3_000])
        #expect(stub.requests.count == 4)
    }

    @Test("The stream of a POST does not reconnect after its response, even with a generated idempotency key")
    func posts() async throws {
        stub.on(.post, "/v1/llm", events("data: a\n\ndata: [DONE]\n\n"))
        let (data, _) = try await read(service().events(.post("llm").body(.json(["prompt": "x"]))), waits: 0)
        #expect(data == ["a", "[DONE]"] && stub.requests.count == 1)
        stub.on(.post, "/v1/jobs", events("data: a\n\n"))
        #expect(try await read(service().events(.post("jobs").idempotent()), waits: 0).0 == ["a"])
        #expect(stub.requests.count == 2)
    }

    @Test("A response with an error status is retried if the reconnection settings contain the status")
    func statuses() async throws {
        stub.on(
            .get, "/v1/news", events("data: a\n\n"), .status(.badGateway), events("data: b\n\n"), .status(.noContent))
        let stream = service().events(News(), reconnecting: ServerSentEvent.Reconnection(statuses: [.badGateway]))
        #expect(try await read(stream, waits: 3).0 == ["a", "b"])
    }

    @Test("A stream can resume after an event whose id an earlier run of the app has stored")
    func resumed() async throws {
        stub.on(.get, "/v1/news", events("data: a\n\n"), events("id: 9\ndata: b\n\n"), .status(.noContent))
        let stream = service().events(News(), reconnecting: ServerSentEvent.Reconnection(after: "7"))
        #expect(try await read(stream, waits: 2).0 == ["a", "b"])
        #expect(stub.requests.map { $0.headers[.lastEventID] } == ["7", "7", "9"])
        #expect(stub.requests.allSatisfy { $0.headers[.cacheControl] == "no-cache" })
    }

    @Test("A delay of zero is no storm: connections without an event wait for 0, at least 0.1, 0.2 s, and so on")
    func zeroDelay() {
        func waits(_ spread: Double) -> [Int] {
            (0..<7).map { ReconnectionMachine.wait(for: .zero, afterEmpty: $0, spread: spread).roundedMilliseconds }
        }
        #expect(waits(0) == [0, 100, 200, 400, 800, 800, 800])
        #expect(waits(1) == [0, 240, 480, 960, 1_920, 1_920, 1_920])
    }

    @Test(
        "The mean of the first wait is the delay: after a short restart, a stream is back as fast as without a spread")
    func meanWait() {
        func wait(_ spread: Double) -> Duration {
            ReconnectionMachine.wait(for: .seconds(3), afterEmpty: 0, spread: spread)
        }
        #expect(wait(0) == .milliseconds(2_250) && wait(0.5) == .seconds(3) && wait(1) == .milliseconds(3_750))
    }

    @Test("The wait between two connections is random, and an event draws no number")
    func spread() async throws {
        stub.on(.get, "/v1/news", events("data: a\n\ndata: b\n\n"), events("data: c\n\n"), .status(.noContent))
        let drawn = Box(0)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.random = RandomSource(CountingGenerator(drawn: drawn))
        }
        let (data, waits) = try await read(service.events(News()), waits: 2)
        #expect(data == ["a", "b", "c"] && waits == [.milliseconds(2_250), .milliseconds(2_250)])
        #expect(drawn.value == 2)
    }

    private struct CountingGenerator: RandomNumberGenerator, Sendable {
        let drawn: Box<Int>

        mutating func next() -> UInt64 {
            drawn.change { $0 += 1 }
            return 0
        }
    }

    @Test("A negative delay of any size means that the stream reconnects at once, as zero does")
    func negativeDelays() async throws {
        for delay in [Duration.seconds(-1), .seconds(Int64.min)] {
            let stub = StubTransport()
            stub.on(nil, nil) { [stub, events] _ in stub.requests.count < 2 ? events("") : .status(.noContent) }
            let service = NetworkService(environment: Fixture.environment) {
                $0.transport = stub
                $0.clock = clock.networkClock
            }
            for try await _ in service.events(News(), reconnecting: .init(delay: delay)) {}
            #expect(stub.requests.count == 2)
        }
    }

    @Test(
        "An id without an event is sent with the next connection, and is kept over connections without ids")
    func ids() async throws {
        stub.on(
            .get, "/v1/news", events("data: a\n\nid: 9\n\nretry: 100\n\n"), events("data: b\n\n"), .status(.noContent))
        let (data, waits) = try await read(service().events(News()), waits: 2)
        #expect(data == ["a", "b"] && waits[0] == .milliseconds(100))
        #expect(stub.requests.map { $0.headers[.lastEventID] } == [nil, "9", "9"])
    }
}

extension Duration {
    /// The duration in milliseconds. A product with a fraction is not exact.
    fileprivate var roundedMilliseconds: Int { Int((self / .milliseconds(1)).rounded()) }
}
