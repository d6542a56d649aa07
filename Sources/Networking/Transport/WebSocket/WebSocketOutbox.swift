package import Foundation

/// The messages of one connection that wait to be sent. Any thread adds messages, and one writer takes them.
package final class WebSocketOutbox: Sendable {
    /// A message that waits.
    package struct Item: Sendable {
        package let payload: Data
        package let isText: Bool
        package let isCompressed: Bool
        /// Settled when the system has taken the whole message, or with the error that ended the connection.
        package let isSent: Settlement<Void>
    }

    /// The error of a message that was not added, because the connection has ended or is closing.
    package struct Refusal: Error {
        package init() {}
    }

    private struct State: Sendable {
        /// The items in the order of the calls; nil at the positions of items that were withdrawn.
        var items: [Item?] = []
        var head = 0
        var isPinging = false
        /// The close frame that follows the items; nil if none was asked for.
        var close: WebSocketClose?
        var end: (any Error)?

        var isQuiet: Bool { items.isEmpty && !isPinging && close == nil }

        mutating func take() -> Item? {
            while head < items.count {
                guard let item = items[head] else {
                    head += 1
                    continue
                }
                items[head] = nil
                head += 1
                if head > 64, head * 2 > items.count {
                    items.removeFirst(head)
                    head = 0
                }
                return item
            }
            (items, head) = ([], 0)
            return nil
        }
    }

    private let state = Locked(State())

    package init() {}

    /// Adds a message.
    ///
    /// - Returns: Whether the writer must be woken.
    /// - Throws: ``Refusal`` if the connection has ended, or is closing.
    package func add(_ item: Item) throws(Refusal) -> Bool {
        let result: Result<Bool, Refusal> = state.withLock { state in
            guard state.end == nil, state.close == nil else { return .failure(Refusal()) }
            defer { state.items.append(item) }
            return .success(state.isQuiet)
        }
        return try result.get()
    }

    /// Removes a message that the writer has not taken.
    package func withdraw(_ isSent: Settlement<Void>) {
        state.withLock { state in
            if let index = state.items.firstIndex(where: { $0?.isSent.id == isSent.id }) { state.items[index] = nil }
        }
    }

    /// Asks for a ping. Several waiting pings are sent as one ping.
    package func ping() {
        state.withLock { if $0.end == nil, $0.close == nil { $0.isPinging = true } }
    }

    /// Adds a close frame after the messages. Only the first close frame counts.
    package func close(_ close: WebSocketClose) {
        state.withLock { $0.close = $0.close ?? close }
    }

    /// Takes the next message.
    package func next() -> Item? { state.withLock { $0.take() } }

    /// True if the next message has at most the given number of bytes, or if there is no message.
    package func fits(_ room: Int) -> Bool {
        state.withLock { state in
            let next = state.items.dropFirst(state.head).lazy.compactMap { $0 }.first
            return next.map { $0.payload.count <= room } ?? true
        }
    }

    /// Returns whether a ping has been requested, and resets this information.
    package func takePing() -> Bool {
        state.withLock { state in
            defer { state.isPinging = false }
            return state.isPinging
        }
    }

    /// The close frame that follows the messages; nil if none was asked for.
    package var closing: WebSocketClose? { state.withLock { $0.close } }

    /// Refuses further messages, and drops those that wait.
    package func finish(_ error: any Error) {
        let items = state.withLock { state in
            state.end = state.end ?? error
            defer { (state.items, state.head) = ([], 0) }
            return state.items
        }
        for item in items { item?.isSent.settle(.failure(error)) }
    }
}

extension NetworkError {
    /// The error of a message that is sent after the socket was closed.
    static var webSocketIsClosing: NetworkError {
        NetworkError(
            .webSocketClosed, reason: "the socket was closed and cannot send further messages; open another socket")
    }

    /// The error of a connection that ended without a close frame.
    static var webSocketLost: NetworkError {
        NetworkError(.connectionLostAfterHead, reason: "the WebSocket's connection ended without a close frame")
    }
}
