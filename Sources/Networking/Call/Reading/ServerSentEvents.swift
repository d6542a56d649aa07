/// One server-sent event, as the [WHATWG's HTML standard, section
/// 9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html) has it.
public struct ServerSentEvent: Hashable, Sendable {
    /// Its type: `message` unless the server says otherwise.
    public var type: String
    /// Its text; lines are separated by LF.
    public var data: String
    /// The identifier that holds by now; empty if the server has given none. Send it as `Last-Event-ID` to go on
    /// from here.
    public var id: String
    /// How long the server asks to wait before connecting anew, where it has said so by now.
    public var retry: Duration?

    /// Makes an event.
    package init(type: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.retry = retry
    }
}

/// The server-sent events of a body, as they come. Breaking out of the loop, and letting go of the sequence, closes
/// the connection.
struct ServerSentEvents: AsyncSequence, Sendable {
    typealias Element = ServerSentEvent

    private let body: IncomingBody
    private let lastEventID: String

    /// - Parameter lastEventID: The identifier that held when the connection before ended.
    init(_ body: IncomingBody, after lastEventID: String = "") {
        self.body = body
        self.lastEventID = lastEventID
    }

    /// The same events, of a body with its errors as they are.
    var unmapped: ServerSentEvents { ServerSentEvents(body.unmapped, after: lastEventID) }

    /// What the reader would get for an error of the body.
    func mapped(_ error: any Error) async -> any Error { await body.mapped(error) }

    /// The reader of the events.
    func makeAsyncIterator() -> Iterator { Iterator(bytes: body.makeAsyncIterator(), after: lastEventID) }

    /// Pulls the events.
    struct Iterator: AsyncIteratorProtocol {
        private var bytes: IncomingBody.Iterator
        private var parser: ServerSentEventParser
        private var events: ArraySlice<ServerSentEvent> = []

        fileprivate init(bytes: IncomingBody.Iterator, after lastEventID: String) {
            self.bytes = bytes
            parser = ServerSentEventParser(after: lastEventID)
        }

        /// Where a new connection has to go on, whether an event came of it or not.
        var lastEventID: String { parser.lastEventID }
        /// How long the server asks to wait before one.
        var retry: Duration? { parser.retry }

        /// The next event, or nil at the end. What has not been ended by an empty line by then is no event.
        mutating func next() async throws -> ServerSentEvent? {
            while events.isEmpty {
                guard let chunk = try await bytes.next() else { return nil }
                events = try parser.parse(chunk)[...]
            }
            return events.popFirst()
        }
    }
}
