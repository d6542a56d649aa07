extension NetworkRequesting {
    /// Server-sent events that outlive their connections. Nothing is sent before the first event is asked for.
    ///
    /// - Parameters:
    ///   - endpoint: The call, made anew for each connection.
    ///   - reconnection: When to connect anew.
    ///   - settings: Settings for each of these calls.
    public func events(
        _ endpoint: some Endpoint,
        reconnecting reconnection: ServerSentEvent.Reconnection = ServerSentEvent.Reconnection(),
        with settings: RequestSettings = RequestSettings()
    ) -> BodySequence<ServerSentEvent> {
        BodySequence(
            EventStream(client: client, endpoint: endpoint, settings: settings, reconnection: reconnection))
    }
}

extension ServerSentEvent {
    /// When a lost stream of events is connected anew.
    public struct Reconnection: Hashable, Sendable {
        /// How long to wait before, unless the server says; it doubles with each connection in a row that brought no event,
        /// up to 32 times as long.
        public var delay: Duration
        /// How many tries may fail in a row.
        public var maximumFailures: Int
        /// The statuses of a new connection after which another one is tried. Default: none, as the standard says; a server
        /// behind a proxy may need `[.badGateway, .serviceUnavailable]`.
        public var statuses: Set<HTTPStatus>

        /// Makes a rule.
        ///
        /// - Parameters:
        ///   - delay: Default: 3 seconds.
        ///   - maximumFailures: Default: any number.
        ///   - statuses: Default: none.
        public init(delay: Duration = .seconds(3), maximumFailures: Int = .max, statuses: Set<HTTPStatus> = []) {
            self.delay = delay
            self.maximumFailures = maximumFailures
            self.statuses = statuses
        }

        /// Whether a new attempt may succeed: the connection failed, and not the request.
        func isWorthwhile(after error: any Error) -> Bool {
            guard let error = error as? NetworkError else { return false }
            if error.kind == .unacceptableStatus, let status = error.status { return statuses.contains(status) }
            let kinds: [NetworkError.Kind] = [
                .notConnected, .cannotConnect, .cannotResolveHost, .idleTimedOut, .connectTimedOut, .truncatedBody,
                .undecodableContent,
            ]
            return error.kind.isConnectionLoss || kinds.contains(error.kind)
        }
    }
}
