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
    func messages(of socket: WebSocket) -> Task<[String], any Error> {
        Task {
            var texts: [String] = []
            for try await case .text(let text) in socket { texts.append(text) }
            return texts
        }
    }

    /// Moves the clock until a condition is true, less than the time that a hello may take.
    func advance(until condition: @escaping @Sendable () -> Bool) async throws {
        try await clock.advance(by: .milliseconds(100), atMost: 500, until: condition)
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

    @Test("A large message is decoded with the limits of a large body")
    func largeValues() async throws {
        struct Probe: Decodable {
            let isLimited: Bool
            init(from decoder: any Decoder) throws { isLimited = JSONValue.work != nil }
        }
        stub.on(
            .get, "/v1/chat",
            .webSocket { socket in
                socket.send("[]")
                socket.send("[" + String(repeating: " ", count: 20_000) + "]")
                while try await socket.receive() != nil {}
            })
        let socket = service().webSocket(.get("chat"))
        var reader = socket.values(as: Probe.self).makeAsyncIterator()
        #expect(try await reader.next()?.isLimited == false)
        #expect(try await reader.next()?.isLimited == true)
    }

    @Test("A lost socket waits longer each time; a connection that brought a message and lasted resets the wait")
    func waits() async throws {
        let drop = StubResponse.webSocket { $0.drop() }
        let lasting = StubResponse.webSocket { [clock] socket in
            socket.send("m")
            try await clock.sleep(until: clock.now.advanced(by: .seconds(60)), tolerance: nil)
        }
        let end = StubResponse.webSocket { $0.close() }
        let short = StubResponse.webSocket { $0.send("m") }
        stub.on(.get, "/v1/chat", lasting, drop, short, drop, lasting, end)
        let reading = messages(of: service().webSocket(.get("chat"), .init { $0.pingInterval = nil }))
        var waits: [Duration] = []
        for _ in 0..<7 { waits.append(await clock.advanceToNextSleeper()) }
        #expect(try await reading.value == ["m", "m", "m"])
        #expect(waits == [60_000, 3_000, 5_100, 10_200, 20_400, 60_000, 3_000].map { .milliseconds($0) })
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

    @Test("An error of the hello ends the connection, and the socket if it was the first one")
    func hello() async throws {
        struct Refused: Error {}
        stub.on(.get, "/v1/chat", .webSocket { socket in while try await socket.receive() != nil {} })
        let socket = service().webSocket(.get("chat")) { _ in throw Refused() }
        await #expect(throws: Refused.self) { try await socket.connect() }
    }

    @Test(
        "A connection that the server closes during the hello is lost as any other, and the next one says hello again")
    func helloAgain() async throws {
        let hello = StubResponse.webSocket { socket in
            _ = try await socket.receive()
            socket.send("welcome")
            _ = try await socket.receive()
        }
        let busy = StubResponse.webSocket { socket in
            _ = try await socket.receive()
            socket.close(WebSocketClose(.tryAgainLater))
        }
        stub.on(.get, "/v1/chat", hello, busy, .webSocket { $0.close(WebSocketClose(.policyViolation)) })
        let socket = service().webSocket(.get("chat"), .init { $0.pingInterval = nil }) { connection in
            try await connection.send("hello")
            guard try await connection.receive() != nil else { throw CancellationError() }
        }
        try await socket.send("go")
        let reading = messages(of: socket)
        try await advance { [stub] in stub.requests.count == 3 }
        let error = await #expect(throws: NetworkError.self) { try await reading.value }
        #expect(error?.underlying as? WebSocketClose == WebSocketClose(.policyViolation))
    }

    @Test("A socket that is closed or released in any state ends, and its state is closed", arguments: 0..<4)
    func closing(stage: Int) async throws {
        stub.on(.get, "/v1/chat") { [clock] _ in
            if stage == 0 { try await clock.sleep(until: clock.now.advanced(by: .seconds(9)), tolerance: nil) }
            return .webSocket { socket in
                if stage == 2 { return }
                while try await socket.receive() != nil {}
            }
        }
        let socket = service().webSocket(.get("chat"), .init { $0.pingInterval = nil }) { connection in
            if stage == 1 { _ = try await connection.receive() }
        }
        let reading = messages(of: socket)
        let expected: [WebSocket.State] = [.connecting, .connecting, .waiting(.seconds(3)), .open]
        while socket.state != expected[stage] || stub.requests.isEmpty { await Task.yield() }
        await socket.close(4_000)
        #expect(try await reading.value == [])
        #expect(socket.state == .closed)
        let error = await #expect(throws: NetworkError.self) { try await socket.send("late") }
        #expect(error?.kind == .webSocketClosed)
    }

    @Test("A message that is sent while the connection ends is sent on the next one")
    func sendingAtTheEnd() async throws {
        let received = Box<[WebSocketMessage]>([])
        stub.on(
            .get, "/v1/chat", .webSocket { $0.close(WebSocketClose(.serviceRestart)) },
            .webSocket { socket in
                socket.send("hello")
                while let message = try await socket.receive() { received.change { $0.append(message) } }
            })
        let socket = service().webSocket(.get("chat"), .init { $0.pingInterval = nil }) { connection in
            _ = try await connection.receive()  // the first connection ends here
        }
        let sending = Task { try await socket.send("late") }
        try await advance { [stub] in stub.requests.count == 2 }
        try await sending.value
        while received.value.isEmpty { await Task.yield() }
        #expect(received.value == [.text("late")])
    }

    @Test("Two readers at once are an error of the second one, and the first one reads on")
    func twoReaders() async throws {
        let sends = Settlement<Void>()
        stub.on(
            .get, "/v1/chat",
            .webSocket { socket in
                try await sends.value()
                socket.send("one")
                socket.close()
            })
        let socket = service().webSocket(.get("chat"), .init { $0.pingInterval = nil })
        try await socket.connect()
        let readings = [messages(of: socket), messages(of: socket)]
        let isRefused = Settlement<Void>()
        let results = Task {
            await withTaskGroup(of: Result<[String], any Error>.self) { group in
                for reading in readings {
                    group.addTask {
                        let result = await reading.result
                        if case .failure = result { isRefused.settle(.success(())) }
                        return result
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        try await isRefused.value()
        sends.settle(.success(()))
        let both = await results.value
        #expect(both.compactMap { try? $0.get() } == [["one"]])
        #expect(both.contains { if case .failure(let error) = $0 { "\(error)".contains("one reader") } else { false } })
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
