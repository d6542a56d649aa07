import Foundation

@testable import Networking

/// HTTP/2 streams and connections that end too early (RFC 9113 sections 5.4, 6.8 and 8.7).
extension HostileCase {
    static let http2Resets: [HostileCase] = HTTP2.errorCodes.flatMap { name, code in
        [
            HostileCase("HTTP/2: \(name) before the head", .http2(HTTP2.reset(code)), beforeHead(code)).through(.http2),
            reset(name, code, after: HTTP2.headers(), "the head"),
            reset(name, code, after: HTTP2.headers() + HTTP2.data("hel", []), "a part of the body"),
            http2("\(name) after the body", HTTP2.hello() + HTTP2.reset(code), .hello),
        ]
    }

    /// Refused streams and similar cases. If the server has not processed a request, the client may repeat the request,
    /// whatever its method is.
    static let http2Refusals: [HostileCase] = [
        repeated("REFUSED_STREAM", HTTP2.reset(7), .get), repeated("REFUSED_STREAM to POST", HTTP2.reset(7), post),
        repeated("GOAWAY with last stream 0", HTTP2.goAway(last: 0), .get),
        repeated("GOAWAY with last stream 0 to POST", HTTP2.goAway(last: 0), post),
        repeated("GOAWAY with last stream 0, then a close", HTTP2.goAway(last: 0), .get, then: .close),
        repeated("GOAWAY with last stream 0 to POST, then a close", HTTP2.goAway(last: 0), post, then: .close),
        repeated("GOAWAY with last stream 0, then a reset", HTTP2.goAway(last: 0), .get, then: .reset),
        http2(
            "NO_ERROR after a part of a body of known length",
            HTTP2.headers([(":status", "200"), ("content-length", "5")]) + HTTP2.data("hel", []) + HTTP2.reset(0),
            .either(.lostAfterHead, .truncated, .lostBeforeHead)),
        http2(
            "REFUSED_STREAM in the same packet as the head", HTTP2.headers() + HTTP2.reset(7),
            .either(.lostAfterHead, .lostBeforeHead, .notProcessed)),
        HostileCase(
            "HTTP/2: HTTP_1_1_REQUIRED after a part of the body, from a server that supports HTTP/1.1",
            [
                [
                    .readPreface, .readHeaders,
                    .bytes(HTTP2.settings() + HTTP2.headers() + HTTP2.data("hel", [])), .pause(milliseconds: 50),
                    .bytes(HTTP2.reset(0xD)), .drain,
                ], .reply(String.hello),
            ], [.lostAfterHead]
        ).through(.http2),
        http2("GOAWAY with last stream 0, on each connection", HTTP2.goAway(last: 0), then: .close, .notProcessed),
    ]

    static let http2GoAways: [HostileCase] = [
        http2("GOAWAY with last stream 1, then the response", HTTP2.goAway(last: 1) + HTTP2.hello(), .hello),
        http2("GOAWAY with last stream 2^31-1, then response", HTTP2.goAway(last: 0x7FFF_FFFF) + HTTP2.hello(), .hello),
        http2("GOAWAY with last stream 1, then a close", HTTP2.goAway(last: 1), then: .close, .lostBeforeHead),
        http2("GOAWAY with last stream 1, then silence", HTTP2.goAway(last: 1), .idle).stalling,
        http2("GOAWAY between head and body", HTTP2.headers() + HTTP2.goAway(last: 1) + HTTP2.data(), .hello),
        http2(
            "GOAWAY between head and body, then a close", HTTP2.headers() + HTTP2.goAway(last: 1), then: .close,
            .either(.truncated, .lostAfterHead)),
        http2("GOAWAY with an error after the body", HTTP2.hello() + HTTP2.goAway(last: 1, 0xB), then: .close, .hello),
        http2("GOAWAY with an error before the head", HTTP2.goAway(last: 1, 2), then: .close, .lostBeforeHead),
        http2("GOAWAY on a stream", HTTP2.frame(.goAway, Data(count: 8)) + HTTP2.hello(), .violation),
        http2("GOAWAY of 4 bytes", HTTP2.frame(.goAway, on: 0, Data(count: 4)) + HTTP2.hello(), .violation),
        http2(
            "GOAWAY with 16 KB of text",
            HTTP2.frame(.goAway, on: 0, HTTP2.bytes(1) + Data(count: 16_004)) + HTTP2.hello(), .hello),
        HostileCase(
            "HTTP/2: GOAWAY after the body, and another call",
            [.http2(HTTP2.hello() + HTTP2.goAway(last: 1)), .http2(HTTP2.hello())], [.hello, .hello]
        ).through(.http2).calling(.get, .later),
        next("a second response", HTTP2.hello()), next("DATA", HTTP2.data("more", [])),
        next("RST_STREAM", HTTP2.reset(0)),
        next("a response on the next stream", HTTP2.hello(on: 3), responseBeforeRequest),
        HostileCase(
            "HTTP/2: upload: 413, then NO_ERROR",
            .http2(HTTP2.headers([(":status", "413")]) + HTTP2.data("large") + HTTP2.reset(0)),
            .either(.response(413, "large"), .lostBeforeHead, .lostAfterHead)
        ).through(.http2).calling(.put(1 << 20)),
        HostileCase("HTTP/2: upload: CANCEL", .http2(HTTP2.reset(8)), .lostBeforeHead).through(.http2).calling(
            .put(1 << 20)),
        HostileCase("HTTP/2: no WINDOW_UPDATE", .http2(Data()), .idle).through(.http2).calling(.put(1 << 20)).stalling,
    ]

