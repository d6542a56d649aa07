import Foundation
import Networking

/// Informational responses, responses without a body, and responses that arrive too early.
extension HostileCase {
    static let informational: [HostileCase] = [
        HostileCase("100, then 200", .reply("\(continueHead)\(String.hello)"), .hello),
        HostileCase(
            "100 in a separate packet",
            [.readHead, .text(continueHead), .pause(milliseconds: 30), .text(.hello), .drain], .hello),
        HostileCase(
            "100 with fields", .reply("HTTP/1.1 100 Continue\r\nX: v\r\nContent-Length: 3\r\n\r\n\(String.hello)"),
            .fields(["X": nil])),
        HostileCase(
            "20 times 102", .reply(String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 20) + .hello), .hello),
        HostileCase(
            "103 with a Link", .reply("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n\(String.hello)"),
            .fields(["Link": nil])),
        HostileCase("199", .reply("HTTP/1.1 199 Odd\r\n\r\n\(String.hello)"), .hello),
        HostileCase("100, then 204", .reply("\(continueHead)HTTP/1.1 204 No Content\r\n\r\n"), .response(204, "")),
        HostileCase("100, then a close", .reply(continueHead, then: .close), .lostBeforeHead),
        HostileCase("100, then a reset", .reply(continueHead, then: .reset), .lostBeforeHead),
        HostileCase("100, then silence", .reply(continueHead), .idle).stalling,
        HostileCase("100, then garbage", .reply("\(continueHead)garbage\r\n\r\n"), .malformed),
        HostileCase("truncated 100", .reply("HTTP/1.1 100 Continue\r\n", then: .close), .lostBeforeHead).on(
            .urlSessionOnLinux, .endsTheProcess, because: "L44"),
        // RFC 9110 section 15.2.2: 101 is valid only for requests with Upgrade.
        HostileCase("101 without Upgrade, then silence", .reply("HTTP/1.1 101 Switching Protocols\r\n\r\n"), .malformed)
            .stalling.on(.urlSessionOnLinux, .idle, because: "Foundation does not report the 101"),
        HostileCase(
            "101 without Upgrade, then a close", .reply("HTTP/1.1 101 Switching Protocols\r\n\r\n", then: .close),
            .malformed
        ).on(.urlSessionOnLinux, .lostBeforeHead, because: "Foundation does not report the 101"),
        HostileCase(
            "101 without Upgrade, then 200",
            .reply("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n\(String.hello)"), .malformed
        ).stalling.on(.urlSessionOnLinux, .idle, because: "Foundation does not report the 101"),
        HostileCase(
            "endless 100",
            [.readHead, .flood(Data(String(repeating: continueHead, count: 2_000).utf8), upTo: 4 << 20), .drain],
            .either(.tooLarge, .idle)
        ).on(.urlSessionOnLinux, .either(.tooLarge, .idle, .malformed), because: "one error code for both kinds"),
        HostileCase(
            "eight times 100, every 100 ms, then silence",
            [.readHead] + Array(repeating: [.text(continueHead), .pause(milliseconds: 100)], count: 8).flatMap(\.self)
                + [.drain], .either(.tooLarge, .idle)
        ).stalling,
    ]

    static let bodiless: [HostileCase] = [
        pair("HEAD with a body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", .empty).calling(.head, .get),
        pair(
            "HEAD with a body, in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String.chunked)",
            .empty
        ).calling(.head, .get),
        pair("204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", .response(204, "")),
        pair("204 with a body and without a length", "HTTP/1.1 204 No Content\r\n\r\nhello", .response(204, "")),
        pair(
            "204 with a body in chunks",
            "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n\(String.chunked)", .response(204, "")),
        pair("304 with Content-Length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", .response(304, "")),
        pair("304 with a body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello", .response(304, "")),
        pair(
            "304 with Transfer-Encoding", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
            .response(304, "")),
        pair(
            "304 with Content-Encoding",
            "HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\nContent-Length: 30\r\n\r\n", .response(304, "")),
        pair(
            "HEAD with Content-Encoding", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 30\r\n\r\n",
            .empty
        ).calling(.head, .get),
        pair("HEAD with a length of 2^63 - 1", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n", .empty)
            .calling(.head, .get).on(.urlSessionOnLinux, .endsTheProcess, because: "L18"),
        // 205 is framed like any other response (RFC 9112 section 6.3).
        pair("205 with length 0", "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", .response(205, "")),
        pair(
            "205 with a body", "HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nhello", .response(205, "hello")),
    ]

    static let early: [HostileCase] = [
        upload("413, then a half-close", [.text(large), .closeWriting, .drain], .response(413, "large")),
        // If the server closes a connection with unread bytes, the client receives a reset, possibly before the
        // response.
        upload("413, then a close", [.text(large)], .either(.response(413, "large"), .lostBeforeHead, .lostAfterHead)),
        upload("413, then nothing read", [.text(large), .ignore], .response(413, "large")).stalling,
        upload("413, then everything read", [.text(large), .drain], .response(413, "large")),
        upload(
            "413 after a part of the body", [.readBody(100_000), .text(large), .closeWriting, .drain],
            .response(413, "large")),
        upload("200, then everything read", [.text(.hello), .pause(milliseconds: 50), .drain], .hello),
        upload("200, then nothing read", [.text(.hello), .ignore], .either(.hello, .idle)).stalling,
        upload(
            "200 without a length, then a close", [.text("HTTP/1.1 200 OK\r\n\r\nhello"), .closeWriting, .drain], .hello
        ),
        upload("a reset", [.reset], .lostBeforeHead),
        upload("a reset after a part of the body", [.readBody(100_000), .reset], .lostBeforeHead),
        upload("a close after a part of the body", [.readBody(100_000)], .lostBeforeHead),
        upload("nothing read", [.ignore], .idle).stalling,
        upload("garbage", [.text("garbage\r\n\r\n"), .drain], .malformed),
        upload("a truncated head", [.text("HTTP/1.1 413 No\r\nX: "), .closeWriting, .drain], .lostBeforeHead).on(
            .urlSessionOnLinux, .endsTheProcess, because: "L44"),
    ]

    private static let continueHead = "HTTP/1.1 100 Continue\r\n\r\n"
    private static let large = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge"

    /// Returns a case with a response that must not affect the response to the next call.
    private static func pair(_ name: String, _ first: String, _ expected: HostileOutcome) -> HostileCase {
        HostileCase(name, [.twice(first), .reply(.second)], [expected, .second])
    }

    /// Returns a case with a PUT of 16 MiB; the server performs `steps` after it has read the request's head.
    private static func upload(_ name: String, _ steps: [HostileStep], _ expected: HostileOutcome) -> HostileCase {
        HostileCase("upload: \(name)", [.readHead] + steps, expected).calling(.put(16 << 20))
    }
}
