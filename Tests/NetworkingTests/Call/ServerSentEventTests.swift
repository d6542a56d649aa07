import Foundation
import Testing

@testable import Networking

/// Cases in the style of the web platform tests. Each case is split at every byte boundary.
@Suite("Server-sent events", .endsInTime)
struct ServerSentEventTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let events: [ServerSentEvent]
        var testDescription: String { name }
    }

    private static func event(
        _ data: String, type: String = "message", id: String = "", retry: Int? = nil
    ) -> ServerSentEvent {
        ServerSentEvent(type: type, data: data, id: id, retry: retry.map { .milliseconds($0) })
    }

    static let cases: [Case] = [
        Case(name: "nothing", text: "", events: []),
        Case(name: "one event", text: "data: a\n\n", events: [event("a")]),
        Case(name: "no space after the colon", text: "data:a\n\n", events: [event("a")]),
        Case(name: "only one space is removed", text: "data:  a\n\n", events: [event(" a")]),
        Case(name: "a tab is not a space", text: "data:\ta\n\n", events: [event("\ta")]),
        Case(name: "trailing spaces are kept", text: "data: a \n\n", events: [event("a ")]),
        Case(name: "CRLF", text: "data: a\r\n\r\n", events: [event("a")]),
        Case(name: "CR", text: "data: a\r\rdata: b\r\r", events: [event("a"), event("b")]),
        Case(
            name: "mixed endings", text: "data: a\r\n\ndata: b\n\r\ndata: c\r\r\n",
            events: [event("a"), event("b"), event("c")]),
        Case(name: "CR LF is one ending", text: "data: a\r\ndata: b\r\n\r\n", events: [event("a\nb")]),
        Case(name: "LF CR is two endings", text: "data: a\n\rdata: b\n\r", events: [event("a"), event("b")]),
        Case(name: "several lines", text: "data: a\ndata: b\ndata: c\n\n", events: [event("a\nb\nc")]),
        Case(name: "empty data", text: "data\n\n", events: [event("")]),
        Case(name: "empty data with colon", text: "data:\n\n", events: [event("")]),
        Case(name: "two empty lines of data", text: "data\ndata\n\n", events: [event("\n")]),
        Case(name: "three empty lines of data", text: "data:\ndata:\ndata:\n\n", events: [event("\n\n")]),
        Case(name: "an event without a line ending", text: "data: a", events: []),
        Case(name: "an event without a blank line", text: "data: a\n", events: []),
        Case(name: "an incomplete last event is dropped", text: "data: a\n\ndata: b\n", events: [event("a")]),
        Case(name: "comment", text: ": hello\ndata: a\n: more\n\n", events: [event("a")]),
        Case(name: "only a comment", text: ":\n\n", events: []),
        Case(name: "keep-alives", text: ":\n:\n:\n\ndata: a\n\n", events: [event("a")]),
        Case(name: "type", text: "event: add\ndata: a\n\n", events: [event("a", type: "add")]),
        Case(name: "type without data is no event", text: "event: add\n\n", events: []),
        Case(
            name: "a type does not persist", text: "event: add\ndata: a\n\ndata: b\n\n",
            events: [event("a", type: "add"), event("b")]),
        Case(name: "the last type is used", text: "event: x\nevent: y\ndata: a\n\n", events: [event("a", type: "y")]),
        Case(
            name: "an empty type means the type \"message\"", text: "event: x\nevent:\ndata: a\n\n",
            events: [event("a")]),
        Case(name: "a type without data is dropped", text: "event: x\n\ndata: a\n\n", events: [event("a")]),
        Case(name: "id", text: "id: 1\ndata: a\n\n", events: [event("a", id: "1")]),
        Case(
            name: "an id persists",
            text: "id: 1\ndata: a\n\ndata: b\n\n", events: [event("a", id: "1"), event("b", id: "1")]),
        Case(
            name: "an empty id resets the id", text: "id: 1\ndata: a\n\nid\ndata: b\n\n",
            events: [event("a", id: "1"), event("b")]),
        Case(name: "an id without data persists", text: "id: 7\n\ndata: a\n\n", events: [event("a", id: "7")]),
        Case(name: "an id with a control character is ignored", text: "id: 1\u{1}2\ndata: a\n\n", events: [event("a")]),
        Case(name: "an id may contain a tab", text: "id: 1\t2\ndata: a\n\n", events: [event("a", id: "1\t2")]),
        Case(name: "an id with NUL is ignored", text: "id: 1\u{0}2\ndata: a\n\n", events: [event("a")]),
        Case(name: "id with spaces", text: "id:  x \ndata: a\n\n", events: [event("a", id: " x ")]),
        Case(name: "retry", text: "retry: 3000\ndata: a\n\n", events: [event("a", retry: 3_000)]),
        Case(name: "retry that is not a number", text: "retry: 3s\ndata: a\n\n", events: [event("a")]),
        Case(name: "retry with a sign", text: "retry: -3\ndata: a\n\n", events: [event("a")]),
        Case(name: "retry that is empty", text: "retry\ndata: a\n\n", events: [event("a")]),
        Case(
            name: "a retry persists", text: "retry: 5\ndata: a\n\ndata: b\n\n",
            events: [event("a", retry: 5), event("b", retry: 5)]),
        Case(
            name: "a very long retry", text: "retry: 99999999999999999999\ndata: a\n\n",
            events: [event("a", retry: 600_000)]),
        Case(
            name: "unknown fields", text: "foo: bar\nDATA: x\nData: y\n data: z\ndata : w\ndata: a\n\n",
            events: [event("a")]),
        Case(name: "byte order mark", text: "\u{FEFF}data: a\n\n", events: [event("a")]),
        Case(name: "only one byte order mark is removed", text: "\u{FEFF}\u{FEFF}data: a\n\n", events: []),
        Case(name: "a later byte order mark stays", text: "data: a\n\n\u{FEFF}data: b\n\n", events: [event("a")]),
        Case(name: "colons in the value", text: "data: a:b: c\n\n", events: [event("a:b: c")]),
        Case(name: "Unicode", text: "data: üñ✓漢🎈\n\n", events: [event("üñ✓漢🎈")]),
        Case(name: "NUL in the data", text: "data: a\u{0}b\n\n", events: [event("a\u{0}b")]),
        Case(name: "many blank lines", text: "\n\n\ndata: a\n\n\n\n", events: [event("a")]),
        Case(name: "a combining mark after the colon", text: "data:\u{301}a\n\n", events: [event("\u{301}a")]),
    ]

    @Test("Each case yields the same events, wherever its bytes are split", arguments: cases)
    func parse(example: Case) throws {
        let bytes = Data(example.text.utf8)
        for split in 0...bytes.count {
            var parser = ServerSentEventParser()
            #expect(try parser.parse(bytes.prefix(split)) + parser.parse(bytes.dropFirst(split)) == example.events)
        }
        var parser = ServerSentEventParser()
        #expect(try bytes.flatMap { try parser.parse(Data([$0])) } == example.events, "byte by byte")
    }

    @Test("Invalid UTF-8 becomes replacement characters and does not affect other events")
    func brokenText() throws {
        var parser = ServerSentEventParser()
        let events = try parser.parse(Data("data: ".utf8) + Data([0xFF, 0xC3]) + Data("\n\ndata: b\n\n".utf8))
        #expect(events.map(\.data) == ["\u{FFFD}\u{FFFD}", "b"])
    }

    @Test("A line that never ends causes an error before it takes much memory")
    func endless() {
        var parser = ServerSentEventParser()
        #expect(throws: NetworkError.self) {
            for _ in 0..<40 { _ = try parser.parse(Data(count: 1 << 20)) }
        }
    }

    @Test("An event that never ends causes an error before it takes much memory")
    func endlessEvent() throws {
        var parser = ServerSentEventParser(longestEvent: 1_000)
        let line = Data(("data: " + String(repeating: "x", count: 99) + "\n").utf8)
        for _ in 0..<10 { #expect(try parser.parse(line).isEmpty) }
        #expect(throws: NetworkError.self) { try parser.parse(line) }
        var other = ServerSentEventParser(longestEvent: 1_000)
        for _ in 0..<100 { #expect(try other.parse(line + Data("\n".utf8)).count == 1) }
        // Each event may have the whole size.
        var exact = ServerSentEventParser(longestEvent: 100)
        for _ in 0..<3 { #expect(try exact.parse(line + Data("\n".utf8)).count == 1) }
    }
}
