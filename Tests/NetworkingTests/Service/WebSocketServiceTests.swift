import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("WebSockets of a service", .endsInTime)
struct WebSocketServiceTests {
    let clock = ManualClock()
    let stub = StubTransport()

    func service(_ session: AccessTokenSupervisor? = nil) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.session = session
            $0.clock = clock.networkClock
            $0.random = RandomSource(ConstantGenerator(0.5))
        }
    }

    /// Waits, and reads until the end of the sequence.
    private func messages(of socket: WebSocket) -> Task<[String], any Error> {
        Task {
            var texts: [String] = []
            for try await case .text(let text) in socket { texts.append(text) }
            return texts
        }
    }

    @Test("Nothing is sent before the socket is used, and one connection serves reading and sending")
    func lazy() async throws {
        stub.on(
            .get, "/v1/chat",
            .webSocket(subprotocol: "v1") { socket in
                while let message = try await socket.receive() { socket.send(message) }
            })
        let socket = service().webSocket(.get("chat"), .init(subprotocols: ["v1"]))
        #expect(socket.state == .idle)
        #expect(stub.requests.isEmpty)
        try await socket.send("a")
        #expect(socket.state == .open)
        #expect(socket.subprotocol == "v1")
        var reader = socket.makeAsyncIterator()
        #expect(try await reader.next() == .text("a"))
        try await socket.send(json: ["b": 1])
        #expect(try await reader.next() == .text(#"{"b":1}"#))
        #expect(stub.requests.count == 1)
        await socket.close()
        #expect(try await reader.next() == nil)
        let error = await #expect(throws: NetworkError.self) { try await socket.send("late") }
        #expect(error?.kind == .webSocketClosed)
    }

    @Test("Messages are read as values; one that cannot be decoded is an error, and the socket stays open")
    func values() async throws {
        struct Move: Codable, Equatable { let x: Int }
        stub.on(
            .get, "/v1/chat",
            .webSocket { socket in
                socket.send(#"{"x":1}"#)
                socket.send(#"{"x":"no"}"#)
                socket.send(.binary(Data(#"{"x":2}"#.utf8)))
                while try await socket.receive() != nil {}
            })
        let socket = service().webSocket(.get("chat"))
        var reader = socket.values(as: Move.self).makeAsyncIterator()
        #expect(try await reader.next() == Move(x: 1))
        let error = await #expect(throws: NetworkError.self) { try await reader.next() }
        #expect(error?.kind == .undecodableBody)
        #expect("\(error as Any)".contains("expected Int, found a string"))
        #expect(try await reader.next() == Move(x: 2))
        #expect(socket.state == .open)
    }

    @Test("A lost socket waits longer with each connection without a message, and a message resets the wait")
    func waits() async throws {
        let drop = StubResponse.webSocket { $0.drop() }
        let message = StubResponse.webSocket { $0.send("m") }
        let end = StubResponse.webSocket { $0.close() }
        stub.on(.get, "/v1/chat", message, drop, drop, message, end)
        let reading = messages(of: service().webSocket(.get("chat"), .init { $0.pingInterval = nil }))
        var waits: [Duration] = []
        for _ in 0..<4 { waits.append(await clock.advanceToNextSleeper()) }
        #expect(try await reading.value == ["m", "m"])
        #expect(waits == [.seconds(3), .milliseconds(5_100), .milliseconds(10_200), .seconds(3)])
    }

    @Test("If the first handshake fails, the socket ends with its error and does not connect again")
    func firstFailure() async throws {
        stub.on(.get, "/v1/chat", .failure(.cannotConnect), .webSocket { $0.send("never") })
        let socket = service().webSocket(.get("chat"))
        await #expect(throws: GeneralRequestError.self) { try await socket.connect() }
        await #expect(throws: GeneralRequestError.self) { try await socket.send("again") }
        #expect(stub.requests.count == 1)
        #expect(socket.state == .closed)
    }

    @Test(
        "After a lost connection, a refusal ends the socket, and a failure that may pass does not",
        arguments: [(HTTPStatus.notFound, true), (.forbidden, true), (.tooManyRequests, false), (.badGateway, false)])
    func refusals(status: HTTPStatus, ends: Bool) async throws {
        stub.on(.get, "/v1/chat", .webSocket { $0.send("one") }, .status(status), .webSocket { $0.close() })
        let socket = service().webSocket(.get("chat"), .init { $0.pingInterval = nil })
        let reading = messages(of: socket)
        for _ in 0..<(ends ? 1 : 2) { await clock.advanceToNextSleeper() }
        if ends {
            await #expect(throws: GeneralRequestError.self) { try await reading.value }
        } else {
            #expect(try await reading.value == ["one"])
        }
        #expect(stub.requests.count == (ends ? 2 : 3))
    }

    @Test("Codes of a refusal, and codes that the app adds, end the socket with the server's code and reason")
    func codes() async throws {
        for (code, added) in [(WebSocketClose.Code.policyViolation, false), (4_001, true)] {
            stub.on(.get, "/v1/chat", .webSocket { $0.close(WebSocketClose(code, reason: "no")) })
            var rule = WebSocket.Reconnection()
            if added { rule.endingCodes.insert(code) }
            let socket = service().webSocket(.get("chat"), reconnecting: rule)
            let error = await #expect(throws: NetworkError.self) { try await messages(of: socket).value }
            #expect(error?.underlying as? WebSocketClose == WebSocketClose(code, reason: "no"))
            #expect(socket.closure == WebSocketClose(code, reason: "no"))
        }
    }

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

    @Test("An error of the hello ends the connection, and the socket if it was the first one")
    func hello() async throws {
        struct Refused: Error {}
        stub.on(.get, "/v1/chat", .webSocket { socket in while try await socket.receive() != nil {} })
        let socket = service().webSocket(.get("chat")) { _ in throw Refused() }
        await #expect(throws: Refused.self) { try await socket.connect() }
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

    @Test("A transport that opens no WebSockets is an error that names the one that does")
    func otherTransport() async throws {
        stub.on(.get, "/v1/chat", .status(.switchingProtocols))
        let error = await #expect(throws: NetworkError.self) {
            try await service().webSocket(.get("chat")).connect()
        }
        #expect("\(error as Any)".contains("CurlTransport"))
    }

    @Test("A cancelled reader ends with an error, and the next one gets the message")
    func cancelled() async throws {
        let sends = Settlement<Void>()
        stub.on(
            .get, "/v1/chat",
            .webSocket { socket in
                try await sends.value()
                socket.send("late")
                while try await socket.receive() != nil {}
            })
        let socket = service().webSocket(.get("chat"), .init { $0.pingInterval = nil })
        try await socket.connect()
        let reading = messages(of: socket)
        reading.cancel()
        let error = await #expect(throws: NetworkError.self) { try await reading.value }
        #expect(error?.kind == .cancelled)
        sends.settle(.success(()))
        var reader = socket.makeAsyncIterator()
        #expect(try await reader.next() == .text("late"))
    }
}
