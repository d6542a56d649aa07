/// Server-sent events over as many connections as it takes: when one ends, the next begins where it was.
///
/// Each connection is a call of the service like any other, so that it carries the current token; `Last-Event-ID`
/// says where the server is to resume. The stream ends if the server responds with 204, and if the reader leaves. It
/// throws the error of the first connection, and later errors that a new attempt would not fix: a refusal, another
/// media type, a cancellation.
///
/// Only a call with a safe method (GET) is connected again after its response has ended. The stream of a POST, such
/// as that of a language model, ends with its response; after a lost connection it is connected again only if it has
/// an idempotency key of the app's own. `as: .serverSentEvents` reads one response.
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

    /// The reader of the events.
    func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// Pulls the events.
    struct Iterator: AsyncIteratorProtocol {
        private let stream: EventStream
        /// The connection, and the reader of its events; nil between two connections.
        private var connection: ServerSentEvents?
        private var events: ServerSentEvents.Iterator?
        private var lastEventID = ""
        private var delay: Duration
        private var hasConnected = false
        private var isOver = false
        /// How many tries have failed in a row, and how many connections have brought nothing.
        private var failures = 0
        private var emptyConnections = 0

        fileprivate init(stream: EventStream) {
            self.stream = stream
            delay = stream.reconnection.delay
        }

        /// The next event; nil if there will be none.
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
                    isOver = true  // the response has ended, and there is no other one
                    break
                }
                lastEventID = events?.lastEventID ?? lastEventID
                delay = events?.retry ?? delay
                (connection, events) = (nil, nil)
                do { try await stream.wait(for: delay * (1 << Swift.min(emptyConnections, 5))) } catch {
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

        /// The next event of the connection, which is opened where there is none; or how that ended.
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
                // The error as it was before handlers made another one of it.
                let cause = failed.report.attempts.last?.error ?? failed.error
                return Outcome(error: failed.error, isRetryable: stream.reconnection.isWorthwhile(after: cause))
            } catch {
                let shown = await connection?.mapped(error) ?? error
                return Outcome(error: shown, isRetryable: stream.reconnection.isWorthwhile(after: error))
            }
        }
    }

    /// Whether the call may be made again after a failure: its method is safe (RFC 9110 section 9.2.1), or each of its
    /// connections has the same idempotency key.
    fileprivate var mayRepeat: Bool {
        let key = client.resolved(settings, for: endpoint).idempotencyKey ?? .none
        return endpoint.method.isSafe || key.isGiven || endpoint.headers.contains(.idempotencyKey)
    }

    /// Opens a connection; nil if the server wants no more of them.
    fileprivate func connect(after lastEventID: String) async throws -> ServerSentEvents? {
        let converter = ResponseConverter.eventsUnlessOver(after: lastEventID)
        return try await client.pipeline(endpoint, as: converter, with: settings).runReporting().value
    }

    /// Waits before a new connection; a reset of the service ends the stream here, too.
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
            var call = RequestCall(
                endpoint: endpoint, scope: scope, settings: CopyOnWrite(client.resolved(settings, for: endpoint)),
                clock: client.clock, events: nil, meter: nil)
            throw await call.interrupted(client.errorHandlingService).error
        }
    }
}
