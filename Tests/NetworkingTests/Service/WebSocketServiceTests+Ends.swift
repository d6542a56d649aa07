import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Silent servers, log-out and refused tokens.
extension WebSocketServiceTests {
    @Test("A silent server is found by a ping; one that answers, or sends anything, is not")
    func pings() async throws {
        stub.on(
            .get, "/v1/chat",
            .webSocket { socket in
                _ = try await socket.receive()
                socket.answersPings = false
                socket.send("stopped")
                while try await socket.receive() != nil {}
            })
        let socket = service().webSocket(
            .get("chat"),
            .init {
                $0.pingInterval = .seconds(10)
                $0.pingTimeout = .seconds(4)
            }, reconnecting: .never)
        try await socket.connect()
        var waits: [Duration] = []
        for _ in 0..<4 { waits.append(await clock.advanceToNextSleeper()) }
        await clock.waitForSleepers()
        try await socket.send("stop")
        var reader = socket.makeAsyncIterator()
        #expect(try await reader.next() == .text("stopped"))
        for _ in 0..<3 { waits.append(await clock.advanceToNextSleeper()) }
        #expect(waits == [10, 4, 10, 4, 10, 10, 4].map { .seconds($0) })
        let error = await #expect(throws: GeneralRequestError.self) { try await reader.next() }
        #expect(error?.cause?.kind == .idleTimedOut)
    }

