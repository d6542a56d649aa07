import Foundation
import Networking

/// Heads and bodies of HTTP/2 messages (RFC 9113 section 8).
extension HostileCase {
    static let http2Heads: [HostileCase] = [
        head("no :status", [("x", "y")], .violation), head("an empty head", [], .violation),
        head("two :status", [(":status", "200"), (":status", "404")], .violation),
        head(":status after a field", [("x", "y"), (":status", "200")], .violation),
        head("an unknown pseudo-field", [(":status", "200"), (":odd", "y")], .violation),
        head("a request's pseudo-field", [(":status", "200"), (":path", "/")], .violation),
        head("status 2x0", [(":status", "2x0")], .violation), head("status 99", [(":status", "99")], .violation),
        head("status 1000", [(":status", "1000")], .violation), head("an empty status", [(":status", "")], .violation),
        head("status 101", [(":status", "101")], .violation),
        head("status 999", [(":status", "999")], .response(999, "hello")),
        field("X", "y", .violation), field("x", "a\0b", .violation), field("x", "a\rb", .violation),
        field("x", "a\nb", .violation), field("x", "a\r\nb: c", .violation), field("x\0", "y", .violation),
        field("x y", "z", .violation), field("x:", "z", .violation), field("", "y", .violation),
        field("x", " y", .either(.violation, .fields(["x": "y"]))),
        field("x", "y ", .either(.violation, .fields(["x": "y"]))),
        field("x", "", .fields(["x": ""])), field("x", "café", .fields(["x": "café"])),
        field("connection", "close", .violation), field("transfer-encoding", "chunked", .violation),
        field("keep-alive", "timeout=5", .violation), field("upgrade", "websocket", .violation),
    ]

    static let http2LargeHeads: [HostileCase] = [
        large("a field of 60,000 bytes", 1, 60_000, .hello),
        large("100 KB in 50 fields", 50, 2_000, .either(.hello, .idle)),
        large("300 KB in 100 fields", 100, 3_000, .violation),
        large("1,000 fields", 999, 1, .hello), large("2,000 fields", 1_999, 1, .hello),
        large("4,000 fields", 3_999, 1, .hello), large("5,001 fields", 5_000, 1, .violation),
        compressed("a field that is referenced 1,000 times by its index", indexed(1_000), .violation),
        compressed("an index that is not in the table", Data([0x88, 0xFF, 0x20]), .violation),
        compressed("index 0", Data([0x88, 0x80]), .violation),
        compressed(
            "an integer past 2^32", Data([0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]), .violation),
        compressed("a header table of 2^20", Data([0x3F, 0xE1, 0xFF, 0x3F, 0x88]), .violation),
        compressed("a truncated literal", Data([0x88, 0x00, 0x05, 0x61]), .violation),
        compressed("Huffman code with bad padding", Data([0x88, 0x00, 0x01, 0x61, 0x81, 0x00]), .violation),
        compressed("a literal of 2^28 bytes", Data([0x88, 0x00, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F]), .violation),
    ]

    static let http2Bodies: [HostileCase] = [
        length("5", .hello), length("10", .either(.violation, .truncated)), length("3", .violation),
        length("0", .violation), length("5abc", .violation), length("-1", .violation), length("", .violation),
        length("99999999999999999999", .violation),
        head("two lengths", [(":status", "200"), ("content-length", "5"), ("content-length", "10")], .violation),
        http2("no body", HTTP2.headers([(":status", "200")], .complete), .empty),
        http2(
            "length 5 and no body", HTTP2.headers(sized, .complete), .either(.violation, .truncated)),
        http2("length 5 in response to HEAD", HTTP2.headers(sized, .complete), .empty).calling(.head),
        http2("a body after HEAD", HTTP2.headers(sized) + HTTP2.data(), .either(.empty, .violation)).calling(.head),
        http2(
            "304 with a length",
            HTTP2.headers([(":status", "304"), ("content-length", "5")], .complete), .response(304, "")),
        http2(
            "204 with a body", HTTP2.headers([(":status", "204")]) + HTTP2.data(),
            .either(.response(204, ""), .violation)),
        http2("empty DATA before the body", HTTP2.headers() + HTTP2.data("", []) + HTTP2.data(), .hello),
        http2("trailers", HTTP2.headers() + HTTP2.data("hello", []) + trailers([("x", "y")]), .fields(["x": nil])),
        http2(
            "trailers with :status", HTTP2.headers() + HTTP2.data("hello", []) + trailers([(":status", "200")]),
            .violation),
        http2(
            "trailers without END_STREAM", HTTP2.headers() + HTTP2.data("hello", []) + HTTP2.headers([("x", "y")]),
            .violation),
        http2("103, then 200", HTTP2.headers([(":status", "103")]) + HTTP2.hello(), .hello),
        http2(
            "103 at the end of the stream", HTTP2.headers([(":status", "103")], .complete), .violation),
        http2("103, then DATA", HTTP2.headers([(":status", "103")]) + HTTP2.data(), .violation),
        http2("gzip", HTTP2.headers(packed) + HTTP2.frame(.data, .endStream, Gzip.hello), .unpacked),
        http2(
            "truncated gzip", HTTP2.headers(packed) + HTTP2.frame(.data, .endStream, Gzip.hello.prefix(20)),
            .undecodable),
        http2("a body without an end, then silence", HTTP2.headers() + HTTP2.data("hel", []), .idle).stalling,
    ]

    private static let sized = [(":status", "200"), ("content-length", "5")]
    private static let packed = [(":status", "200"), ("content-encoding", "gzip")]

    private static func head(_ name: String, _ fields: [(String, String)], _ expected: HostileOutcome) -> HostileCase {
        http2(name, HTTP2.headers(fields) + HTTP2.data(), expected)
    }

    private static func field(_ name: String, _ value: String, _ expected: HostileOutcome) -> HostileCase {
        head(
            "field \(name.debugDescription) with \(value.prefix(10).debugDescription)",
            [(":status", "200"), (name, value)], expected)
    }

    private static func length(_ value: String, _ expected: HostileOutcome) -> HostileCase {
        head("length \"\(value)\" for 5 bytes", [(":status", "200"), ("content-length", value)], expected)
    }

    private static func trailers(_ fields: [(String, String)]) -> Data {
        HTTP2.headers(fields, .complete)
    }

    private static func compressed(_ name: String, _ block: Data, _ expected: HostileOutcome) -> HostileCase {
        http2("HPACK: \(name)", HTTP2.frame(.headers, .endHeaders, block) + HTTP2.data(), expected)
    }

    /// Returns a block that adds a field of 4,000 bytes to the table, and then references the field `count` times by
    /// its index.
    private static func indexed(_ count: Int) -> Data {
        Data([0x88, 0x40, 0x01, 0x78, 0x7F, 0xA1, 0x1E]) + Data(long(4_000).utf8) + Data(repeating: 0xBE, count: count)
    }

    /// Returns a case with `count` fields in HEADERS and CONTINUATION frames.
    private static func large(_ name: String, _ count: Int, _ length: Int, _ expected: HostileOutcome) -> HostileCase {
        let block = HTTP2.block([(":status", "200")] + (0..<count).map { ("x-\($0)", long(length)) })
        let parts = stride(from: 0, to: block.count, by: 16_000).map { block.dropFirst($0).prefix(16_000) }
        let frames = parts.enumerated().reduce(into: Data()) { frames, part in
            frames += HTTP2.frame(
                part.offset == 0 ? .headers : .continuation, part.offset == parts.count - 1 ? .endHeaders : [],
                Data(part.element))
        }
        return http2(name, frames + HTTP2.data(), expected)
    }
}
