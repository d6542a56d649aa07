public import Foundation
public import Networking
import NetworkingServer

/// The server's side of a WebSocket on a ``LoopbackServer``. Its methods block the thread of the connection.
///
/// ```swift
/// server.route(.get, "/chat") { _ in
///     .webSocket { socket in
///         while let message = try socket.receive() { try socket.send(message) }
///     }
/// }
/// ```
public final class LoopbackWebSocket: @unchecked Sendable {  // because only the thread of the connection uses it
    private let socket: LoopbackSocket
    private var unread: Data
    private var decoder: WebSocketDecoder
    private let compresses: Bool
    private var hasClosed = false
    /// The close frame of the client; nil if none has arrived.
    public private(set) var closure: WebSocketClose?
    /// The payloads of the pings that have arrived. If ``answersPings`` is true, each ping is answered.
    public private(set) var pings: [Data] = []
    /// The number of pongs that have arrived.
    public private(set) var pongs = 0
    /// Whether pings are answered. Default: true.
    public var answersPings = true

    init(_ socket: LoopbackSocket, after unread: Data, compressing compresses: Bool) {
        self.socket = socket
        self.unread = unread
        self.compresses = compresses
        decoder = WebSocketDecoder(
            expectsMask: true, messageLimit: 256 << 20,
            inflater: compresses ? WebSocketInflater(keepsContext: true) : nil)
    }

    /// Waits for the next message. Answers pings and the close frame of the client.
    ///
    /// - Returns: The message; nil after a close frame, or if the connection was lost.
    /// - Throws: The protocol error of the client, after a close frame with this error was sent.
    public func receive() throws -> WebSocketMessage? {
        while true {
            switch try nextEvent() {
            case .message(let message): return message
            case .ping(let payload):
                pings.append(payload)
                if answersPings { try send(.pong, payload) }
            case .pong: pongs += 1
            case .close(let close):
                closure = close
                try self.close(close.code == .none ? WebSocketClose(.normal) : WebSocketClose(close.code))
                return nil
            case nil: return nil
            }
        }
    }

    /// Sends a message. The message is compressed if compression was negotiated and makes it smaller.
    public func send(_ message: WebSocketMessage) throws {
        let isText = if case .text = message { true } else { false }
        let deflated = compresses ? WebSocketDeflater.deflate(message.data, windowBits: 15) : nil
        try send(isText ? .text : .binary, deflated ?? message.data, isCompressed: deflated != nil)
    }

    /// Sends a text.
    public func send(_ text: String) throws { try send(.text(text)) }

    /// Sends a ping.
    public func ping(_ payload: Data = Data()) throws { try send(.ping, payload) }

    /// Sends bytes as they are, for example a frame that is not valid.
    public func send(raw bytes: Data) throws { try socket.write(bytes) }

    /// Sends a close frame, unless one was sent.
    public func close(_ close: WebSocketClose = WebSocketClose()) throws {
        guard !hasClosed else { return }
        hasClosed = true
        try send(.close, close.payload)
    }

    /// Waits until the client has closed the connection, and drops what arrives.
    public func waitForEnd() {
        while socket.read() != nil {}
    }

    private func nextEvent() throws -> WebSocketDecoder.Event? {
        while true {
            var event: WebSocketDecoder.Event?
            var left = 0
            do {
                try unread.withUnsafeBytes { bytes in
                    var input = bytes
                    event = try decoder.next(&input)
                    left = input.count
                }
            } catch let fault as WebSocketFault {
                try close(WebSocketClose(fault.code, reason: fault.reason))
                throw fault.networkError
            }
            unread = Data(unread.suffix(left))
            if let event { return event }
            guard let more = socket.read() else { return nil }
            unread = more
        }
    }

    private func send(_ opcode: WebSocketFrame.Opcode, _ payload: Data, isCompressed: Bool = false) throws {
        var frame = WebSocketFrame(opcode, length: payload.count)
        frame.isCompressed = isCompressed
        var head = Data(count: WebSocketFrame.largestHead)
        let count = head.withUnsafeMutableBytes { frame.write(into: $0) }
        try socket.write(head.prefix(count) + payload)
    }
}

extension LoopbackResponse {
    /// Returns a response that accepts a WebSocket. The status is 101; the server derives `Sec-WebSocket-Accept` from
    /// the request.
    ///
    /// - Parameters:
    ///   - subprotocol: The chosen subprotocol. Default: none.
    ///   - compresses: Whether the server agrees to `permessage-deflate`, if the client offers it. Default: true. The
    ///     server compresses only on Linux.
    ///   - serve: Talks to the client, on the thread of the connection. When it returns, the connection is closed.
    public static func webSocket(
        subprotocol: String? = nil, compressing compresses: Bool = true,
        _ serve: @escaping @Sendable (LoopbackWebSocket) throws -> Void
    ) -> LoopbackResponse {
        var response = LoopbackResponse(
            .switchingProtocols, content: .webSocket(compressing: compresses, serve))
        if let subprotocol { response.headers["Sec-WebSocket-Protocol"] = subprotocol }
        return response
    }
}

extension LoopbackRequest {
    /// The fields with which the server accepts the request as a WebSocket.
    func webSocketFields(compressing: Bool) -> HTTPHeaders {
        var fields: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Accept": WebSocketHandshake.accept(for: headers["Sec-WebSocket-Key"] ?? ""),
        ]
        if compressing { fields["Sec-WebSocket-Extensions"] = "permessage-deflate" }
        return fields
    }

    /// Whether the client offers compression, and this server can compress.
    var offersCompression: Bool {
        WebSocketInflater.isAvailable
            && headers["Sec-WebSocket-Extensions"]?.contains("permessage-deflate") ?? false
    }
}
