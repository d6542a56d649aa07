extension NetworkRequesting {
    /// Returns a sequence of server-sent events that reconnects when its connection is lost. Nothing is sent before the
    /// first event is requested.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the call. Each connection is a new call.
    ///   - reconnection: The rule that decides when to reconnect.
    ///   - settings: The settings for each of these calls.
    public func events(
        _ endpoint: some Endpoint,
        reconnecting reconnection: ServerSentEvent.Reconnection = ServerSentEvent.Reconnection(),
        with settings: RequestSettings = RequestSettings()
    ) -> BodySequence<ServerSentEvent> {
        let stream = EventStream(client: client, endpoint: endpoint, settings: settings, reconnection: reconnection)
        return BodySequence { .init(EventStream.Iterator(stream)) }
    }
}

extension ServerSentEvent {
    /// The rule that decides when a lost stream of events is reconnected.
    public struct Reconnection: Hashable, Sendable {
        /// The delay before a reconnection, unless the server sends another delay (`retry`). The delay doubles with
        /// each consecutive connection without an event, up to 16 times its original value. After such a connection, a
        /// delay of less than 100 ms counts as 100 ms. The wait is random: between 75 and 125 % of the delay or, after
        /// a connection without an event, between 50 and 120 % of the delay.
        public var delay: Duration
        /// The number of consecutive connections that may fail.
        public var maximumFailures: Int
        /// If the server refuses a reconnection with one of these statuses, the stream tries to reconnect again.
        /// Default: none, as the standard says. A server behind a proxy may need `[.badGateway, .serviceUnavailable]`.
        public var statuses: Set<HTTPStatus>
        /// The identifier of the event after which the stream begins. Default: empty; the server decides where the
        /// stream begins. To resume after a restart of the app, store the ``ServerSentEvent/id`` of each event, and
        /// pass the last id.
        public var lastEventID: String

        /// Creates a rule.
        ///
        /// - Parameters:
        ///   - delay: The delay before a reconnection. Default: 3 seconds.
        ///   - maximumFailures: The number of consecutive connections that may fail. Default: no limit.
        ///   - statuses: The statuses of a refused reconnection after which the stream tries to reconnect again.
        ///     Default: none.
        ///   - lastEventID: The identifier of the event after which the stream begins. Default: empty.
        public init(
            delay: Duration = .seconds(3), maximumFailures: Int = .max, statuses: Set<HTTPStatus> = [],
            after lastEventID: String = ""
        ) {
            self.delay = delay
            self.maximumFailures = maximumFailures
            self.statuses = statuses
            self.lastEventID = lastEventID
        }

        /// Returns whether a new attempt may succeed: true if the connection failed, false if the request itself
        /// failed.
        package func isWorthwhile(after error: any Error) -> Bool {
            guard let error = error as? NetworkError else { return false }
            if error.kind == .unacceptableStatus, let status = error.status { return statuses.contains(status) }
            let kinds: [NetworkError.Kind] = [
                .notConnected, .cannotConnect, .cannotResolveHost, .idleTimedOut, .connectTimedOut, .truncatedBody,
                .undecodableContent, .circuitOpen, .rateLimited, .notProcessed,
            ]
            return error.kind.isConnectionLoss || kinds.contains(error.kind)
        }
    }
}
