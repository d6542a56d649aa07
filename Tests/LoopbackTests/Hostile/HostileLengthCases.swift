import Foundation
import Networking

/// Content-Length (RFC 9110 section 8.6, RFC 9112 section 6.3).
extension HostileCase {
    static let contentLengths: [HostileCase] = [
        HostileCase("no length, then a close", .ok("X: v", then: .close), .hello),
        HostileCase("no length, then silence", .ok("X: v"), .idle).stalling,
        HostileCase("no length, then a reset", .ok("X: v", then: .reset), .lostAfterHead),
        HostileCase("two equal lengths", .ok("Content-Length: 5", "Content-Length: 5"), .hello),
        HostileCase("two lengths, 5 and 10", .ok("Content-Length: 5", "Content-Length: 10"), .malformed),
        HostileCase("two lengths, 10 and 5", .ok("Content-Length: 10", "Content-Length: 5"), .malformed),
        HostileCase(
            "two lengths, 5 and 05", .ok("Content-Length: 5", "Content-Length: 05"), .either(.hello, .malformed)),
        HostileCase("two lengths, 5 and nothing", .ok("Content-Length: 5", "Content-Length:"), .malformed),
        length("5, 5", .hello), length("5,5,5", .hello), length("5, 10", .malformed), length("10, 5", .malformed),
        length("5,", .either(.malformed, .hello)), length("5abc", .malformed), length("5 5", .malformed),
        length("5;", .malformed), length("0x5", .malformed), length("+5", .malformed), length("-1", .malformed),
        length("-5", .malformed), length("", .malformed), length("abc", .malformed), length("5.0", .malformed),
        length("5e0", .malformed), length("\"5\"", .malformed), length("５", .malformed), length("5\u{1}", .malformed),
        length("05", .hello), length("00000000000000000000005", .hello), length(" 5 ", .hello),
        HostileCase("length 0x5, then a close", .ok("Content-Length: 0x5", then: .close), .malformed),
        HostileCase("length -1, then a close", .ok("Content-Length: -1", then: .close), .malformed),
    ]

    static let hugeLengths: [HostileCase] = [
        // 2^31, 2^32 + 5, 2^63 - 1, 2^63, 2^64 + 5, and more.
        huge("2147483648"), huge("4294967301"),
        huge("9223372036854775807").on(.urlSessionOnLinux, .endsTheProcess, because: "L18"),
        huge("9223372036854775808"), huge("18446744073709551621"), huge("99999999999999999999"),
        huge(String(repeating: "9", count: 1_000)),
    ]

    static let wrongLengths: [HostileCase] = [
        HostileCase("length 10 for 5 bytes, then a close", .ok("Content-Length: 10", then: .close), .truncated),
        HostileCase("length 10 for 5 bytes, then a reset", .ok("Content-Length: 10", then: .reset), .lostAfterHead),
        HostileCase("length 10 for 5 bytes, then silence", .ok("Content-Length: 10"), .idle).stalling,
        HostileCase(
            "length 10 for no bytes, then a close", .ok("Content-Length: 10", body: "", then: .close), .truncated),
        HostileCase("length 5 for 5 bytes, then a reset", .ok("Content-Length: 5", then: .reset), .hello),
        HostileCase("length 5 for 11 bytes", .ok("Content-Length: 5", body: "hello world"), .hello),
        HostileCase("length 5 for 100 KB", .ok("Content-Length: 5", body: "hello\(long(100_000))"), .hello),
        HostileCase("length 0 for 5 bytes", .ok("Content-Length: 0"), .empty),
        HostileCase(
            "length 5 for 11 bytes, and another call",
            [.twice("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello world"), .reply(.second)], [.hello, .second]),
        HostileCase(
            "length 0 for 5 bytes, and another call",
            [.twice("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nhello"), .reply(.second)], [.empty, .second]),
    ]

    /// Transfer-Encoding overrides Content-Length. If a response cannot have a body, Content-Length is ignored.
    static let overriddenLengths: [HostileCase] = [
        HostileCase(
            "length 3 and chunked", .ok("Content-Length: 3", "Transfer-Encoding: chunked", body: .chunked), .hello),
        HostileCase(
            "chunked and length 3", .ok("Transfer-Encoding: chunked", "Content-Length: 3", body: .chunked), .hello),
        HostileCase(
            "chunked and length 5abc", .ok("Transfer-Encoding: chunked", "Content-Length: 5abc", body: .chunked), .hello
        ),
        HostileCase(
            "length 5abc and chunked", .ok("Content-Length: 5abc", "Transfer-Encoding: chunked", body: .chunked), .hello
        ),
        HostileCase(
            "chunked and two lengths",
            .ok("Content-Length: 5", "Content-Length: 10", "Transfer-Encoding: chunked", body: .chunked), .hello),
        HostileCase("length 5abc in response to HEAD", .ok("Content-Length: 5abc", body: ""), .empty).calling(.head),
        HostileCase("two lengths in response to HEAD", .ok("Content-Length: 5", "Content-Length: 10", body: ""), .empty)
            .calling(.head),
        HostileCase(
            "length 5abc with 204", .reply("HTTP/1.1 204 No Content\r\nContent-Length: 5abc\r\n\r\n"),
            .response(204, "")),
        HostileCase(
            "two lengths with 304",
            .reply("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nContent-Length: 10\r\n\r\n"), .response(304, "")),
        HostileCase(
            "length 5abc with 100",
            .reply("HTTP/1.1 100 Continue\r\nContent-Length: 5abc\r\n\r\n\(String.hello)"), .hello),
    ]

    private static func length(_ value: String, _ expected: HostileOutcome) -> HostileCase {
        HostileCase("length \(value.debugDescription)", .ok("Content-Length: \(value)"), expected)
    }

    private static func huge(_ value: String) -> HostileCase {
        HostileCase(
            "length \(value.prefix(30)) of \(value.count) digits", .ok("Content-Length: \(value)", then: .close),
            .either(.truncated, .tooLarge, .malformed))
    }
}

extension String {
    /// `hello` in two chunks.
    static let chunked = "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
}
