/// The order to open a WebSocket. A request with this part is a handshake: an engine that can open a WebSocket leaves
/// the connection in the order. Other transports send the request as an ordinary request. Its response then does not
/// have status 101.
package final class WebSocketOrder: HTTPRequest.Part {
    /// The subprotocols that are offered, the preferred one first.
    package let subprotocols: [String]
    /// The maximum number of bytes of a message that arrives.
    package let maximumMessageSize: Int
    /// Whether compression is offered.
    package let compresses: Bool
    private let channel = Locked<(any WebSocketChannel)?>(nil)

    package init(subprotocols: [String] = [], maximumMessageSize: Int = 16 << 20, compresses: Bool = true) {
        self.subprotocols = subprotocols
        self.maximumMessageSize = maximumMessageSize
        self.compresses = compresses
    }

    package var outsideOrigin: WebSocketOrder? { self }
    package var outsideCall: WebSocketOrder? { nil }
    /// A connection is never shared, and the cache never answers its handshake.
    package var identity: [String] { ["WebSocket \(UInt(bitPattern: ObjectIdentifier(self).hashValue))"] }

    /// Leaves an open connection in the order.
    package func fulfil(with channel: any WebSocketChannel) {
        let old = self.channel.withLock { old in
            defer { old = channel }
            return old
        }
        withExtendedLifetime(old) {}  // released outside the lock
    }

    /// Takes the open connection out of the order.
    package func take() -> (any WebSocketChannel)? {
        channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
    }
}

extension HTTPRequest.Parts {
    /// The order to open a WebSocket; nil for other requests.
    package var webSocket: WebSocketOrder? { self[WebSocketOrder.self] }
}
