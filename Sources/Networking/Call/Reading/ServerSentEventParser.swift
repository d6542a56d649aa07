package import Foundation

/// A parser that reads server-sent events from chunks of any size. It has no side effects.
package struct ServerSentEventParser: Sendable {
    private var splitter = LineSplitter(endings: .any)
    private var isFirstLine = true
    private var type = ""
    private var data: [String] = []
    /// The size of `data` in bytes, which must not exceed `longestEvent`.
    private var size = 0
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
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            try set(line, "")
            return nil
        }
        guard colon != bytes.startIndex else { return nil }  // a comment
        var value = bytes[bytes.index(after: colon)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        try set(String(decoding: bytes[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
        return nil
    }

    private mutating func set(_ field: String, _ value: String) throws {
        switch field {
        case "event": type = value
        case "data":
            size += value.utf8.count + 1
            guard size <= longestEvent else { throw NetworkError.responseTooLarge(limit: longestEvent) }
            data.append(value)
        case "id": if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) { id = value }
        case "retry":
            let isNumber =
                !value.isEmpty && value.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            if isNumber { retry = .milliseconds(min(Int(value) ?? .max, 86_400_000)) }
        default: break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = id
        defer {
            type = ""
            data = []
            size = 0
        }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type, data: data.joined(separator: "\n"), id: lastEventID, retry: retry)
    }
}
