public import Foundation

/// A record of HTTP exchanges in the HTTP Archive format, version 1.2
/// (http://www.softwareishard.com/blog/har-12-spec/). The developer tools of browsers can save and open this format.
///
/// ``HARRecorder`` creates an archive of the calls of a service. `ReplayTransport` of `NetworkingTesting` returns the
/// responses of an archive.
public struct HARArchive: Codable, Sendable, Hashable {
    /// The only member of the format's top-level object.
    package var log: Log

    /// Creates an archive of exchanges.
    package init(entries: [Entry] = []) {
        log = Log(entries: entries)
    }

    /// The number of exchanges.
    public var count: Int { log.entries.count }

    /// Parses an archive.
    ///
    /// - Throws: `DecodingError` if the data is not an archive.
    public init(data: Data) throws {
        self = try JSONDecoder().decode(HARArchive.self, from: data)
    }

    /// Returns the archive as the content of a `.har` file. The JSON members are sorted by name. Control characters and
    /// characters that change the direction of text are escaped.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // The encoder escapes only the control characters that JSON does not allow.
        // Bytes are split, because comparing the characters of a text with n combining marks in a row takes n² steps.
        let lines = try encoder.encode(self).split(separator: UInt8(ascii: "\n"))
        let escaped = lines.map { line in
            Data(String(decoding: line, as: UTF8.self).escapingControls { String(format: "\\u%04x", $0.value) }.utf8)
        }
        return Data(escaped.joined(separator: [UInt8(ascii: "\n")]))
    }

    // In the types below, a member that browsers omit is optional.

    /// The exchanges and the program that recorded them.
    package struct Log: Codable, Sendable, Hashable {
        /// The version of the format.
        package var version: String? = "1.2"
        /// The program that recorded the exchanges.
        package var creator: Unread<Creator>? = Unread()
        /// The exchanges, ordered by the time at which they began.
        package var entries: [Entry]
    }

    /// One exchange: a request and its response. The request is the request of an attempt, or follows a redirect.
    package struct Entry: Codable, Sendable, Hashable {
        /// The time at which the exchange began, in ISO 8601.
        package var startedDateTime: String
        /// The duration of the exchange in milliseconds.
        package var time: Double?
        /// The request that was sent.
        package var request: Request
        /// The response. If there was no response, its status is 0.
        package var response: Response
        /// Empty, because nothing is recorded about caches; if the response comes from a cache, ``comment`` says so.
        package var cache: Unread<NoMembers>? = Unread()
        /// The durations of the phases.
        package var timings: Timings?
        /// The IP address of the server.
        package var serverIPAddress: String?
        /// The port of the server.
        package var connection: String?
        /// Additional information from the library.
        package var comment: String?
        /// `websocket` if the exchange is the handshake of a WebSocket. Browsers write this member and ``messages``.
        package var resourceType: String?
        /// The messages of the WebSocket that the exchange has opened.
        package var messages: [SocketMessage]?

        enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress, connection, comment
            case resourceType = "_resourceType"
            case messages = "_webSocketMessages"
        }
    }

    /// A message of a WebSocket.
    package struct SocketMessage: Codable, Sendable, Hashable {
        /// `send` or `receive`.
        package var type: String
        /// The time, in seconds since 1970.
        package var time: Double
        /// 1 for a text, 2 for bytes.
        package var opcode: Int
        /// The text, or the bytes in base64.
        package var data: String
    }

    /// The durations of the phases in milliseconds. -1 if a duration is not known.
    package struct Timings: Codable, Sendable, Hashable {
        /// The time that the request waited for a permit and a token.
        package var blocked: Double?
        /// The duration of the name lookup.
        package var dns: Double?
        /// The duration of connecting, including the TLS handshake.
        package var connect: Double?
        /// The duration of the TLS handshake.
        package var ssl: Double?
        /// The duration of sending. Engines do not report this time separately. In recorded archives, ``wait``
        /// therefore includes it, and this value is zero.
        package var send: Double?
        /// The time of waiting for the first byte.
        package var wait: Double?
        /// The time from the first byte of the response to its last byte.
        package var receive: Double?
    }
}

