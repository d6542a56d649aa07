package import Foundation

/// One server-sent event, as defined by the
/// [WHATWG's HTML standard, section 9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html).
public struct ServerSentEvent: Hashable, Sendable {
    /// The type of the event. Default: `message`.
    public var type = "message"
    /// The text of the event. Its lines are separated by LF.
    public var data: String
    /// The last event ID, which the server has sent with this event or earlier; empty if the server has sent none. Send
    /// it as `Last-Event-ID` to resume after this event. An ID of more than 4,096 bytes or with a control character is
    /// ignored.
    public var id = ""
    /// The reconnection time, which the server has sent with this event or earlier; nil if the server has sent none.
    /// The client should wait for this time before it connects again. At most 10 minutes.
    public var retry: Duration?
}

extension ServerSentEvent: CustomStringConvertible {
    /// The type, the text and the ID on one line. Control characters and characters that change the text direction are
    /// escaped.
    public var description: String { "\(type): \(data)\(id.isEmpty ? "" : " (ID \(id))")".onOneLine }
}

/// Reads the server-sent events of a body, as they arrive.
struct ServerSentEvents: AsyncIteratorProtocol {
    private var bytes: IncomingBody.Iterator
    private var parser: ServerSentEventParser
    private var events: ArraySlice<ServerSentEvent> = []

    /// - Parameter lastEventID: The last event ID when the previous connection ended.
    init(_ body: IncomingBody, after lastEventID: String = "") {
        bytes = body.makeAsyncIterator()
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

/// A parser that reads server-sent events from chunks of any size. It has no side effects.
package struct ServerSentEventParser: Sendable {
    private var splitter = LineSplitter(endings: .any)
    private var isFirstLine = true
    private var type = ""
    /// The data of the event so far, at most `longestEvent` bytes; nil if no line has had data.
    private var data: String?
    private let longestEvent: Int
    private var id: String
    /// The last event ID.
    package private(set) var lastEventID: String
    /// The reconnection time that the server has sent; nil if it has sent none.
    package private(set) var retry: Duration?

    /// - Parameters:
    ///   - lastEventID: The last event ID when the previous connection ended.
    ///   - longestEvent: The maximum size of an event in bytes. Default: the maximum length of a line.
    package init(after lastEventID: String = "", longestEvent: Int = LineSplitter.longestLine) {
        self.longestEvent = longestEvent
        id = lastEventID
        self.lastEventID = lastEventID
    }

    /// Returns the events that a chunk completes.
    package mutating func parse(_ chunk: Data) throws -> [ServerSentEvent] {
        try splitter.split(chunk).compactMap { line in
            var text = String(decoding: line, as: UTF8.self)
            // One leading byte order mark is not part of the text.
            if isFirstLine, text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
            isFirstLine = false
            return try take(text)
        }
    }

    /// Processes one line; an empty line ends an event.
    private mutating func take(_ line: String) throws -> ServerSentEvent? {
        guard !line.isEmpty else { return dispatch() }
        let bytes = line.utf8
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        // A line without a name is a comment, and no name is longer than `event` or `retry`.
        guard colon != bytes.startIndex, bytes.distance(from: bytes.startIndex, to: colon) <= 5 else { return nil }
        guard CombiningMarks.areFew(in: line) else {
            throw NetworkError(.undecodableBody, reason: "an event has \(JSONScanner.Limit.marks.description)")
        }
        var value = bytes[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        try set(String(decoding: bytes[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
        return nil
    }

    private mutating func set(_ field: String, _ value: String) throws {
        switch field {
        case "event": type = value
        case "data":
            guard (data?.utf8.count ?? 0) + value.utf8.count < longestEvent else {
                throw NetworkError.responseTooLarge(limit: longestEvent)
            }
            if data == nil { data = value } else { data? += "\n" + value }
        // An ID that cannot be sent as `Last-Event-ID` is ignored.
        case "id": if value.utf8.count <= 4_096, HTTPGrammar.isFieldContent(value) { id = value }
        case "retry":
            let isNumber = !value.isEmpty && value.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
            if isNumber { retry = .milliseconds(min(Int(value) ?? .max, 600_000)) }
        default: break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = id
        defer {
            type = ""
            data = nil
        }
        guard let data else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type, data: data, id: lastEventID, retry: retry)
    }
}
