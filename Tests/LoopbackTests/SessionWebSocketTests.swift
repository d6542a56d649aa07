import Foundation
import NetworkingTesting
import Testing

@testable import Networking

extension Loopback {
    /// The part of `URLSession`'s WebSockets that does not depend on the system, on a task that the test controls.
    @Suite("WebSockets on URLSession")
    struct SessionWebSocketTests {
        let task = ScriptedTask()

        func open(closingTime: Duration = .seconds(60)) -> (
            SessionWebSocket, BufferedWebSocketChannel<SessionWebSocket>
        ) {
            let socket = SessionWebSocket(
                task, messageLimit: 1_000, queue: DispatchQueue(label: "test"), closingTime: closingTime, owner: nil)
            let channel = BufferedWebSocketChannel(socket, subprotocol: nil)
            socket.serve()
            return (socket, channel)
        }

        @Test("One message is asked for at a time, and none while messages wait for a slow reader")
        func pausedReader() async throws {
            let (_, channel) = open()
            let large = WebSocketMessage.binary(Data(count: 100_000))
            for _ in 0..<3 { task.arrive(large) }
            #expect(task.isAsked == false)
            #expect(channel.activity.isPaused && channel.activity.messages == 3)
            #expect(try await channel.receive() == large)
            #expect(try await channel.receive() == large)
            #expect(task.isAsked)
            #expect(!channel.activity.isPaused)
        }

        @Test("Messages are sent one after the other; one that was interrupted before its turn is not sent")
        func sendsInOrder() async throws {
            let (_, channel) = open()
            let first = Task { try await channel.send(.text("first")) }
            #expect(try await Exchange.eventually { task.sent == [.text("first")] })
            let second = Task { try await channel.send(.text("second")) }
            let third = Task { try await channel.send(.binary(Data([3]))) }
            try await Task.sleep(for: .milliseconds(20))
            second.cancel()
            await #expect(throws: (any Error).self) { try await second.value }
            #expect(task.sent.count == 1)
            task.take()
            try await first.value
            #expect(try await Exchange.eventually { task.sent == [.text("first"), .binary(Data([3]))] })
            task.take()
            try await third.value
        }

        @Test("A message that the system does not take ends its send with an error", arguments: [true, false])
        func lostSend(isClosed: Bool) async throws {
            let (socket, channel) = open()
            let send = Task { try await channel.send(.text("a")) }
            #expect(try await Exchange.eventually { task.sent.count == 1 })
            let waiting = Task { try await channel.send(.text("b")) }
            try await Task.sleep(for: .milliseconds(20))
            if isClosed { task.take(NSError(domain: NSPOSIXErrorDomain, code: Int(EPIPE))) }
            socket.finish(NSError(domain: NSPOSIXErrorDomain, code: Int(ENOTCONN)))
            if !isClosed { task.take() }
            let error = await #expect(throws: NetworkError.self) { try await send.value }
            #expect(error?.kind == .connectionLostAfterHead)
            await #expect(throws: NetworkError.self) { try await waiting.value }
            await #expect(throws: WebSocketOutbox.Refusal.self) { try await channel.send(.text("c")) }
        }

        @Test("Messages that arrived before the close frame of the peer are read before the end")
        func closedByPeer() async throws {
            let (socket, channel) = open()
            task.arrive(.text("one"))
            socket.noteClose(WebSocketClose(.serviceRestart))
            #expect(channel.outcome == nil)
            socket.finish(nil)  // the system may report the end before the last messages
            task.arrive(.text("two"))
            task.fail(NSError(domain: NSPOSIXErrorDomain, code: Int(ENOTCONN)))
            #expect(try await channel.receive() == .text("one"))
            #expect(try await channel.receive() == .text("two"))
            #expect(try await channel.receive() == nil)
            #expect(try channel.outcome?.get() == WebSocketClose(.serviceRestart))
        }

        @Test("A close frame that the task reports after its failure is the end; without one, the connection was lost")
        func order() async throws {
            for isClosed in [true, false] {
                let test = SessionWebSocketTests()
                let (socket, channel) = test.open()
                let lost = NSError(domain: NSPOSIXErrorDomain, code: Int(ENOTCONN))
                test.task.fail(lost)
                #expect(channel.outcome == nil)
                if isClosed { socket.noteClose(WebSocketClose(4_001, reason: "full")) }
                socket.finish(lost)
                if isClosed {
                    #expect(try await channel.receive() == nil)
                    #expect(try channel.outcome?.get() == WebSocketClose(4_001, reason: "full"))
                } else {
                    let error = await #expect(throws: NetworkError.self) { try await channel.receive() }
                    #expect(error?.kind == .connectionLostAfterHead)
                }
            }
        }