    @Test("While messages wait for their reader, silence is not the server's fault")
    func pausedReader() async throws {
        let isSent = Settlement<Void>()
        stub.on(
            .get, "/v1/chat",
            .webSocket { socket in
                socket.answersPings = false
                socket.send(.binary(Data(count: 300_000)))
                isSent.settle(.success(()))
                while try await socket.receive() != nil {}
            })
        let socket = service().webSocket(.get("chat"), .init { $0.pingInterval = .seconds(10) }, reconnecting: .never)
        try await socket.connect()
        try await isSent.value()
        for _ in 0..<20 { #expect(await clock.advanceToNextSleeper() == .seconds(10)) }
        await clock.waitForSleepers()
        #expect(socket.state == .open)
        var reader = socket.makeAsyncIterator()
        #expect(try await reader.next() == .binary(Data(count: 300_000)))
        var waits: [Duration] = []
        for _ in 0..<3 { waits.append(await clock.advanceToNextSleeper()) }
        #expect(waits == [10, 10, 20].map { .seconds($0) })
        await #expect(throws: GeneralRequestError.self) { try await reader.next() }
    }

    @Test("Log-out ends a socket that says hello, and one that waits to connect again")
    func logOut() async throws {
        let isGreeted = Settlement<Void>()
        stub.on(
            .get, "/v1/chat",
            .webSocket { socket in
                isGreeted.settle(.success(()))
                while try await socket.receive() != nil {}
            })
        stub.on(.get, "/v1/lost", .webSocket { $0.drop() })
        let session = AccessTokenSupervisor(token: AccessToken("alice"), clock: clock.networkClock) { _ in
            AccessToken("none")
        }
        let service = service(session)
        let greeting = service.webSocket(.get("chat").authorized()) { connection in
            _ = try await connection.receive()
        }
        let waiting = service.webSocket(.get("lost").authorized(), .init { $0.pingInterval = nil })
        let readings = [messages(of: greeting), messages(of: waiting)]
        try await isGreeted.value()
        while waiting.state != .waiting(.seconds(3)) { await Task.yield() }
        session.accessToken = AccessToken("bob")
        for reading in readings {
            let error = await #expect(throws: GeneralRequestError.self) { try await reading.value }
            #expect(error?.code == .noAuth)
        }
        #expect(stub.requests.allSatisfy { $0.headers[.authorization] == "Bearer alice" })
    }

    @Test("A log-out ends a socket only if it carries the token, also in a service that has only the session's parts")
    func socketsOfOthers() async throws {
        stub.on(.get, "/v1/chat", .webSocket { socket in while try await socket.receive() != nil {} })
        let session = AccessTokenSupervisor(token: AccessToken("alice"), clock: clock.networkClock) { _ in
            AccessToken("none")
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.requestAdaptingService = RequestAdaptingService([session.adapter])
            $0.errorHandlingService = ErrorHandlingService([session.handler])
        }
        let own = service.webSocket(.get("chat").authorized(), .init { $0.pingInterval = nil })
        let other = service.webSocket(.get("chat"), .init { $0.pingInterval = nil })
        for socket in [own, other] { try await socket.connect() }
        session.accessToken = AccessToken("bob")
        while own.state == .open { await Task.yield() }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer alice", nil])
        #expect(other.state == .open)
    }

    @Test("After a log-out, a socket with an optional token connects once more, without a token")
    func optionalToken() async throws {
        stub.on(.get, "/v1/chat", .webSocket { socket in while try await socket.receive() != nil {} })
        let session = AccessTokenSupervisor(token: AccessToken("alice"), clock: clock.networkClock) { _ in
            AccessToken("none")
        }
        let endpoint = AdHocEndpoint.get("chat").authorized(.optional(.bearer))
        let socket = service(session).webSocket(endpoint, .init { $0.pingInterval = nil })
        try await socket.connect()
        session.accessToken = AccessToken("bob")
        while stub.requests.count < 2 || socket.state != .open { await Task.yield() }
        session.replace(AccessToken("bob again"))
        for _ in 0..<1_000 { await Task.yield() }
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer alice", nil])
        #expect(socket.state == .open)
    }

    @Test("Ten sockets and three calls with a refused token refresh it once")
    func refresh() async throws {
        let refresher = StubRefresher()
        stub.on(.get, "/v1/chat") { request in
            request.headers[.authorization] == "Bearer fresh-1"
                ? .webSocket { socket in while try await socket.receive() != nil {} } : .status(.unauthorized)
        }
        stub.on(.get, "/v1/item") { request in
            .status(request.headers[.authorization] == "Bearer fresh-1" ? .ok : .unauthorized)
        }
        let session = AccessTokenSupervisor(
            token: AccessToken("old"), clock: clock.networkClock, refresh: refresher.refresh)
        let service = service(session)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask { try await service.webSocket(.get("chat").authorized()).connect() }
            }
            for _ in 0..<3 { group.addTask { try await service.request(.get("item").authorized()) } }
            try await group.waitForAll()
        }
        #expect(refresher.count == 1)
    }

    /// An endpoint whose service has another status for a refused token, and an error of its own for it.
    private struct Chat: Endpoint {
        let path: EndpointPath = "chat"
        let method = HTTPMethod.get
        let authorizationType = AuthorizationType.bearer
        func error(for status: HTTPStatus) -> (any Error)? { status == 419 ? Refused() : nil }
    }

    private struct Refused: Error {}

    @Test("A refresh that fails for a time does not end a socket, one that is rejected does", arguments: [true, false])
    func failedRefresh(isRejected: Bool) async throws {
        let refresher = StubRefresher { count, _ in
            if isRejected { throw AccessToken.Rejected() }
            if count < 3 { throw count == 1 ? URLError(.timedOut) : NetworkError(.deadlineTimedOut) }
            return AccessToken("fresh")
        }
        let connections = Box(0)
        stub.on(.get, "/v1/chat") { request in
            connections.change { $0 += 1 }
            if connections.value == 1 { return .webSocket { $0.send("one") } }
            return request.headers[.authorization] == "Bearer fresh"
                ? .webSocket { socket in
                    socket.send("two")
                    socket.close()
                } : .status(419)
        }
        let session = AccessTokenSupervisor(
            token: AccessToken("old"), unauthorizedStatuses: [419], clock: clock.networkClock,
            refresh: refresher.refresh)
        let socket = service(session).webSocket(Chat(), .init { $0.pingInterval = nil })
        let reading = messages(of: socket)
        let advancing = Task {
            while !Task.isCancelled { await clock.advanceToNextSleeper() }
        }
        defer { advancing.cancel() }
        if isRejected {
            await #expect(throws: (any Error).self) { try await reading.value }
            #expect(refresher.count == 1)
        } else {
            #expect(try await reading.value == ["one", "two"])
        }
    }

    @Test("A socket waits for as long as a server that refuses it asks for, and for a random part of it")
    func retryAfter() async throws {
        for (asked, wait) in [
            ("100", Duration.milliseconds(137_500)), ("99999", .seconds(825)), ("1", .milliseconds(5_100)),
        ] {
            let refusal = StubResponse.status(.serviceUnavailable, headers: ["Retry-After": asked])
            stub.on(.get, "/v1/chat", .webSocket { $0.send("one") }, refusal, .webSocket { $0.close() })
            let socket = service().webSocket(.get("chat"), .init { $0.pingInterval = nil })
            let reading = messages(of: socket)
            #expect(await clock.advanceToNextSleeper() == .seconds(3))
            #expect(await clock.advanceToNextSleeper() == wait)
            #expect(try await reading.value == ["one"])
        }
    }

    @Test("A hello that does not end is ended by the idle timeout; one that sends values ends", arguments: 0..<3)
    func endlessHello(stage: Int) async throws {
        stub.on(.get, "/v1/chat", .webSocket { socket in while try await socket.receive() != nil {} })
        let socket = Box<WebSocket?>(nil)
        let made = service().webSocket(
            .get("chat"), .init { $0.pingInterval = nil }, with: RequestSettings { $0.timeouts.idle = .seconds(7) }
        ) { connection in
            try await connection.send(json: ["token": "x"])
            try await connection.send(Data([1]))
            switch stage {
            case 0: _ = try await connection.receive()
            case 1: try await socket.value?.send("on the socket")
            default: break
            }
        }
        socket.change { $0 = made }
        defer { socket.change { $0 = nil } }
        let connecting = Task { try await made.connect() }
        if stage < 2 {
            #expect(await clock.advanceToNextSleeper() == .seconds(7))
            let error = await #expect(throws: NetworkError.self) { try await connecting.value }
            #expect(error?.kind == .idleTimedOut && error?.reason?.contains("hello") == true)
        } else {
            try await connecting.value
            await made.close()
            let error = await #expect(throws: NetworkError.self) { try await made.connect() }
            #expect(error?.kind == .webSocketClosed)
        }
    }

    @Test("A reset ends a socket whose handshake waits for a retry")
    func resetWhileRetrying() async throws {
        stub.on(.get, "/v1/chat", .webSocket { $0.send("one") }, .status(.serviceUnavailable))
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.retry = RetryPolicy(retries: 3, backoff: .constant(.seconds(40)), on: .statuses(.serviceUnavailable))
        }
        let socket = service.webSocket(.get("chat"), .init { $0.pingInterval = nil })
        let reading = messages(of: socket)
        await clock.advanceToNextSleeper()
        while stub.requests.count < 2 { await Task.yield() }
        await clock.waitForSleepers()
        await service.reset()
        let error = await #expect(throws: (any Error).self) { try await reading.value }
        #expect("\(error as Any)".contains("reset"), "\(error as Any)")
        #expect(stub.requests.count == 2)
    }

    @Test("A refused handshake without a token says why it had none")
    func missingToken() async throws {
        stub.on(.get, "/v1/chat", .status(.unauthorized))
        let error = await #expect(throws: GeneralRequestError.self) {
            try await service().webSocket(.get("chat")).connect()
        }
        #expect(error?.description.contains("sent without a token") == true, "\(error as Any)")
    }
}