    static let http2Closes = (0..<exchange.count).map {
        cut(to: $0, by: .close, $0 < headEnd ? .lostBeforeHead : .either(.truncated, .lostAfterHead))
    }
    static let http2ConnectionResets = (0..<exchange.count).map {
        cut(to: $0, by: .reset, $0 < headEnd ? .lostBeforeHead : .lostAfterHead)
    }

    /// Calls after a lost connection. The engine must open another connection.
    static let http2NextCalls: [HostileCase] = [HostileCall.get, .later].flatMap { call in
        [0, 8, 12, headEnd].flatMap { count in
            [[HostileStep].End.close, .reset].map { end in
                let first = cut(to: count, by: end, .lostBeforeHead)
                return HostileCase(
                    "\(first.name), and another call \(call.pause > .zero ? "later" : "at once")",
                    first.scripts + [.http2(HTTP2.hello())],
                    [count < headEnd ? .lostBeforeHead : .either(.lostAfterHead, .truncated), .hello]
                ).through(.http2).calling(.get, call)
            }
        }
    }

    private static let exchange = HTTP2.settings() + HTTP2.headers([(":status", "200"), ("x", "y")]) + HTTP2.data()
    private static let headEnd = exchange.count - HTTP2.data().count
    private static let post = HostileCall(method: .post, bodyCount: 5)

    /// Returns a case with a pause before the reset, so that the client reads the preceding frames separately.
    private static func reset(_ name: String, _ code: UInt32, after frames: Data, _ place: String) -> HostileCase {
        let script: [HostileStep] =
            .http2(frames).dropLast() + [.pause(milliseconds: 30), .bytes(HTTP2.reset(code)), .drain]
        let expected: HostileOutcome =
            switch code {
            // libcurl treats NO_ERROR as the end of the stream.
            case 0x0: .either(.lostAfterHead, .truncated, .response(200, ""), .response(200, "hel"))
            case 0x1: .either(.lostAfterHead, .violation)
            default: .lostAfterHead
            }
        return HostileCase("HTTP/2: \(name) after \(place)", script, expected).through(.http2)
    }

    private static func beforeHead(_ code: UInt32) -> HostileOutcome {
        switch code {
        case 0x7: .either(.lostBeforeHead, .notProcessed)
        case 0x1: .either(.lostBeforeHead, .violation)
        case 0xD: .either(.lostBeforeHead, .violation)  // This server does not support HTTP/1.1.
        default: .lostBeforeHead
        }
    }

    private static func repeated(
        _ name: String, _ refusal: Data, _ call: HostileCall, then end: [HostileStep].End = .hold
    ) -> HostileCase {
        let refusing: [HostileStep] = [.readPreface, .readHeaders, .bytes(HTTP2.settings() + refusal)]
        let open: [HostileStep] = [.readHeaders, .bytes(HTTP2.hello(on: 3)), .drain]
        let first = refusing + (end == .hold ? open : end.http2Steps)
        return HostileCase("HTTP/2: the call is repeated after \(name)", [first, .http2(HTTP2.hello())], [.hello])
            .through(.http2).calling(call)
    }

    /// Returns a case in which frames follow a complete response, and another call is made.
    private static func next(_ name: String, _ frames: Data, _ expected: HostileOutcome = .second) -> HostileCase {
        let first: [HostileStep] = .http2(HTTP2.hello()).dropLast() + [.pause(milliseconds: 50), .bytes(frames)]
        let second = HTTP2.headers(on: 3) + HTTP2.data("second", on: 3)
        return HostileCase(
            "HTTP/2: \(name) after a complete response, and another call",
            [first + [.readHeaders, .bytes(second), .drain], .http2(HTTP2.headers() + HTTP2.data("second"))],
            [.hello, expected]
        ).through(.http2).calling(.get, .later)
    }

    /// The outcome if the server responds on a stream before it has received the request. A libcurl that does not check
    /// an idle connection reads this response only after it has sent the request.
    private static var responseBeforeRequest: HostileOutcome {
        #if os(Linux)
            if (try? CurlLibrary.loaded.get().has(.uncheckedConnections)) == true { return .either(.second, .hello) }
        #endif
        return .second
    }

    private static func cut(to count: Int, by end: [HostileStep].End, _ expected: HostileOutcome) -> HostileCase {
        let script: [HostileStep] = [.readPreface, .readHeaders, .bytes(exchange.prefix(count))] + end.http2Steps
        return HostileCase("HTTP/2: a \(end) after \(count) bytes", script, expected).through(.http2)
    }
}
