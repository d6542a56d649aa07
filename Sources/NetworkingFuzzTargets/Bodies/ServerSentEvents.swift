import Foundation
import Networking

extension FuzzTarget {
    /// Server-sent events. The sizes of the chunks do not change the events. The events do not change if they are
    /// written and read again.
    static let serverSentEvents = FuzzTarget("server-sent-events") { input in
        let (whole, events) = try parse([Data(input.bytes)])
        let size = Int(input.bytes.first ?? 0) % 7 + 1
        let chunks = stride(from: 0, to: input.bytes.count, by: size).map { start in
            Data(input.bytes[start..<min(start + size, input.bytes.count)])
        }
        let (parts, sameEvents) = try parse(chunks)
        try require(sameEvents, equals: events, "the events in chunks of \(size) bytes")
        try require(parts.lastEventID, equals: whole.lastEventID, "the last event ID in chunks")
        try require(parts.retry, equals: whole.retry, "the reconnection time in chunks")
        try require(whole.retry.map { $0 >= .zero && $0 <= .seconds(600) } ?? true, "the time exceeds ten minutes")
        var text = ""
        for event in events {
            for line in [event.type, event.id] {
                let isLine = line.utf8.allSatisfy { $0 != 0x0A && $0 != 0x0D }
                try require(isLine, "\(line.debugDescription) is not one line")
            }
            try require(!event.data.utf8.contains(0x0D), "\(event.data.debugDescription) has a CR")
            text += "event: \(event.type)\nid: \(event.id)\n"
            if let (seconds, attoseconds) = event.retry?.components {
                text += "retry: \(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)\n"
            }
            for line in event.data.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
                text += "data: \(Substring(line))\n"
            }
            text += "\n"
        }
        try require(try parse([Data(text.utf8)]).events, equals: events, "the events that are written again")
    }

    private static func parse(_ chunks: [Data]) throws -> (parser: ServerSentEventParser, events: [ServerSentEvent]) {
        var parser = ServerSentEventParser()
        var events: [ServerSentEvent] = []
        for chunk in chunks { events += try parser.parse(chunk) }
        return (parser, events)
    }
}
