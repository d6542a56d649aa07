import Foundation
import Networking

/// Frames and their order (RFC 9113 sections 4 to 6). In a case that `frames` creates, a valid response follows.
extension HostileCase {
    static let http2Frames: [HostileCase] = [
        frames("no frame", Data(), .hello),
        frames("an unknown type", HTTP2.frame(.unknown, Data("odd".utf8)), .hello),
        frames("an unknown type on stream 0", HTTP2.frame(.unknown, on: 0, Data(count: 16_384)), .hello),
        frames("PRIORITY", HTTP2.frame(.priority, Data([0, 0, 0, 0, 15])), .hello),
        frames("PRIORITY of 4 bytes", HTTP2.frame(.priority, Data(count: 4)), .either(.violation, .hello)),
        frames("a frame larger than 16 KiB", HTTP2.frame(.unknown, Data(count: 16_385)), .violation),
        frames("DATA larger than 16 KiB", HTTP2.headers() + HTTP2.data(long(16_385)), .violation),
        frames("a frame of length 2^24 - 1", HTTP2.frame(.data, length: 0xFF_FFFF), .violation),
        frames("PING", HTTP2.frame(.ping, on: 0, Data(count: 8)), .hello),
        frames("unsolicited PING acknowledgement", HTTP2.frame(.ping, .acknowledgement, on: 0, Data(count: 8)), .hello),
        frames("PING of 7 bytes", HTTP2.frame(.ping, on: 0, Data(count: 7)), .violation),
        frames("PING on a stream", HTTP2.frame(.ping, Data(count: 8)), .violation),
        frames("WINDOW_UPDATE past 2^31 - 1", window(0x7FFF_FFFF, on: 0), .violation),
        frames("WINDOW_UPDATE past 2^31 - 1 on the stream", window(0x7FFF_FFFF), .violation),
        frames("WINDOW_UPDATE of 0", window(0, on: 0), .violation),
        frames("WINDOW_UPDATE of 0 on the stream", window(0), .violation),
        frames("WINDOW_UPDATE on an idle stream", window(1, on: 9), .violation),
        frames("WINDOW_UPDATE of 3 bytes", HTTP2.frame(.windowUpdate, on: 0, Data(count: 3)), .violation),
        frames("RST_STREAM on stream 0", HTTP2.reset(8, on: 0), .violation),
        frames("RST_STREAM on an idle stream", HTTP2.reset(8, on: 9), .violation),
        frames("RST_STREAM of 3 bytes", HTTP2.frame(.reset, Data(count: 3)), .violation),
        // The client disables server push. After the server has acknowledged this setting, RFC 9113 section 8.4 forbids
        // PUSH_PROMISE.
        frames("PUSH_PROMISE", settings(.acknowledgement) + pushed, .violation),
        frames("PUSH_PROMISE before the acknowledgement", pushed, .either(.hello, .violation)),
        frames("PUSH_PROMISE on stream 0", HTTP2.frame(.pushPromise, .endHeaders, on: 0, HTTP2.bytes(2)), .violation),
    ]

    static let http2Settings: [HostileCase] = [
        frames("SETTINGS acknowledgement with a payload", settings(.acknowledgement, (3, 1)), .violation),
        frames(
            "SETTINGS acknowledged twice", settings(.acknowledgement) + settings(.acknowledgement),
            .either(.hello, .violation)),
        frames("SETTINGS on a stream", HTTP2.frame(.settings), .violation),
        frames("SETTINGS of 5 bytes", HTTP2.frame(.settings, on: 0, Data(count: 5)), .violation),
        frames("SETTINGS with an unknown setting", settings([], (0xBEEF, 7)), .hello),
        frames("SETTINGS with ENABLE_PUSH 2", settings([], (2, 2)), .violation),
        frames("SETTINGS with a window of 2^31", settings([], (4, 0x8000_0000)), .violation),
        frames("SETTINGS with a frame limit of 100 bytes", settings([], (5, 100)), .violation),
        frames("SETTINGS with a frame limit of 2^24", settings([], (5, 0x100_0000)), .violation),
        frames("SETTINGS with no concurrent streams", settings([], (3, 0)), .hello),
        frames("SETTINGS with a header table of 0", settings([], (1, 0)), .hello),
        frames("SETTINGS with a header table of 2^32 - 1", settings([], (1, .max)), .hello),
        raw("no SETTINGS before the response", HTTP2.hello(), .violation),
        raw("a response of HTTP/1.1", Data(String.hello.utf8), .violation),
        raw("garbage", Data("garbage garbage garbage\r\n\r\n".utf8), .violation),
        raw("zeros", Data(count: 100), .violation),
        raw("the client's own preface", HTTP2.preface + HTTP2.settings() + HTTP2.hello(), .violation),
        http2("nothing but SETTINGS", Data(), .idle).stalling,
        HostileCase("HTTP/2: nothing", [.drain], .idle).through(.http2).stalling,
        HostileCase("HTTP/2: nothing, then a close", [.readPreface, .readHeaders], .lostBeforeHead).through(.http2),
        HostileCase("HTTP/2: an immediate reset", [.reset], .either(.lostBeforeHead, .kind(.cannotConnect)))
            .through(.http2),
        flood("PING", HTTP2.frame(.ping, on: 0, Data(count: 8))), flood("SETTINGS", HTTP2.settings()),
        flood("PRIORITY", HTTP2.frame(.priority, Data([0, 0, 0, 0, 15]))),
        flood("empty DATA", HTTP2.data("", []), after: HTTP2.headers()),
        flood("empty CONTINUATION", HTTP2.frame(.continuation), after: HTTP2.headers([(":status", "200")], [])),
        flood("103", HTTP2.headers([(":status", "103"), ("link", "</a.css>")])),
    ]