/// An observer that records the calls of a service. Open the archive in the developer tools of a browser, or replay it
/// in a test.
///
/// ```swift
/// let recorder = HARRecorder()
/// let token = service.observers.register(recorder)
/// …
/// try recorder.archive.encoded().write(to: url)
/// ```
///
/// Credentials, query values and bodies are recorded only if the ``Redaction`` allows them. To replay an archive,
/// record it with ``Redaction/revealed``, against a server that has no real secrets. A call is recorded when it is
/// over. Bodies that were delivered to files or streams are not recorded.
public final class HARRecorder: RequestObserver {
    private static let maximumSize = 64 << 20
    /// The maximum number of messages of a WebSocket.
    private static let mostMessages = 10_000

    private let redaction: Redaction
    private let limit: Int
    private let recorded = Locked(Recorded())

    private struct Recorded: Sendable {
        var entries: [HARArchive.Entry] = []
        /// The number of bytes of all entries.
        var size = 0
        /// The number of entries that were removed.
        var removed = 0
        /// The WebSockets that were opened. The key is the id of the call.
        var sockets: [UUID: Socket] = [:]

        /// Removes the oldest entries.
        mutating func shrink(to limit: Int) {
            var count = 0
            while entries.count - count > limit || size > HARRecorder.maximumSize && entries.count - count > 1 {
                size -= entries[count].size
                count += 1
            }
            guard count > 0 else { return }
            entries.removeFirst(count)
            removed += count
            sockets = sockets.filter { $0.value.number >= removed }
        }

        mutating func add(_ message: HARArchive.SocketMessage, of call: UUID) {
            guard var socket = sockets[call] else { return }
            let index = socket.number - removed
            socket.count += 1
            socket.size += message.size
            guard socket.count <= HARRecorder.mostMessages, socket.size <= HARRecorder.maximumSize / 4 else {
                let note = "only the first \(socket.count - 1) messages were recorded"
                entries[index].comment = [entries[index].comment, note].compactMap { $0 }.joined(separator: "; ")
                size += note.utf8.count
                sockets[call] = nil
                return
            }
            sockets[call] = socket
            entries[index].messages?.append(message)
            size += message.size
        }
    }

    /// A WebSocket whose messages are recorded.
    private struct Socket: Sendable {
        /// The number of the WebSocket's entry, counted from the first recorded entry.
        let number: Int
        var count = 0
        /// The number of bytes of its messages.
        var size = 0
    }

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - redaction: Determines what is recorded. Default: ``Redaction/standard``.
    ///   - limit: The maximum number of exchanges. If there are more exchanges, or if their texts have more than
    ///     64 MiB, the oldest exchanges are removed. Default: 1,000.
    public init(redaction: Redaction = .standard, limit: Int = 1_000) {
        self.redaction = redaction
        self.limit = max(limit, 1)
    }

    /// The exchanges recorded so far, ordered by the time at which they began.
    public var archive: HARArchive {
        var entries = recorded.withLock { $0.entries }.sorted { $0.startedDateTime < $1.startedDateTime }
        for index in entries.indices where entries[index].messages?.isEmpty == false {
            entries[index].messages?.sort { $0.time < $1.time }
        }
        return HARArchive(entries: entries)
    }

    /// Removes all recorded exchanges.
    public func clear() {
        recorded.withLock { $0 = Recorded() }
    }

    /// Records a call when it is over, and the messages of a WebSocket that the call has opened. For each WebSocket, at
    /// most 10,000 messages and at most 16 MiB are recorded.
    public func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        switch event {
        case .finished(let report):
            let new = HARArchive.entries(of: report, redaction: redaction)
            recorded.withLock { recorded in
                recorded.entries += new
                recorded.size += new.reduce(0) { $0 + $1.size }
                if new.last?.messages != nil {
                    recorded.sockets[call.id] = Socket(number: recorded.removed + recorded.entries.count - 1)
                }
                recorded.shrink(to: limit)
            }
        case .messageSent(let message, let date): record(message, "send", date, of: call)
        case .messageReceived(let message, let date): record(message, "receive", date, of: call)
        default: break
        }
    }

    private func record(_ message: WebSocketMessage, _ type: String, _ date: Date, of call: RequestEvent.Call) {
        guard recorded.withLock({ $0.sockets[call.id] }) != nil else { return }
        let entry = HARArchive.SocketMessage(message, type, date, redaction)
        recorded.withLock { recorded in
            recorded.add(entry, of: call.id)
            recorded.shrink(to: limit)
        }
    }
}

extension HARArchive: RedactedReflectable {
    /// The number of exchanges. Texts of a server are not shown here; only the file contains them, escaped.
    var redactedDescription: String { "HARArchive (\(count) exchanges)" }
}
