/// A sequence of server-sent events that reconnects: when one connection ends, the next connection resumes after the
/// last event.
///
/// Each connection is an ordinary call of the service, so that it carries the current token. The `Last-Event-ID` header
/// tells the server where to resume. The stream ends if the server responds with 204, or if the reader stops reading.
/// If the first connection fails, it throws the error. Later it throws only errors that a new attempt would not fix (a
/// refusal, another media type, a cancellation) and, after too many failed attempts, the error of the last one.
///
/// Only a call with a safe method (GET) reconnects after its response has ended. The stream of a POST, such as the
/// stream of a language model, ends with its response. After a lost connection it reconnects only if it has an
/// idempotency key that the app has set. To read one response only, use `as: .serverSentEvents`.
///
/// ```swift
/// for try await event in feeds.events(FeedEndpoint.news) { show(event.data) }
/// ```
struct EventStream: AsyncSequence, Sendable {
    typealias Element = ServerSentEvent

    let client: NetworkClient
    let endpoint: any Endpoint
    let settings: RequestSettings
    let reconnection: ServerSentEvent.Reconnection

    /// Creates a reader of the events.
    func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// A reader that requests the events one by one.
    struct Iterator: AsyncIteratorProtocol {
        private let stream: EventStream
        /// The current connection and the reader of its events; nil between two connections.
        private var connection: ServerSentEvents?
        private var events: ServerSentEvents.Iterator?
        private var lastEventID: String
        private var delay: Duration
        private var hasConnected = false
        private var isOver = false
        /// The number of failures since the last event.
        private var failures = 0
        /// The number of times the stream has reconnected since the last event.
        private var emptyConnections = 0

        fileprivate init(stream: EventStream) {
            self.stream = stream
            delay = stream.reconnection.delay
            lastEventID = stream.reconnection.lastEventID
        }

        /// Returns the next event; nil if there are no more events.
        mutating func next() async throws -> ServerSentEvent? {
            while !isOver {
                let outcome = await read()
                if let event = outcome.event { return event }
                guard !isOver else { break }
                if let error = outcome.error {
                    failures += 1
                    guard stream.mayRepeat, hasConnected, outcome.isRetryable,
                        failures <= stream.reconnection.maximumFailures
                    else {
                        isOver = true
                        throw error
                    }
                } else if !stream.endpoint.method.isSafe {
                    isOver = true  // the response has ended, and the call is not repeated
                    break
                }
                lastEventID = events?.lastEventID ?? lastEventID
                delay = events?.retry ?? delay
                (connection, events) = (nil, nil)
                let wait = ServerSentEvent.Reconnection.wait(for: delay, afterEmpty: emptyConnections)
                do { try await stream.wait(for: wait) } catch {
                    isOver = true
                    throw error
                }
                emptyConnections += 1
            }
            return nil
        }

        private struct Outcome {
            var event: ServerSentEvent?
            var error: (any Error)?
            var isRetryable = false
        }

        /// Returns the next event of the connection, or its error; neither if the connection has ended. Opens a
        /// connection if there is none.
        private mutating func read() async -> Outcome {
            do {
                if events == nil {
                    guard let opened = try await stream.connect(after: lastEventID) else {
                        isOver = true
                        return Outcome()
                    }
                    connection = opened
                    events = opened.unmapped.makeAsyncIterator()
                    hasConnected = true
                }
                guard let event = try await events?.next() else { return Outcome() }
                (failures, emptyConnections) = (0, 0)
                return Outcome(event: event)
            } catch let failed as FailedCall {
                // The original error: handlers may have replaced the error of the call.
                let cause = failed.report.attempts.last?.error ?? failed.error
                return Outcome(error: failed.error, isRetryable: stream.reconnection.isWorthwhile(after: cause))
            } catch {
                let shown = await connection?.mapped(error) ?? error
                return Outcome(error: shown, isRetryable: stream.reconnection.isWorthwhile(after: error))
            }
        }
    }

    /// Whether the call may be repeated after a failure: its method is safe (RFC 9110 section 9.2.1), or all of its
    /// connections have the same idempotency key.
    fileprivate var mayRepeat: Bool {
        let key = client.resolved(settings, for: endpoint).idempotencyKey ?? .none
        return endpoint.method.isSafe || key.isGiven || endpoint.headers.contains(.idempotencyKey)
    }

    /// Opens a connection. Returns nil if the server ends the stream with 204.
    fileprivate func connect(after lastEventID: String) async throws -> ServerSentEvents? {
        let converter = ResponseConverter.eventsUnlessOver(after: lastEventID)
        return try await client.pipeline(endpoint, as: converter, with: settings).runReporting(converter).value
    }

    /// Waits before a new connection. A reset of the service also ends the stream during this wait.
    fileprivate func wait(for delay: Duration) async throws {
        let scope = CallScope()
        client.calls.enter(scope, endpoint)
        defer {
            scope.detach()
            client.calls.leave(scope)
        }
        do {
            try await CallPosition.$current.withValue(.inside(scope)) { try await client.clock.wait(for: delay) }
        } catch {
            let pipeline = client.pipeline(endpoint, as: .void, with: settings)
            var call = RequestCall(pipeline, in: scope)
            throw await call.interrupted(client.errorHandlingService).error
        }
    }
}
