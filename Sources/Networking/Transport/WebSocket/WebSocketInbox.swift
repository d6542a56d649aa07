/// The messages that have arrived on a connection and wait for their reader. The engine stops reading while the inbox
/// is full, and is asked to continue when half of the capacity is free.
package final class WebSocketInbox: Sendable {
    private struct State: Sendable {
        /// `first` contains messages in reverse order, so that taking a message is cheap. `last` contains the messages
        /// that arrived after them.
        var (first, last): ([WebSocketMessage], [WebSocketMessage]) = ([], [])
        var count = 0
        var end: Result<WebSocketClose, any Error>?
        var reader: Settlement<Void>?
        var isEngineWaiting = false
        /// The messages that were taken one after another, without a wait.
        var takenInRow = 0

        mutating func take() -> WebSocketMessage? {
            if first.isEmpty { (first, last) = (last.reversed(), []) }
            guard let message = first.popLast() else { return nil }
            count -= message.cost
            return message
        }
    }

    private enum Step {
        case item(WebSocketMessage?, makesRoom: Bool, isLong: Bool)
        case wait(Settlement<Void>)
    }

    /// The number of bytes at which the inbox is full.
    package static let capacity = 256 << 10
    /// After this number of messages without a wait, the reader lets other tasks run.
    private static let longestRun = 64
    private let state = Locked(State())
    /// Settled when the inbox ends.
    private let ending = Settlement<Void>()

    package init() {}

    /// Whether the inbox is full. If so, the engine must wait until it is asked to continue.
    package func isFull() -> Bool {
        state.withLock { state in
            if state.count >= WebSocketInbox.capacity { state.isEngineWaiting = true }
            return state.isEngineWaiting
        }
    }

    /// Adds a message that has arrived.
    package func put(_ message: WebSocketMessage) {
        let reader: Settlement<Void>? = state.withLock { state in
            guard state.end == nil else { return nil }
            state.last.append(message)
            state.count += message.cost
            return state.reader
        }
        reader?.settle(.success(()))
    }

    /// Ends the inbox. Messages that are already in the inbox are still delivered. Only the first call of this method
    /// has an effect.
    package func finish(_ end: Result<WebSocketClose, any Error>) {
        let reader = state.withLock { state in
            state.end = state.end ?? end
            return state.reader
        }
        reader?.settle(.success(()))
        ending.settle(.success(()))
    }

    /// Calls a closure as soon as the inbox has ended. Messages may then still wait for their reader.
    package func observeEnd(_ action: @escaping @Sendable () -> Void) { ending.observe { _ in action() } }

    /// How the connection has ended; nil if it has not.
    package var outcome: Result<WebSocketClose, any Error>? { state.withLock { $0.end } }

    /// Waits for the next message.
    ///
    /// - Parameter onRoom: Asks the engine to continue.
    /// - Returns: The message; nil after the close frame.
    /// - Throws: The reason why the connection has ended, or the interruption of the reader, even if messages have
    ///   arrived: a peer that sends all the time could otherwise keep a cancelled reader running.
    package func next(onRoom: () -> Void) async throws -> WebSocketMessage? {
        try CallScope.checkReader()
        while true {
            switch try step() {
            case .item(let message, let makesRoom, let isLong):
                if makesRoom { onRoom() }
                if isLong { await Task.yield() }
                return message
            case .wait(let reader):
                defer { state.withLock { $0.reader = nil } }
                try await reader.value()
            }
        }
    }

    private func step() throws -> Step {
        try state.withLock { state in
            guard state.reader == nil else {
                throw NetworkError(.invalidRequest, reason: "WebSocket: expected one reader at a time, found two")
            }
            if let message = state.take() {
                let makesRoom = state.isEngineWaiting && state.count <= WebSocketInbox.capacity / 2
                if makesRoom { state.isEngineWaiting = false }
                state.takenInRow = (state.takenInRow + 1) % WebSocketInbox.longestRun
                return .item(message, makesRoom: makesRoom, isLong: state.takenInRow == 0)
            }
            if let end = state.end {
                _ = try end.get()
                return .item(nil, makesRoom: false, isLong: false)
            }
            let reader = Settlement<Void>()
            (state.reader, state.takenInRow) = (reader, 0)
            return .wait(reader)
        }
    }
}

extension WebSocketMessage {
    /// The number of bytes that a waiting message occupies: its content, and the memory around the content.
    fileprivate var cost: Int { count + 64 }
}
