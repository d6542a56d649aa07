#if os(Linux)
    import Foundation

    /// The open connection of a WebSocket, for its user. If it is released, the connection is closed with code 1001.
    final class CurlWebSocketChannel: WebSocketChannel {
        private let socket: CurlWebSocket
        let subprotocol: String?
        /// How messages are compressed; nil if they are not.
        private let compression: WebSocketHandshake.Compression?

        init(_ socket: CurlWebSocket, _ agreement: WebSocketHandshake.Agreement) {
            self.socket = socket
            subprotocol = agreement.subprotocol
            compression = agreement.compression
        }

        deinit {
            close(WebSocketClose(.goingAway))
        }

        func receive() async throws -> WebSocketMessage? {
            try await socket.inbox.next { socket.ask(.serve) }
        }

        func send(_ message: WebSocketMessage) async throws {
            let isSent = Settlement<Void>()
            if try socket.outbox.add(item(message, isSent)) { socket.ask(.serve) }
            do { try await isSent.value() } catch {
                if error is Interruption { socket.outbox.withdraw(isSent) }
                throw error
            }
        }

        private func item(_ message: WebSocketMessage, _ isSent: Settlement<Void>) -> WebSocketOutbox.Item {
            let payload = message.data
            var deflated: Data?
            if let compression, payload.count >= WebSocketDeflater.smallest {
                deflated = WebSocketDeflater.deflate(payload, windowBits: compression.clientWindowBits)
            }
            let isText = if case .text = message { true } else { false }
            return WebSocketOutbox.Item(
                payload: deflated ?? payload, isText: isText, isCompressed: deflated != nil, isSent: isSent)
        }

        func ping() {
            socket.outbox.ping()
            socket.ask(.serve)
        }

        func close(_ close: WebSocketClose) {
            socket.outbox.close(close)
            socket.inbox.finish(.success(close))  // messages that arrive from now on are dropped
            socket.ask(.serve)
        }

        func fail(_ error: NetworkError) { socket.ask(.cancel(error)) }

        var outcome: Result<WebSocketClose, any Error>? { socket.inbox.outcome }

        var activity: WebSocketActivity { socket.activity.withLock { $0 } }

        func observeOutcome(_ action: @escaping @Sendable () -> Void) { socket.inbox.observeEnd(action) }

        func observeClosure(_ action: @escaping @Sendable () -> Void) { socket.ending.observe { _ in action() } }
    }
#endif
