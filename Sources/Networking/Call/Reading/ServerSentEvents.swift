/// One server-sent event, as defined by the
/// [WHATWG's HTML standard, section 9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html).
public struct ServerSentEvent: Hashable, Sendable {
    /// The type of the event. Default: `message`.
    public var type: String
    /// The text of the event. Its lines are separated by LF.
    public var data: String
    /// The last event ID, which the server has sent with this event or earlier; empty if the server has sent none. Send
    /// it as `Last-Event-ID` to resume after this event.
    public var id: String
    /// The reconnection time, which the server has sent with this event or earlier; nil if the server has sent none.
    /// The client should wait for this time before it connects again. At most 24 hours.
    public var retry: Duration?

    /// Creates an event.
    package init(type: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.retry = retry
    }
}

/// The server-sent events of a body, as they arrive. To close the connection, leave the loop and release the sequence.
struct ServerSentEvents: AsyncSequence, Sendable {
    typealias Element = ServerSentEvent

    private let body: IncomingBody
    private let lastEventID: String

    /// - Parameter lastEventID: The last event ID when the previous connection ended.
    init(_ body: IncomingBody, after lastEventID: String = "") {
        self.body = body
        self.lastEventID = lastEventID
    }

    /// A sequence of the same events. It throws the errors of the body unchanged, without mapping them.
    var unmapped: ServerSentEvents { ServerSentEvents(body.unmapped, after: lastEventID) }

    /// Returns the error that this sequence throws if the unmapped body throws the given error.
    func mapped(_ error: any Error) async -> any Error { await body.mapped(error) }

    /// Returns an iterator over the events.
    func makeAsyncIterator() -> Iterator { Iterator(bytes: body.makeAsyncIterator(), after: lastEventID) }

    /// Reads the events.
    struct Iterator: AsyncIteratorProtocol {
        private var bytes: IncomingBody.Iterator
        private var parser: ServerSentEventParser
        private var events: ArraySlice<ServerSentEvent> = []

        fileprivate init(bytes: IncomingBody.Iterator, after lastEventID: String) {
            self.bytes = bytes
            parser = ServerSentEventParser(after: lastEventID)
        }

        /// The last event ID, with which a new connection resumes. The server may have sent it without an event.
        var lastEventID: String { parser.lastEventID }
        /// The reconnection time that the server has sent; nil if it has sent none.
        var retry: Duration? { parser.retry }

        /// Returns the next event, or nil at the end of the body. An empty line completes an event. An event that is
        /// incomplete at the end of the body is discarded.
        mutating func next() async throws -> ServerSentEvent? {
            while events.isEmpty {
                guard let chunk = try await bytes.next() else { return nil }
                events = try parser.parse(chunk)[...]
            }
            return events.popFirst()
        }
    }
}
