import Foundation
import NetworkingTesting
import Testing

@testable import Networking

extension Loopback {
    /// Sockets on the engine that services use by default.
    @Suite("WebSockets")
    struct WebSocketTests {
        let transport: any Transport

        init() throws { transport = try Engine.preferred.make() }

        func service(_ server: LoopbackServer, authorizedBy session: AccessTokenSupervisor? = nil) -> NetworkService {
            NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
                $0.session = session
            }
        }

        private static let echo: LoopbackServer.Handler = { _ in
            .webSocket { socket in while let message = try socket.receive() { try socket.send(message) } }
        }

        @Test("Texts and bytes of every size come back unchanged", arguments: [true, false])
        func echo(compresses: Bool) async throws {
            let server = try LoopbackServer(Self.echo)
            let socket = service(server).webSocket(.get("chat"), .init { $0.compresses = compresses })
            var reader = socket.makeAsyncIterator()
            var random = SeededGenerator(seed: 1)
            for size in [0, 1, 125, 126, 1_000, 65_535, 65_536, 65_537, 300_000, 5 << 20] {
                let bytes = Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
                try await socket.send(bytes)
                #expect(try await reader.next() == .binary(bytes))
                let text = String(repeating: "grün 🙂 ", count: size / 12)
                try await socket.send(text)
                #expect(try await reader.next() == .text(text))
            }
            await socket.close()
            #expect(try await reader.next() == nil)
            #expect(socket.state == .closed)
        }

