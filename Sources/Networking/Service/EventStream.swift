/// Server-sent events over as many connections as it takes: when one ends, the next begins where it was.
///
/// Each connection is a call of the service like any other, so that it carries the token of its time; `Last-Event-ID`
/// tells the server where to go on. It ends where the server answers 204, and where the reader leaves. It throws what
/// the first connection fails with, and later what a new attempt would not fix: a refusal, another media type, a
/// cancellation.
///
/// ```swift
/// for try await event in feeds.events(FeedEndpoint.news) { show(event.data) }
/// ```
public struct EventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    fileprivate let client: NetworkClient
    fileprivate let endpoint: any Endpoint
    fileprivate let settings: RequestSettings
    fileprivate let reconnection: EventReconnection

    /// The reader of the events.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// Pulls the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let stream: EventStream
        private var events: ServerSentEvents.Iterator?
        private var lastEventID = ""
        private var delay: Duration
        private var hasConnected = false
        private var isOver = false
        /// How many tries have failed in a row, and how many connections have brought nothing.
        private var failures = 0
        private var barren = 0

        fileprivate init(stream: EventStream) {
            self.stream = stream
            delay = stream.reconnection.delay
        }

        /// The next event; nil where there will be none.
        public mutating func next() async throws -> ServerSentEvent? {
            while !isOver {
                let outcome = await read()
                if let event = outcome.event { return event }
                guard !isOver else { break }
                if let error = outcome.error {
                    failures += 1
                    guard hasConnected, outcome.isWorthATry, failures <= stream.reconnection.maximumFailures else {
                        isOver = true
                        throw error
                    }
                }
                lastEventID = events?.lastEventID ?? lastEventID
                delay = events?.retry ?? delay
                events = nil
                try await stream.wait(for: delay * (1 << Swift.min(barren, 5)))
                barren += 1
            }
            return nil
        }

        private struct Outcome {
            var event: ServerSentEvent?
            var error: (any Error)?
            var isWorthATry = false
        }

        /// The next event of the connection, which is opened where there is none; or how that ended.
        private mutating func read() async -> Outcome {
            do {
                if events == nil {
                    guard let opened = try await stream.connect(after: lastEventID) else {
                        isOver = true
                        return Outcome()
                    }
                    events = opened.makeAsyncIterator()
                    hasConnected = true
                }
                guard let event = try await events?.next() else { return Outcome() }
                (failures, barren) = (0, 0)
                return Outcome(event: event)
            } catch let failed as FailedCall {
                // The error as it was before handlers made another one of it.
                let cause = failed.report.attempts.last?.error ?? failed.error
                return Outcome(error: failed.error, isWorthATry: EventReconnection.isWorthwhile(after: cause))
            } catch {
                return Outcome(error: error, isWorthATry: EventReconnection.isWorthwhile(after: error))
            }
        }
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
            scope.leave()
            client.calls.leave(scope)
        }
        do {
            try await CallPosition.$current.withValue(.inside(scope)) { try await client.clock.wait(for: delay) }
        } catch { throw NetworkError.wrapping(error) }
    }
}

/// When a lost stream of events is connected anew.
public struct EventReconnection: Hashable, Sendable {
    /// How long to wait before, unless the server says; it doubles with each connection in a row that brought no event,
    /// up to 32 times as long.
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
        guard let error = error as? NetworkError else { return false }
        let kinds: [NetworkError.Kind] = [
            .notConnected, .cannotConnect, .cannotResolveHost, .idleTimedOut, .connectTimedOut, .truncatedBody,
            .undecodableContent,
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
        EventStream(client: client, endpoint: endpoint, settings: settings, reconnection: reconnection)
    }
}
