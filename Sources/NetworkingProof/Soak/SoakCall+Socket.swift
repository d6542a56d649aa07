import Foundation
import Networking
import NetworkingTesting

/// A WebSocket whose connection is lost, whose reader pauses, or whose user logs out.
extension SoakCall {
    /// What a server sends to a reader that pauses.
    static let flood = (0..<40).map { WebSocketMessage.binary(SoakServer.file.prefix(16_384 + $0)) }

    /// Opens a socket, which may need a new token, and compares each message that is received with the one expected.
    static func talk(_ service: NetworkService, _ number: Int) async throws {
        let session = AccessTokenSupervisor(token: AccessToken("logged in")) { _ in AccessToken("logged in") }
        let isOwn = number % 4 == 3
        let service = isOwn ? own(service, session) : service
        let greetings = Broadcaster(0)
        let socket = service.webSocket(
            isOwn ? .get("open-socket").authorized() : .get("socket").authorized(),
            .init { $0.pingInterval = .milliseconds(500) },
            reconnecting: .init(delay: .milliseconds(10)),
            hello: { connection in
                try await connection.send("hello")
                let answer = try await connection.receive()
                guard answer == .text("welcome") else { throw Wrong(description: "hello: found \(answer as Any)") }
                greetings.publish((greetings.current ?? 0) + 1)
            })
        var random = SeededGenerator(seed: UInt64(number))
        var reader = socket.makeAsyncIterator()
        for _ in 0..<3 {
            let bytes = SoakServer.file.prefix(Int.random(in: 0...100_000, using: &random))
            for message in [WebSocketMessage.binary(bytes), .text(bytes.prefix(9_000).base64EncodedString())] {
                try await socket.send(message)
                let echo = try await reader.next()
                try demand(echo == message, "an echo of \(echo?.data.count ?? -1) bytes")
            }
        }
        switch number % 4 {
        case 0:  // the connection is lost
            try await socket.send("drop")
            for _ in 0..<5_000 where (greetings.current ?? 0) < 2 { try await Task.sleep(for: .milliseconds(2)) }
            let count = (greetings.current ?? 0)
            try demand(count == 2, "\(count) connections")
            try await socket.send("again")
            let echo = try await reader.next()
            try demand(echo == .text("again"), "\(echo as Any)")
        case 1:  // the reader pauses
            try await socket.send("flood")
            try await Task.sleep(for: .milliseconds(20))
            for expected in flood {
                let message = try await reader.next()
                try demand(message == expected, "a message of \(message?.data.count ?? -1) bytes")
            }
        case 3:  // the user logs out
            session.accessToken = nil
            do {
                let message = try await reader.next()
                throw Wrong(description: "socket: found \(message as Any) after a log-out")
            } catch let error as GeneralRequestError where error == .noAuth {}
        default: break
        }
        await socket.close()
    }

    /// A service with a user of its own, on the transport of another service.
    private static func own(_ service: NetworkService, _ session: AccessTokenSupervisor) -> NetworkService {
        NetworkService(environment: service.client.configuration.environment, authorizedBy: session) {
            $0.transport = service.client.configuration.transport
        }
    }

    private static func demand(_ condition: Bool, _ found: String) throws {
        if !condition { throw Wrong(description: "socket: found \(found)") }
    }
}

extension SoakServer {
    /// The server's side of a socket.
    static let socket = LoopbackResponse.webSocket { socket in
        while let message = try socket.receive() {
            switch message {
            case .text("hello"): try socket.send("welcome")
            case .text("drop"): return
            case .text("flood"): for message in SoakCall.flood { try socket.send(message) }
            default: try socket.send(message)
            }
        }
    }
}