        @Test("A hundred sockets send and receive at the same time")
        func many() async throws {
            let server = try LoopbackServer(Self.echo)
            let service = service(server)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let socket = service.webSocket(.get("chat"))
                        var reader = socket.makeAsyncIterator()
                        for index in 0..<50 {
                            try await socket.send("\(number) \(index)")
                            #expect(try await reader.next() == .text("\(number) \(index)"))
                        }
                        await socket.close()
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await Exchange.eventually { server.openConnections == 0 })
        }

        @Test("The handshake carries the token, refreshes a refused one, and offers subprotocols")
        func token() async throws {
            let server = try LoopbackServer { request in
                guard request.headers[.authorization] == "Bearer new" else { return .status(.unauthorized) }
                #expect(request.headers["Sec-WebSocket-Protocol"] == "v2, v1")
                return .webSocket(subprotocol: "v1") { socket in try socket.send("welcome") }
            }
            let session = AccessTokenSupervisor(token: AccessToken("old")) { _ in AccessToken("new") }
            let socket = service(server, authorizedBy: session)
                .webSocket(.get("chat").authorized(), .init(subprotocols: ["v2", "v1"]))
            var reader = socket.makeAsyncIterator()
            #expect(try await reader.next() == .text("welcome"))
            #expect(server.requestCount == 2)
        }

        @Test("A refused handshake is the error of the call, with the body of the response")
        func refused() async throws {
            let server = try LoopbackServer { request in
                request.path == "/moved"
                    ? .redirect(to: "/elsewhere?secret=1") : .text("no room", status: .forbidden)
            }
            let service = service(server)
            let error = await #expect(throws: GeneralRequestError.self) {
                try await service.webSocket(.get("chat")).connect()
            }?.cause
            #expect(error?.status == .forbidden)
            // `URLSession` reports no body of a refused handshake.
            #expect(error?.response?.data == Data((Engine.preferred == .curl ? "no room" : "").utf8))
            let moved = await #expect(throws: NetworkError.self) {
                try await service.webSocket(.get("moved")).connect()
            }
            #expect(moved?.status == .found)
            #expect("\(moved as Any)".contains("/elsewhere"))
            #expect(!"\(moved as Any)".contains("secret"))
        }

        @Test("After a lost connection, the socket connects again and says hello again")
        func reconnects() async throws {
            let server = try LoopbackServer { _ in
                .webSocket { socket in
                    guard let hello = try socket.receive() else { return }
                    try socket.send(hello)
                    try socket.send("one")
                }
            }
            let socket = service(server).webSocket(
                .get("chat"), reconnecting: .init(delay: .milliseconds(1))
            ) { connection in
                try await connection.send("hello \(connection.isFirst)")
                #expect(try await connection.receive() == .text("hello \(connection.isFirst)"))
            }
            var reader = socket.makeAsyncIterator()
            for _ in 0..<5 { #expect(try await reader.next() == .text("one")) }
            #expect(server.requestCount >= 5)
        }

        @Test("Code 1000 ends the sequence; codes of a refusal are errors; others let the socket connect again")
        func codes() async throws {
            let server = try LoopbackServer { request in
                .webSocket { socket in
                    let code = UInt16(request.path.dropFirst()) ?? 0
                    try socket.send("hello")
                    try socket.close(WebSocketClose(.init(rawValue: code), reason: "because"))
                    socket.waitForEnd()
                }
            }
            let service = service(server)
            let normal = service.webSocket(.get("1000"))
            var reader = normal.makeAsyncIterator()
            #expect(try await reader.next() == .text("hello"))
            #expect(try await reader.next() == nil)
            #expect(normal.closure == WebSocketClose(.normal, reason: "because"))
            let refused = service.webSocket(.get("1008"))
            reader = refused.makeAsyncIterator()
            #expect(try await reader.next() == .text("hello"))
            let error = await #expect(throws: NetworkError.self) { try await reader.next() }
            #expect(error?.kind == .webSocketClosed)
            #expect(error?.underlying as? WebSocketClose == WebSocketClose(.policyViolation, reason: "because"))
            let again = service.webSocket(.get("1012"), reconnecting: .init(delay: .milliseconds(1)))
            reader = again.makeAsyncIterator()
            for _ in 0..<3 { #expect(try await reader.next() == .text("hello")) }
        }

        @Test("Log-out closes the sockets of the session, and they end as calls without a session")
        func logOut() async throws {
            let closed = Box(0)
            let server = try LoopbackServer { _ in
                .webSocket { socket in
                    while try socket.receive() != nil {}
                    if socket.closure?.code == .normal { closed.change { $0 += 1 } }
                }
            }
            let session = AccessTokenSupervisor(token: AccessToken("one")) { _ in AccessToken("two") }
            let service = service(server, authorizedBy: session)
            let sockets = (0..<10).map { _ in service.webSocket(.get("chat").authorized()) }
            for socket in sockets { try await socket.connect() }
            session.accessToken = AccessToken("other user")
            for socket in sockets {
                var reader = socket.makeAsyncIterator()
                let error = await #expect(throws: GeneralRequestError.self) { try await reader.next() }
                #expect(error?.code == .noAuth)
            }
            #expect(try await Exchange.eventually { closed.value == 10 })
        }

        @Test("A client that is shut down closes its sockets with code 1001")
        func shutDown() async throws {
            let code = Box<WebSocketClose?>(nil)
            let server = try LoopbackServer { _ in
                .webSocket { socket in
                    while try socket.receive() != nil {}
                    code.change { $0 = socket.closure }
                }
            }
            let service = service(server)
            let socket = service.webSocket(.get("chat"))
            try await socket.connect()
            await service.client.shutDown(draining: .seconds(1))
            var reader = socket.makeAsyncIterator()
            let error = await #expect(throws: NetworkError.self) { try await reader.next() }
            #expect(error?.kind == .transportShutDown)
            #expect(try await Exchange.eventually { code.value?.code == .goingAway })
        }

        @Test("A reader that does not read slows the server down, and loses nothing", arguments: Engine.curlOnly)
        func backPressure(engine: Engine) async throws {
            let sent = Box(0)
            let server = try LoopbackServer { _ in
                .webSocket(compressing: false) { socket in
                    for number in 0..<400 {
                        try socket.send(.binary(Data(repeating: UInt8(number % 251), count: 100_000)))
                        sent.change { $0 += 1 }
                    }
                    try socket.close()
                    socket.waitForEnd()
                }
            }
            let socket = service(server).webSocket(.get("chat"))
            var reader = socket.makeAsyncIterator()
            #expect(try await reader.next() == .binary(Data(repeating: 0, count: 100_000)))
            try await Task.sleep(for: .milliseconds(300))
            #expect(sent.value < 200)
            for number in 1..<400 {
                #expect(try await reader.next() == .binary(Data(repeating: UInt8(number % 251), count: 100_000)))
            }
            #expect(try await reader.next() == nil)
        }

        @Test("A released socket closes its connection with code 1001")
        func released() async throws {
            let code = Box<WebSocketClose?>(nil)
            let server = try LoopbackServer { _ in
                .webSocket { socket in
                    while try socket.receive() != nil {}
                    code.change { $0 = socket.closure }
                }
            }
            try await service(server).webSocket(.get("chat")).connect()
            #expect(try await Exchange.eventually { code.value?.code == .goingAway })
        }
    }
}
