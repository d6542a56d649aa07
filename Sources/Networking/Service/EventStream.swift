/// A stream of server-sent events that reconnects: when one connection ends, the next connection resumes after the
/// last event.
///
/// Each connection is an ordinary call of the service, so it carries the current token. Its `Last-Event-ID` header
/// specifies the event after which the stream resumes. The stream ends if the server responds with 204, or if the
/// reader stops reading. If the first connection fails, the stream throws the error of that connection. After a first
/// connection that succeeded, the stream throws an error only when it gives up. It gives up in four cases: a new
/// attempt would also fail (for example, the server rejects the request); too many attempts have failed; the call must
/// not be repeated; the stream was cancelled or reset.
///
/// Only a call with a safe method (GET) reconnects after its response has ended. The stream of a POST, such as the
/// stream of a language model, ends with its response. After a lost connection, the stream of a POST reconnects only if
/// the app has set an idempotency key for the call. To read one response only, use `as: .serverSentEvents`.
///
/// ```swift
/// for try await event in feeds.events(FeedEndpoint.news) { show(event.data) }
/// ```
struct EventStream: Sendable {
    let client: NetworkClient
    let endpoint: any Endpoint
    let settings: RequestSettings
    let reconnection: ServerSentEvent.Reconnection

    /// A reader that requests the events one by one.
    struct Iterator: AsyncIteratorProtocol {
        private let stream: EventStream
        private let presence: StreamPresence
        /// The body of the current connection and the reader of its events; nil between two connections.
        private var connection: IncomingBody?
        private var events: ServerSentEvents?
        private var machine: ReconnectionMachine
        /// The number of the session of the first connection. All connections belong to this session, because a stream
        /// never continues for another user. Nil before the first connection, or if the client has no session.
        private var session: Int?

        init(_ stream: EventStream) {
            self.stream = stream
            presence = StreamPresence(in: stream.client.calls)
            machine = ReconnectionMachine(stream.reconnection, repeating: stream.repetition)
        }

        /// Returns the next event; nil if there are no more events.
        mutating func next() async throws -> ServerSentEvent? {
            while !machine.isOver {
                let (outcome, event, failure) = await read()
                let random = stream.client.configuration.random
                let step = machine.step(
                    after: outcome, id: events?.lastEventID, retry: events?.retry, spread: random.fraction())
                switch step {
                case .deliver: return event
                case .end: return nil
                case .fail: throw failure ?? CancellationError()  // a failed outcome always has an error
                case .reconnect(let delay):
                    (connection, events) = (nil, nil)
                    do {
                        try await stream.client.wait(
                            for: delay, before: stream.endpoint, with: stream.settings, as: presence)
                    } catch {
                        machine.end()
                        throw error
                    }
                }
            }
            return nil
        }

        private typealias Reading = (outcome: ReconnectionMachine.Outcome, event: ServerSentEvent?, error: (any Error)?)

        /// Returns the next event, the error or the end of the connection. Opens a connection if there is none.
        private mutating func read() async -> Reading {
            do {
                if events == nil {
                    session = session ?? stream.client.sessionNumber
                    guard
                        let body = try await stream.connect(
                            after: machine.lastEventID, inSession: session, as: presence)
                    else {
                        return (.noContent, nil, nil)
                    }
                    connection = body
                    // The reader of the events throws the errors of the body unchanged, because the original error
                    // decides whether the stream reconnects.
                    events = ServerSentEvents(presence.body(body).unmapped, after: machine.lastEventID)
                    machine.connect()
                }
                guard let event = try await events?.next() else { return (.ended, nil, nil) }
                return (.event, event, nil)
            } catch let failed as RequestPipeline.Failure {
                let isRetryable = failed.mayPass(stream.reconnection.isWorthwhile)
                return (.failed(isRetryable: isRetryable), nil, failed.error)
            } catch {
                let isRetryable = stream.reconnection.isWorthwhile(after: error)
                return (.failed(isRetryable: isRetryable), nil, await connection?.mapped(error) ?? error)
            }
        }
    }

    fileprivate var repetition: ReconnectionMachine.Repetition {
        if endpoint.method.isSafe { return .always }
        let key = client.resolved(settings, for: endpoint).idempotencyKey ?? .none
        return key.isGiven || endpoint.headers.contains(.idempotencyKey) ? .afterFailure : .never
    }

    /// Opens a connection, and returns its body. Returns nil if the server ends the stream with 204.
    fileprivate func connect(
        after lastEventID: String, inSession session: Int?, as presence: StreamPresence
    ) async throws -> IncomingBody? {
        let converter = ResponseConverter.eventsUnlessOver(after: lastEventID)
        let pipeline = client.pipeline(endpoint, as: converter, with: settings, inSession: session)
        presence.begin(pipeline.scope)
        let reading = converter.reading
        var body: IncomingBody?
        _ = try await pipeline.runReporting { body = try await reading.convert($0, decoder: $1) }
        return body
    }
}

extension NetworkClient {
    /// Waits before a new connection of a stream or socket. A reset of the service ends the stream or socket even
    /// during this wait.
    ///
    /// - Parameter wake: A settlement. When it is settled, the wait ends early.
    func wait(
        for delay: Duration, before endpoint: any Endpoint, with settings: RequestSettings, as presence: StreamPresence,
        wokenBy wake: Settlement<Void> = Settlement()
    ) async throws {
        let scope = CallScope(deadline: .ofCall(within: nil, on: clock))
        presence.begin(scope)
        calls.enter(scope, endpoint)
        defer {
            scope.detach()
            calls.leave(scope)
        }
        // A wait that would not end before the inherited deadline does not begin.
        if let deadline = scope.deadline, deadline.remaining <= delay { scope.interrupt(.deadlineExceeded) }
        do {
            try await CallScope.Position.$current.withValue(.inside(scope)) {
                if delay > .zero { try await wake.value(within: delay, on: clock) { _ in .success(()) } }
            }
        } catch {
            let pipeline = RequestPipeline(
                endpoint, on: self, for: ConverterRequirements(target: .memory),
                with: resolved(settings, for: endpoint),
                in: scope)
            throw await pipeline.interrupted().error
        }
    }
}
