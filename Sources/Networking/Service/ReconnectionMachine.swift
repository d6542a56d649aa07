/// The decisions of an ``EventStream`` or a ``WebSocket``: whether to reconnect, after which delay, and after which
/// event. The machine is a value that only decides: the stream or socket opens the connections and waits.
package struct ReconnectionMachine: Sendable {
    /// The rule that decides when the call of a stream may be repeated.
    package enum Repetition: Sendable {
        /// The method is safe (RFC 9110 section 9.2.1).
        case always
        /// The method is not safe, but all connections have the same idempotency key.
        case afterFailure
        case never
    }

    /// The outcome of a connection.
    package enum Outcome: Sendable {
        /// An event, or a message, has arrived.
        case event
        /// The response has ended.
        case ended
        /// The server has responded with 204, or has closed the socket normally. Either ends the stream.
        case noContent
        /// The connection could not be opened, or was lost.
        ///
        /// - Parameter isRetryable: Whether a new connection may succeed.
        case failed(isRetryable: Bool)
    }

    /// The next step of the stream.
    package enum Step: Equatable, Sendable {
        case deliver
        case reconnect(after: Duration)
        case end
        case fail
    }

    private let repetition: Repetition
    private let maximumFailures: Int
    /// The ID of the event after which the next connection resumes.
    package private(set) var lastEventID: String
    /// The delay before a reconnection. The server can change it to 100 ms or more.
    package private(set) var delay: Duration
    package private(set) var hasConnected = false
    package private(set) var isOver = false
    /// The number of failures since the last event.
    package private(set) var failures = 0
    /// The number of times the stream has reconnected since the last event.
    package private(set) var emptyConnections = 0

    package init(_ reconnection: ServerSentEvent.Reconnection, repeating repetition: Repetition) {
        self.repetition = repetition
        maximumFailures = reconnection.maximumFailures
        lastEventID = reconnection.lastEventID
        delay = reconnection.delay
    }

    /// Records that a connection has been opened.
    package mutating func connect() {
        hasConnected = true
    }

    /// Ends the stream, because a wait has failed.
    package mutating func end() {
        isOver = true
    }

    /// Decides what follows an outcome.
    ///
    /// - Parameters:
    ///   - id: The last event ID of the connection; nil if no connection was opened.
    ///   - retry: The reconnection time that the connection's server has sent; nil if it has sent none.
    ///   - spread: A random number from 0 to 1: see ``wait(for:afterEmpty:spread:)``. The number is created only for a
    ///     reconnection.
    package mutating func step(
        after outcome: Outcome, id: String?, retry: Duration?, spread: @autoclosure () -> Double
    ) -> Step {
        switch outcome {
        case .event:
            (failures, emptyConnections) = (0, 0)
            return .deliver
        case .noContent:
            isOver = true
            return .end
        case .ended:
            guard repetition == .always else {
                isOver = true  // the response has ended, and the call is not repeated
                return .end
            }
        case .failed(let isRetryable):
            failures += 1
            guard isRetryable, repetition != .never, hasConnected, failures <= maximumFailures else {
                isOver = true
                return .fail
            }
        }
        lastEventID = id ?? lastEventID
        delay = retry.map { max($0, .milliseconds(100)) } ?? delay
        defer { emptyConnections += 1 }
        return .reconnect(after: ReconnectionMachine.wait(for: delay, afterEmpty: emptyConnections, spread: spread()))
    }

    /// Returns the time before a reconnection. The time doubles after each connection that brought no event. It grows
    /// to at most 10 minutes, unless the delay itself is longer. Because the time grows, even a delay of zero does not
    /// flood the server with connections.
    ///
    /// Streams that lost the same server at the same time do not reconnect at the same time: the first wait is between
    /// 75 and 125 % of this time, and later waits are between 50 and 120 %. The longer an outage, the longer the time
    /// over which the streams reconnect, because the last wait of each stream is about as long as the outage.
    ///
    /// - Parameters:
    ///   - count: The number of consecutive connections that brought no event.
    ///   - spread: A random number from 0 to 1.
    package static func wait(for delay: Duration, afterEmpty count: Int, spread: Double) -> Duration {
        // The limit prevents an overflow. It is longer than any wait.
        let base = min(max(delay, count > 0 ? .milliseconds(100) : .zero), .seconds(Int64.max / 64))
        let time = min(base * (1 << min(count, 4)), max(base, .seconds(600)))
        let (least, most) = count == 0 ? (0.75, 1.25) : (0.5, 1.2)
        // The random factor does not make a wait shorter than 100 ms, which is the shortest time that a server can set.
        return max(time * (least + spread * (most - least)), min(time, .milliseconds(100)))
    }
}