    static let http2Order: [HostileCase] = [
        frames("DATA before HEADERS", HTTP2.data("early", []), .violation),
        frames("DATA on stream 0", HTTP2.data("odd", [], on: 0), .violation),
        frames("DATA on an idle stream", HTTP2.data("odd", [], on: 9), .violation),
        frames("DATA on an even stream", HTTP2.data("odd", [], on: 2), .violation),
        frames("HEADERS on stream 0", HTTP2.headers(on: 0), .violation),
        frames("HEADERS on an idle stream", HTTP2.headers(on: 9), .violation),
        frames("HEADERS on an even stream", HTTP2.headers(on: 2), .violation),
        http2("HEADERS twice", HTTP2.headers() + HTTP2.headers() + HTTP2.data(), .violation),
        frames("CONTINUATION alone", HTTP2.frame(.continuation, .endHeaders, HTTP2.block([("x", "y")])), .violation),
        frames("CONTINUATION on stream 0", HTTP2.frame(.continuation, .endHeaders, on: 0), .violation),
        http2("DATA instead of CONTINUATION", HTTP2.headers([(":status", "200")], []) + HTTP2.data(), .violation),
        http2(
            "CONTINUATION of another stream",
            HTTP2.headers([(":status", "200")], []) + HTTP2.frame(.continuation, .endHeaders, on: 3) + HTTP2.data(),
            .violation),
        http2("a missing CONTINUATION", HTTP2.headers([(":status", "200")], []), .idle).stalling,
        http2("HEADERS in three frames", split + HTTP2.data(), .fields(["x": "y"])),
        http2("padding", padded(Data("\u{3}hello\0\0\0".utf8)), .hello),
        http2("padding as long as its frame", padded(Data("\u{9}hello\0\0\0".utf8)), .violation),
        http2("padding longer than its frame", padded(Data([255]) + Data("hello".utf8)), .violation),
        http2("padding without its length", padded(Data()), .violation),
        http2(
            "HEADERS with padding longer than its frame",
            HTTP2.frame(.headers, [.endHeaders, .padded], Data([255, 0])), .violation),
        http2(
            "HEADERS of 3 bytes with priority", HTTP2.frame(.headers, [.endHeaders, .priority], Data(count: 3)),
            .violation),
    ]

    private static let push = [(":method", "GET"), (":scheme", "http"), (":authority", "127.0.0.1"), (":path", "/p")]

    private static let pushed = HTTP2.frame(.pushPromise, .endHeaders, HTTP2.bytes(2) + HTTP2.block(push))

    private static let split =
        HTTP2.headers([(":status", "200")], []) + HTTP2.frame(.continuation, [], HTTP2.block([("x", "y")]))
        + HTTP2.frame(.continuation, .endHeaders, HTTP2.block([("z", "w")]))

    private static func padded(_ payload: Data) -> Data {
        HTTP2.headers() + HTTP2.frame(.data, [.endStream, .padded], payload)
    }

    private static func window(_ increment: UInt32, on stream: UInt32 = 1) -> Data {
        HTTP2.frame(.windowUpdate, on: stream, HTTP2.bytes(increment))
    }

    private static func settings(_ flags: HTTP2.Flags, _ values: (UInt16, UInt32)...) -> Data {
        HTTP2.frame(.settings, flags, on: 0, HTTP2.settingsPayload(values.map { (identifier: $0.0, value: $0.1) }))
    }

    private static func frames(_ name: String, _ frames: Data, _ expected: HostileOutcome) -> HostileCase {
        http2("\(name), then a response", frames + HTTP2.hello(), expected)
    }

    /// Returns a case in which the connection does not begin with the server's SETTINGS.
    private static func raw(_ name: String, _ bytes: Data, _ expected: HostileOutcome) -> HostileCase {
        HostileCase("HTTP/2: \(name)", [.readPreface, .readHeaders, .bytes(bytes), .drain], expected).through(.http2)
    }

    private static func flood(_ name: String, _ frame: Data, after start: Data = Data()) -> HostileCase {
        let block = (0..<2_000).reduce(into: Data()) { data, _ in data += frame }
        let script: [HostileStep] = [
            .readPreface, .readHeaders, .bytes(HTTP2.settings() + start), .flood(block, upTo: 2 << 20), .drain,
        ]
        return HostileCase("HTTP/2: endless \(name)", script, .either(.idle, .violation, .tooLarge)).through(.http2)
            .stalling
    }
}

extension HostileCase {
    /// Returns a case in which the server sends its SETTINGS and these frames after it has received the request.
    static func http2(
        _ name: String, _ frames: Data, then end: [HostileStep].End = .hold, _ expected: HostileOutcome
    ) -> HostileCase {
        HostileCase("HTTP/2: \(name)", .http2(frames, then: end), expected).through(.http2)
    }
}

extension [HostileStep] {
    static func http2(_ frames: Data, then end: End = .hold) -> Self {
        [.readPreface, .readHeaders, .bytes(HTTP2.settings() + frames)] + end.http2Steps
    }
}
