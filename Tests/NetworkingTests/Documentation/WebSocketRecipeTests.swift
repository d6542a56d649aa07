// Runs, unchanged, the blocks of WebSockets.md. `DocumentationTests` compares it with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.websockets
enum ChatEndpoint: Endpoint {
    case room(Int)

    var path: EndpointPath {
        switch self {
        case .room(let id): "rooms/\(id)/socket"
        }
    }

    var authorizationType: AuthorizationType { .bearer }
}

struct ChatMessage: Codable, Equatable, Sendable {
    var author: String
    var text: String
}

/// Shows what is said in a room, until the user leaves it.
struct ChatRoom {
    private let socket: WebSocket

    init(_ id: Int, of service: NetworkService) {
        socket = service.webSocket(ChatEndpoint.room(id)) { connection in
            // On each connection, before anything else: resume where we are.
            try await connection.send(connection.isFirst ? "join" : "rejoin")
        }
    }

    func say(_ text: String, as author: String) async throws {
        try await socket.send(json: ChatMessage(author: author, text: text))
    }

    func read(_ show: (ChatMessage) -> Void) async throws {
        for try await message in socket.values(as: ChatMessage.self) {
            show(message)
        }
    }

    func leave() async { await socket.close() }
}

/// A socket that the code 4001 ends, and whose state a banner shows.
func openRoom(
    _ service: NetworkService, show: @escaping @Sendable (String) -> Void
) -> (WebSocket, ObservationToken) {
    var reconnection = WebSocket.Reconnection(delay: .seconds(1))
    reconnection.endingCodes.insert(4001)
    let socket = service.webSocket(
        ChatEndpoint.room(7), .init { $0.pingInterval = .seconds(10) },
        reconnecting: reconnection)
    let token = socket.states.observe { state in
        switch state {
        case .connecting: show("connecting")
        case .open: show("connected")
        case .waiting(let time): show("connects again in \(time)")
        case .idle, .closed: show("not connected")
        }
    }
    return (socket, token)
}

func sendTokens(
    of session: AccessTokenSupervisor, on socket: WebSocket
) -> ObservationToken {
    session.tokens.observe { token in
        guard let token else { return }
        Task { try? await socket.send(json: ["token": token.value]) }
    }
}

func stubRoom() -> StubTransport {
    let stub = StubTransport()
    stub.on(
        .get, "/rooms/7/socket",
        .webSocket { socket in
            _ = try await socket.receive()  // "join"
            socket.send(#"{"author":"Ada","text":"hello"}"#)
            socket.close()
        })
    return stub
}
// snippet.end

@Suite("The chat of the article on WebSockets", .endsInTime)
struct WebSocketRecipeTests {
    @Test("A room joins, shows what is said, and ends when the server closes it")
    func chat() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("one"), clock: Fixture.stillClock) { _ in
            AccessToken("two")
        }
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: URL(string: "https://chat.example.com")),
            authorizedBy: session
        ) {
            $0.transport = stubRoom()
            $0.clock = Fixture.stillClock
        }
        let room = ChatRoom(7, of: service)
        var shown: [ChatMessage] = []
        try await room.read { shown.append($0) }
        #expect(shown == [ChatMessage(author: "Ada", text: "hello")])
        await room.leave()
    }

    @Test("A banner shows the states of a socket, which its server ends with the code of a refusal")
    func states() async throws {
        let stub = StubTransport()
        stub.on(.get, "/rooms/7/socket", .webSocket { $0.close(WebSocketClose(4001)) })
        let service = NetworkService(environment: NetworkEnvironment(baseURL: URL(string: "https://chat.example.com")))
        {
            $0.transport = stub
            $0.clock = Fixture.stillClock
        }
        let shown = Box<[String]>([])
        let (socket, token) = openRoom(service) { text in shown.change { $0.append(text) } }
        var reader = socket.makeAsyncIterator()
        let error = await #expect(throws: NetworkError.self) { try await reader.next() }
        #expect(error?.kind == .webSocketClosed)
        while shown.value.count < 3 { await Task.yield() }
        #expect(shown.value == ["connecting", "connected", "not connected"])
        token.cancel()
    }

    @Test("A refreshed token is sent on the socket")
    func tokens() async throws {
        let received = Box<[WebSocketMessage]>([])
        let stub = StubTransport()
        stub.on(
            .get, "/rooms/7/socket",
            .webSocket { socket in
                while let message = try await socket.receive() { received.change { $0.append(message) } }
            })
        let session = AccessTokenSupervisor(token: AccessToken("one"), clock: Fixture.stillClock) { _ in
            AccessToken("two")
        }
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: URL(string: "https://chat.example.com")),
            authorizedBy: session
        ) {
            $0.transport = stub
            $0.clock = Fixture.stillClock
        }
        let socket = service.webSocket(ChatEndpoint.room(7))
        try await socket.connect()
        let token = sendTokens(of: session, on: socket)
        session.replace(AccessToken("two"))
        while received.value.isEmpty { await Task.yield() }
        #expect(received.value == [.text(#"{"token":"two"}"#)])
        token.cancel()
    }
}
