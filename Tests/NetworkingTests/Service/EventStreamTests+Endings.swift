import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// How an event stream ends.
extension EventStreamTests {
    @Test("The first connection's failure is thrown; later failures are thrown if they exceed the maximum")
    func firstAndLast() async throws {
        stub.on(.get, "/v1/news", .failure(.cannotConnect))
        let service = service()
        let first = await Fixture.failure { for try await _ in service.events(News()) {} }
        #expect(first as? GeneralRequestError == .cannotConnect)
        let other = StubTransport()
        other.on(.get, "/v1/news", events("data: a\n\n"), .failure(.cannotConnect))
        let limited = NetworkService(environment: Fixture.environment) {
            $0.transport = other
            $0.clock = clock.networkClock
        }
        let stream = limited.events(
            News(), reconnecting: ServerSentEvent.Reconnection(delay: .seconds(1), maximumFailures: 2))
        let reading = Task { await Fixture.failure { for try await _ in stream {} } }
        for _ in 0..<3 { _ = await clock.advanceToNextSleeper() }
        #expect(await reading.value as? GeneralRequestError == .cannotConnect)
        #expect(other.requests.count == 4, "one success, two allowed failures, one failure too many")
    }

    @Test("A reset ends a stream that waits for its next connection")
    func reset() async throws {
        stub.on(.get, "/v1/news", events("data: a\n\n"))
        let service = service()
        let stream = service.events(News())
        let reading = Task { await Fixture.failure { for try await _ in stream {} } }
        await clock.waitForSleepers()
        await service.reset()
        #expect((await reading.value as? NetworkError)?.kind == .resetting)
    }

    @Test(
        "A refresh that fails for a time does not end a stream",
        arguments: [NetworkError.Kind.cannotConnect, .deadlineTimedOut])
    func failedRefresh(kind: NetworkError.Kind) async throws {
        let refresher = StubRefresher { count, _ in
            if count < 3 { throw NetworkError(kind) }
            return AccessToken("fresh")
        }
        stub.on(nil, nil) { [stub, events] request in
            if stub.requests.count == 1 { return events("data: a\n\n") }
            guard request.headers.authorization == .bearer("fresh") else { return .status(.unauthorized) }
            return stub.requests.count == 5 ? events("data: b\n\n") : .status(.noContent)
        }
        let session = AccessTokenSupervisor(
            token: AccessToken("old"), clock: Fixture.stillClock, refresh: refresher.refresh)
        let (data, _) = try await read(service(session).events(News()), waits: 4)
        #expect(data == ["a", "b"])
        #expect(refresher.count == 3)
    }

    @Test("A stream whose token has expired waits while the token cannot be refreshed")
    func expired() async throws {
        let refresher = StubRefresher { count, _ in
            if count < 3 { throw NetworkError(.notConnected) }
            return AccessToken("fresh")
        }
        stub.on(.get, "/v1/news", events("data: a\n\n"), events("data: b\n\n"), .status(.noContent))
        let session = AccessTokenSupervisor(
            token: AccessToken("old", expiresAt: clock.date.addingTimeInterval(120)), clock: clock.networkClock,
            refresh: refresher.refresh)
        let stream = service(session).events(
            News(), reconnecting: ServerSentEvent.Reconnection(delay: .seconds(200)))
        let reading = Task {
            var data: [String] = []
            for try await event in stream { data.append(event.data) }
            return data
        }
        try await clock.advance(by: .seconds(5), until: { [stub] in stub.requests.count == 3 })
        #expect(try await reading.value == ["a", "b"])
        #expect(refresher.count == 3)
    }

    @Test("A cancelled reader stops waiting for the next connection")
    func cancelled() async throws {
        stub.on(.get, "/v1/news", events("data: a\n\n"))
        let stream = service().events(News())
        let reading = Task { await Fixture.failure { for try await _ in stream {} } }
        await clock.waitForSleepers()
        reading.cancel()
        #expect(await reading.value as? GeneralRequestError == .cancelled)
    }

    @Test("A reset or cancellation between two connections ends the stream with the mapped error of a call")
    func endsBetween() async throws {
        struct Ended: Error {
            let kind: NetworkError.Kind?
        }
        stub.on(.get, "/v1/news", events("data: a\n\n"))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.errorMapping = .init { error, failure in
                Ended(kind: (failure.error as? NetworkError)?.kind ?? (error as? GeneralRequestError)?.cause?.kind)
            }
        }
        for end in ["reset", "cancel"] {
            let reading = Task { for try await _ in service.events(News()) {} }
            await clock.waitForSleepers(1)
            if end == "reset" { await service.reset() } else { reading.cancel() }
            let error = await Fixture.failure { try await reading.value } as? Ended
            #expect(error?.kind == (end == "reset" ? .resetting : .cancelled))
        }
    }

    /// A transport that sends one event for each connection and then fails. The third connection gets a 204.
    private struct Cutting: Transport {
        let connections = Box(0)
        let kind: NetworkError.Kind

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            connections.change { $0 += 1 }
            guard connections.value < 3 else {
                return HTTPResponse(.noContent, headers: [], content: .data(Data()), to: request)
            }
            let chunks = Box([Data("data: \(connections.value)\n\n".utf8)])
            let body = IncomingBody(pull: {
                guard let chunk = chunks.value.first else { throw NetworkError(kind) }
                chunks.change { $0 = [] }
                return chunk
            })
            return HTTPResponse(
                .ok, headers: [.contentType: "text/event-stream"], content: .stream(body), to: request)
        }
    }

    @Test("A failure in the middle of a stream is mapped like a call's failure; a lost event stream reconnects")
    func mapsInTheMiddle() async throws {
        struct Shown: Error, Equatable {
            let kind: NetworkError.Kind?
            let status: HTTPStatus?
        }
        func service(_ transport: Cutting, mapped: Bool = true) -> NetworkService {
            NetworkService(environment: Fixture.environment) {
                $0.transport = transport
                $0.clock = clock.networkClock
                $0.retry = RetryPolicy(retries: 3)
                if mapped { $0.errorMapping = .init { Shown(kind: ($0 as? NetworkError)?.kind, status: $1.status) } }
            }
        }
        let lost = Cutting(kind: .connectionLostAfterHead)
        let error = await Fixture.failure {
            for try await _ in try await service(lost).request(News(), as: .stream) {}
        }
        #expect(error as? Shown == Shown(kind: .connectionLostAfterHead, status: .ok))
        #expect(lost.connections.value == 1, "a call whose response has begun is not retried")
        let timedOut = await Fixture.failure {
            let events = try await service(Cutting(kind: .idleTimedOut), mapped: false)
                .request(News(), as: .serverSentEvents)
            for try await _ in events {}
        }
        #expect(timedOut as? GeneralRequestError == .timedOut)
        let (data, _) = try await read(service(Cutting(kind: .connectionLostAfterHead)).events(News()), waits: 2)
        #expect(data == ["1", "2"])
        let over = await Fixture.failure {
            _ = try await read(service(Cutting(kind: .tlsFailed)).events(News()), waits: 0)
        }
        #expect(over as? Shown == Shown(kind: .tlsFailed, status: .ok))
    }
}
