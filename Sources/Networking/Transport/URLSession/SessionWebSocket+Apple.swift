#if canImport(Darwin)
    import Foundation

    extension URLSession {
        /// Creates the task of a handshake.
        func webSocketTask(with message: URLRequest, for order: WebSocketOrder) -> URLSessionTask {
            let task = webSocketTask(with: message)
            task.maximumMessageSize = order.maximumMessageSize
            return task
        }
    }

    extension URLRequest {
        /// Turns the request into a handshake. The system adds the other fields.
        mutating func prepareHandshake(for order: WebSocketOrder) {
            if let url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) {
                parts.scheme = parts.scheme == "https" ? "wss" : "ws"
                self.url = parts.url ?? url
            }
            guard !order.subprotocols.isEmpty else { return }
            setValue(order.subprotocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        }
    }

    extension URLSessionTransferDelegate: URLSessionWebSocketDelegate {
        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?
        ) {
            open(webSocketTask, SystemTask(webSocketTask), subprotocol: subprotocol)
        }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
        ) {
            webSocket(webSocketTask)?.noteClose(WebSocketClose(closeCode, reason))
        }
    }

    /// The task of the system.
    private final class SystemTask: SessionWebSocketTask, @unchecked Sendable {  // because tasks are thread-safe
        private let task: URLSessionWebSocketTask

        init(_ task: URLSessionWebSocketTask) {
            self.task = task
        }

        func send(_ message: WebSocketMessage, then completion: @escaping @Sendable ((any Error)?) -> Void) {
            switch message {
            case .text(let text): task.send(.string(text), completionHandler: completion)
            case .binary(let data): task.send(.data(data), completionHandler: completion)
            }
        }

        func receive(then completion: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void) {
            task.receive { result in
                completion(
                    result.map { message in
                        switch message {
                        case .string(let text): .text(text)
                        case .data(let data): .binary(data)
                        @unknown default: .binary(Data())
                        }
                    })
            }
        }

        func ping(then completion: @escaping @Sendable ((any Error)?) -> Void) {
            task.sendPing(pongReceiveHandler: completion)
        }

        func close(_ close: WebSocketClose) {
            let number = close.code.mayBeSent ? close.code : .normal
            let code = URLSessionWebSocketTask.CloseCode(rawValue: Int(number.rawValue)) ?? .normalClosure
            task.cancel(with: code, reason: close.reason.isEmpty ? nil : Data(close.reason.utf8))
        }

        func cancel() { task.cancel() }

        var closeOfPeer: WebSocketClose? {
            task.closeCode == .invalid ? nil : WebSocketClose(task.closeCode, task.closeReason)
        }
    }

    extension WebSocketClose {
        fileprivate init(_ code: URLSessionWebSocketTask.CloseCode, _ reason: Data?) {
            self.init(
                Code(rawValue: UInt16(clamping: code.rawValue)),
                reason: String(decoding: reason ?? Data(), as: UTF8.self))
        }
    }
#endif
