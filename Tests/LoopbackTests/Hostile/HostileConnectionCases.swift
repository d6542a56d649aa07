import Foundation
import Networking

/// Connections that are misused, silent, or lost.
extension HostileCase {
    /// RFC 9112 section 9.2: unsolicited bytes are never the response to a later request.
    static let unsolicited: [HostileCase] = [
        again("a second response in the same write", String.hello + evil),
        again("half a response in the same write", .hello + "HTTP/1.1 200 OK\r\nContent-"),
        again("a line break in the same write", .hello + "\r\n"),
        again("a second response 50 ms later", .hello, later: evil),
        again("half a response 50 ms later", .hello, later: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
        again("one byte 50 ms later", .hello, later: "H"),
        again("a line break 50 ms later", .hello, later: "\r\n"),
        again("100 Continue 50 ms later", .hello, later: "HTTP/1.1 100 Continue\r\n\r\n"),
        again("garbage 50 ms later", .hello, later: "garbage"),
        HostileCase(
            "408 50 ms later, then a close",
            [
                [
                    .readHead, .text(.hello), .pause(milliseconds: 50),
                    .text("HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\n\r\nslow"),
                ],
                .reply(.second),
            ], [.hello, .second]
        ).calling(.get, .later).on(
            .urlSessionOnLinux, .hello, .either(.second, .response(408, "slow")),
            because: "Foundation may read the 408 as the response to the next request"),
        again(
            "a second response after chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String.chunked)",
            later: evil),
    ]

    static let keepAlive: [HostileCase] = [
        HostileCase(
            "Connection: close, but left open",
            [
                .twice("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", unsolicited: evil),
                .reply(.second),
            ], [.hello, .second]),
        HostileCase(
            "Connection: close in capitals, but left open",
            [
                [.readHead, .text("HTTP/1.1 200 OK\r\nCONNECTION: CLOSE\r\nContent-Length: 5\r\n\r\nhello")]
                    + .reply(evil), .reply(.second),
            ],
            [.hello, .second]),
        HostileCase(
            "Connection: keep-alive, but closed",
            [.ok("Connection: keep-alive", "Content-Length: 5", then: .close), .reply(.second)], [.hello, .second]),
        HostileCase(
            "Connection: keep-alive, but reset",
            [.ok("Connection: keep-alive", "Content-Length: 5", then: .reset), .reply(.second)], [.hello, .second]),
        HostileCase(
            "left open, and closed at the next request",
            [[.readHead, .text(.hello), .readHead], .reply(.second)], [.hello, .second]),
        HostileCase(
            "left open, and reset at the next request",
            [[.readHead, .text(.hello), .readHead, .reset], .reply(.second)], [.hello, .second]),
        HostileCase(
            "left open, and half a status line for the next request",
            [[.readHead, .text(.hello), .readHead, .text("HTTP/1.")], .reply(.second)],
            [.hello, .either(.lostBeforeHead, .second)]),
        HostileCase(
            "HTTP/1.0 without keep-alive, but left open",
            [[.readHead, .text("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")] + .reply(evil), .reply(.second)],
            [.hello, .second]),
        HostileCase("Connection: close without a length, and left open", .ok("Connection: close"), .idle).stalling,
        HostileCase(
            "Keep-Alive: timeout=0",
            [.twice("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 5\r\n\r\nhello"), .reply(.second)],
            [.hello, .second]),
        HostileCase(
            "Keep-Alive: timeout=-1, max=abc",
            [
                .twice("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=-1, max=abc\r\nContent-Length: 5\r\n\r\nhello"),
                .reply(.second),
            ], [.hello, .second]),
    ]

    static let silence: [HostileCase] = [
        HostileCase("nothing read, nothing written", [.ignore], .idle).stalling,
        HostileCase("the request read, nothing written", [.readHead, .drain], .idle).stalling,
        HostileCase("a head, then silence", .ok("Content-Length: 5", body: ""), .idle).stalling,
        HostileCase("a part of the body, then silence", .ok("Content-Length: 5", body: "hel"), .idle).stalling,
        HostileCase("an immediate close", [], .lostBeforeHead),
        HostileCase("an immediate reset", [.reset], .either(.lostBeforeHead, .kind(.cannotConnect)))
            .on(.urlSessionOnLinux, .either(.lostBeforeHead, .malformed), because: "Foundation has one code for both"),
        HostileCase("a reset 30 ms after the connection", [.pause(milliseconds: 30), .reset], .lostBeforeHead),
        HostileCase("an immediate half-close", [.closeWriting, .drain], .lostBeforeHead),
        HostileCase("a close after the request", [.readHead], .lostBeforeHead),
        HostileCase("a reset after the request", [.readHead, .reset], .lostBeforeHead),
        HostileCase("a close 50 ms after the request", [.readHead, .pause(milliseconds: 50)], .lostBeforeHead),
        // RFC 9112 section 9.2 also applies here, but on a new connection the client cannot know when the server sent
        // the bytes.
        HostileCase(
            "a response before the request", [.text(.hello), .drain], .either(.hello, .lostBeforeHead, .malformed)),
        HostileCase(
            "a response before the request, then a close", [.text(.hello), .pause(milliseconds: 20)],
            .either(.hello, .lostBeforeHead, .malformed)),
        HostileCase(
            "a body sent byte by byte",
            [
                .readHead, .text("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n"),
                .drip(Data(long(12).utf8), milliseconds: 50), .drain,
            ], .size(12)
        ).stalling,
    ]

    private static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nEVIL!"

    /// Returns a case with unsolicited bytes in the first response or 50 ms after it, and a second call 500 ms later.
    private static func again(_ name: String, _ first: String, later: String = "") -> HostileCase {
        let script: [HostileStep] = .twice(first, pause: later.isEmpty ? 0 : 50, unsolicited: later)
        let hostile = HostileCase("unsolicited: \(name)", [script, .reply(.second)], [.hello, .second])
            .calling(.get, .later)
        let confused = HostileOutcome.either(.second, .response(200, "EVIL!"), .malformed)
        return later.isEmpty
            ? hostile
            : hostile.on(
                .urlSessionOnLinux, .hello, confused,
                because: "Foundation may read the bytes as the response to the next request")
    }
}