        @Test("A message over the limit is an error that names it, and closes the connection with 1009")
        func tooLarge() async throws {
            let (_, channel) = open()
            task.fail(NSError(domain: NSPOSIXErrorDomain, code: Int(EMSGSIZE)))
            let error = await #expect(throws: NetworkError.self) { try await channel.receive() }
            #expect(error?.kind == .responseTooLarge && error?.reason?.contains("1000 bytes") == true)
            #expect(task.closes.map(\.code) == [.messageTooBig])
        }

        @Test("Closing waits for the messages before it, and ends if the peer does not answer")
        func closing() async throws {
            let (socket, channel) = open(closingTime: .milliseconds(50))
            let send = Task { try await channel.send(.text("last")) }
            #expect(try await Exchange.eventually { task.sent.count == 1 })
            channel.close(WebSocketClose(.normal, reason: "bye"))
            channel.close(WebSocketClose(.goingAway))
            #expect(task.closes.isEmpty)
            task.take()
            try await send.value
            #expect(try await Exchange.eventually { task.closes == [WebSocketClose(.normal, reason: "bye")] })
            #expect(try await Exchange.eventually { task.isCancelled })
            socket.finish(URLError(.cancelled))
            #expect(try await channel.receive() == nil)
            #expect(task.closes.count == 1)
        }

        @Test("A pong counts as an arrival, a ping without a pong does not")
        func pings() {
            let (_, channel) = open()
            let before = channel.activity.arrivals
            channel.ping()
            task.pong(URLError(.cancelled))
            #expect(channel.activity.arrivals == before)
            channel.ping()
            task.pong(nil)
            #expect(channel.activity.arrivals == before + 1)
        }

        @Test("A transport that is shut down closes with 1001, and its reader learns why")
        func leaving() async throws {
            let (socket, channel) = open()
            socket.leave()
            #expect(task.closes.map(\.code) == [.goingAway])
            let error = await #expect(throws: NetworkError.self) { try await channel.receive() }
            #expect(error?.kind == .transportShutDown)
        }

        @Test("A channel that is released closes with 1001, one that failed is cancelled")
        func released() {
            _ = open()
            #expect(task.closes.map(\.code) == [.goingAway])
            let other = SessionWebSocketTests()
            let (_, channel) = other.open()
            channel.fail(NetworkError(.idleTimedOut))
            #expect(other.task.isCancelled)
            #expect(throws: NetworkError.self) { try channel.outcome?.get() }
        }

        @Test("URLSession on Linux opens no WebSocket, and names the transport that does")
        func linux() async throws {
            guard Engine.urlSession == .urlSessionOnLinux else { return }
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            let service = NetworkService(environment: NetworkEnvironment(baseURL: url)) {
                $0.transport = URLSessionTransport.shared
            }
            let error = await #expect(throws: NetworkError.self) { try await service.webSocket(.get("chat")).connect() }
            #expect(error?.kind == .invalidRequest && error?.reason?.contains("use CurlTransport") == true)
        }
    }

    /// A task whose system is the test.
    final class ScriptedTask: SessionWebSocketTask {
        private struct State: Sendable {
            var sent: [WebSocketMessage] = []
            var sending: (@Sendable ((any Error)?) -> Void)?
            var receiving: (@Sendable (Result<WebSocketMessage, any Error>) -> Void)?
            var pinging: (@Sendable ((any Error)?) -> Void)?
            var closes: [WebSocketClose] = []
            var isCancelled = false
        }

        private let state = Locked(State())

        func send(_ message: WebSocketMessage, then completion: @escaping @Sendable ((any Error)?) -> Void) {
            state.withLock {
                #expect($0.sending == nil)
                $0.sent.append(message)
                $0.sending = completion
            }
        }

        func receive(then completion: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void) {
            state.withLock {
                #expect($0.receiving == nil)
                $0.receiving = completion
            }
        }

        func ping(then completion: @escaping @Sendable ((any Error)?) -> Void) {
            state.withLock { $0.pinging = completion }
        }

        func close(_ close: WebSocketClose) { state.withLock { $0.closes.append(close) } }
        func cancel() { state.withLock { $0.isCancelled = true } }
        var closeOfPeer: WebSocketClose? { nil }

        var sent: [WebSocketMessage] { state.withLock { $0.sent } }
        var closes: [WebSocketClose] { state.withLock { $0.closes } }
        var isCancelled: Bool { state.withLock { $0.isCancelled } }
        /// Whether a message is asked for.
        var isAsked: Bool { state.withLock { $0.receiving != nil } }

        func arrive(_ message: WebSocketMessage) { received()?(.success(message)) }
        func fail(_ error: any Error) { received()?(.failure(error)) }

        private func received() -> (@Sendable (Result<WebSocketMessage, any Error>) -> Void)? {
            state.withLock { state in
                defer { state.receiving = nil }
                return state.receiving
            }
        }

        /// Takes the message that is being sent.
        func take(_ error: (any Error)? = nil) {
            let sending = state.withLock { state in
                defer { state.sending = nil }
                return state.sending
            }
            sending?(error)
        }

        func pong(_ error: (any Error)?) { state.withLock { $0.pinging }?(error) }
    }
}
