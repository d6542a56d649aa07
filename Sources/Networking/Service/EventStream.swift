/// Server-sent events over as many connections as it takes: when one ends, the next begins where it was.
///
/// Each connection is a call of the service like any other, so that it carries the token of its time; `Last-Event-ID` tells the server where to
/// go on. It ends where the server answers 204, and where the reader leaves. It throws what the first connection fails with, and
/// later what a new try would not mend: a refusal, another media type, a cancellation.
///
/// ```swift
/// for try await event in feeds.events(FeedEndpoint.news) { show(event.data) }
/// ```
public struct EventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    fileprivate let reconnection: EventReconnection
    fileprivate let clock: NetworkClock
    /// Opens a connection; nil where the server wants no more of them.
    fileprivate let connect: @Sendable (_ lastEventID: String) async throws -> ServerSentEvents?

    /// The reader of the events.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self, delay: reconnection.delay) }

    /// Pulls the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let stream: EventStream
        private var events: ServerSentEvents.Iterator?
        private var lastEventID = ""
        private var delay: Duration
        private var hasConnected = false
        /// How many tries have failed since the last event.
        private var failures = 0

        fileprivate init(stream: EventStream, delay: Duration) {
            self.stream = stream
            self.delay = delay
        }

        /// The next event; nil where there will be none.
        public mutating func next() async throws -> ServerSentEvent? {
            while true {
                do {
                    if events == nil {
                        guard let opened = try await stream.connect(lastEventID) else { return nil }
                        events = opened.makeAsyncIterator()
                        hasConnected = true
                    }
                    if let event = try await events?.next() { return noted(event) }
                } catch {
                    guard hasConnected, EventReconnection.isWorthwhile(after: error),
                        failures < stream.reconnection.maximumFailures
                    else { throw error }
                }
                events = nil
                do { try await stream.clock.wait(for: delay * (1 << Swift.min(failures, 5))) } catch {
                    throw NetworkError.wrapping(error)
                }
                failures += 1
            }
        }

        private mutating func noted(_ event: ServerSentEvent) -> ServerSentEvent {
            failures = 0
            lastEventID = event.id
            delay = event.retry ?? delay
            return event
        }
    }
}

/// When a lost stream of events is connected anew.
public struct EventReconnection: Hashable, Sendable {
    /// How long to wait before, unless the server says; it doubles with each failure in a row, up to 32 times.
    public var delay: Duration
    /// How many tries may fail in a row.
    public var maximumFailures: Int

    /// Makes a rule: 3 seconds, and as often as it takes, unless said otherwise.
    public init(delay: Duration = .seconds(3), maximumFailures: Int = .max) {
        self.delay = delay
        self.maximumFailures = maximumFailures
    }

    /// Whether a new try may go better: the connection failed, and not the request.
    static func isWorthwhile(after error: any Error) -> Bool {
        if let error = error as? GeneralRequestError {
            return error == .noInternetConnection || error == .cannotConnect || error == .timedOut
        }
        guard let error = error as? NetworkError else { return false }
        let kinds: [NetworkError.Kind] = [
            .notConnected, .cannotConnect, .cannotResolveHost, .idleTimedOut, .connectTimedOut, .truncatedBody,
        ]
        return error.kind.isConnectionLoss || kinds.contains(error.kind)
    }
}

extension NetworkRequesting {
    /// Server-sent events that outlive their connections. Nothing is sent before the first event is asked for.
    ///
    /// - Parameters:
    ///   - endpoint: The call, made anew for each connection.
    ///   - reconnection: When to connect anew.
    ///   - settings: Settings for each of these calls.
    public func events(
        _ endpoint: some Endpoint, reconnecting reconnection: EventReconnection = EventReconnection(),
        with settings: RequestSettings = RequestSettings()
    ) -> EventStream {
        let client = client
        return EventStream(reconnection: reconnection, clock: client.clock) { lastEventID in
            let fields: HTTPHeaders = lastEventID.isEmpty ? [] : [.lastEventID: lastEventID]
            let converter = ResponseConverter.eventsUnlessOver.asking(fields)
            return try await client.pipeline(endpoint, as: converter, with: settings).run().value
        }
    }
}
