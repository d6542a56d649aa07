import Foundation
import Networking

/// Header fields (RFC 9112 section 5, RFC 9110 section 5).
extension HostileCase {
    /// Whitespace between the status line and the first field. According to RFC 9112 section 2.2, a client rejects the
    /// response, or skips these lines.
    ///
    /// On a handle that was used before, libcurl 7.84 to 8.0 writes to freed memory when it receives such a line. The
    /// engine avoids this fault: each attempt has a new handle (`CurlFault.reusedHandles`).
    static let leadingBlanks: [HostileCase] = [
        HostileCase("first line begins with a space", .ok(" X: y", "Content-Length: 5"), .malformed),
        HostileCase("first line begins with a tab", .ok("\tX: y", "Content-Length: 5"), .malformed),
        HostileCase("first line is one space", .ok(" ", "Content-Length: 5"), .malformed),
        HostileCase("first line is Content-Length after a space", .ok(" Content-Length: 5"), .malformed),
        HostileCase("first two lines begin with a space", .ok(" X: y", " Z", "Content-Length: 5"), .malformed),
        HostileCase(
            "first line after 100 Continue begins with a space",
            .reply("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n X: y\r\nContent-Length: 5\r\n\r\nhello"),
            .malformed),
        HostileCase(
            "first line of 100 Continue begins with a space",
            .reply("HTTP/1.1 100 Continue\r\n X: y\r\n\r\n\(String.hello)"), .malformed),
    ]

    static let foldedFields: [HostileCase] = [
        HostileCase("folded value", .ok("X: a", "  b", "Content-Length: 5"), .fields(["X": "a b"])),
        HostileCase("value folded with a tab", .ok("X: a", "\tb", "Content-Length: 5"), .fields(["X": "a b"])),
        HostileCase(
            "value folded three times", .ok("X: a", " b", " c", " d", "Content-Length: 5"), .fields(["X": "a b c d"])),
        HostileCase("last field folded", .ok("Content-Length: 5", "X: a", " b"), .fields(["X": "a b"])),
        HostileCase(
            "value folded 500 times", .ok("X: a\(String(repeating: "\r\n b", count: 500))", "Content-Length: 5"), .hello
        ),
        // libcurl parses each line separately, and then rejects the empty value.
        HostileCase("Content-Length on a folded line", .ok("Content-Length:", " 5"), .either(.hello, .malformed)),
        HostileCase("Content-Length with a folded line", .ok("Content-Length: 5", " 0"), .malformed),
    ]

    static let fieldSyntax: [HostileCase] = [
        HostileCase("no colon", .ok("no colon", "Content-Length: 5"), .malformed),
        HostileCase("no colon in the last line", .ok("Content-Length: 5", "no colon"), .malformed),
        HostileCase("colon first", .ok(": v", "Content-Length: 5"), .malformed),
        HostileCase("space before the colon", .ok("X : v", "Content-Length: 5"), .either(.hello, .malformed)),
        HostileCase("space in a name", .ok("X Y: v", "Content-Length: 5"), .either(.hello, .malformed)),
        HostileCase("name with a parenthesis", .ok("X(: v", "Content-Length: 5"), .either(.hello, .malformed)),
        HostileCase("name in UTF-8", .ok("Ñ: v", "Content-Length: 5"), .either(.hello, .malformed)),
        HostileCase(
            "space between Content-Length and its colon", .ok("Content-Length : 5"), .either(.hello, .malformed)),
        HostileCase("no space after the colon", .ok("X:v", "Content-Length:5"), .fields(["X": "v"])).on(
            .urlSessionOnLinux, .malformed, because: "L24"),
        HostileCase("whitespace around a value", .ok("X: \t v \t", "Content-Length: 5"), .fields(["X": "v"])),
        HostileCase("empty value", .ok("X:", "Content-Length: 5"), .fields(["X": ""])),
        HostileCase("value of spaces", .ok("X:    ", "Content-Length: 5"), .fields(["X": ""])).on(
            .urlSessionOnLinux, .malformed, because: "L24"),
        HostileCase("value with colons", .ok("X: a:b::c", "Content-Length: 5"), .fields(["X": "a:b::c"])),
        HostileCase("a field twice", .ok("X: a", "X: b", "Content-Length: 5"), .hello),
        HostileCase("Content-Length in capitals", .ok("CONTENT-LENGTH: 5"), .hello),
        HostileCase("mixed line endings", .reply("HTTP/1.1 200 OK\r\nX: v\nContent-Length: 5\r\n\nhello"), .hello).on(
            .urlSessionOnLinux, .malformed, because: "L24"),
    ]

    /// RFC 9110 section 5.5: CR, LF and NUL are rejected or replaced with spaces; other control characters may remain.
    static let fieldBytes: [HostileCase] = [
        HostileCase("NUL in a value", .ok("X: a\0b", "Content-Length: 5"), .either(.malformed, .fields(["X": "a b"]))),
        HostileCase("NUL in a name", .ok("X\0Y: v", "Content-Length: 5"), .malformed),
        HostileCase("CR in a value", .ok("X: a\rb", "Content-Length: 5"), .either(.malformed, .fields(["X": "a b"]))),
        HostileCase(
            "a field after a bare CR", .ok("X: a\rY: b", "Content-Length: 5"),
            .either(.malformed, .fields(["X": "a Y: b", "Y": nil]))),
        HostileCase(
            "Content-Length after a bare CR", .ok("X: a\rContent-Length: 3", "Content-Length: 5"),
            .either(.malformed, .fields(["X": "a Content-Length: 3"]))),
        HostileCase("two CR before LF", .ok("X: v\r", "Content-Length: 5"), .either(.malformed, .fields(["X": "v"]))),
        HostileCase("CR in a name", .ok("X\rY: v", "Content-Length: 5"), .malformed),
        HostileCase("CR before the status line's end", .ok("\r", "Content-Length: 5"), .either(.malformed, .idle))
            .stalling,
        HostileCase(
            "control characters in a value", .ok("X: a\u{1}\u{7F}b", "Content-Length: 5"),
            .either(.malformed, .fields(["X": "a\u{1}\u{7F}b"]))),
        HostileCase("UTF-8 in a value", .ok("X: café", "Content-Length: 5"), .fields(["X": "café"])),
        HostileCase(
            "Latin-1 in a value",
            .reply(Data("HTTP/1.1 200 OK\r\nX: caf".utf8) + [0xE9] + Data("\r\nContent-Length: 5\r\n\r\nhello".utf8)),
            .fields(["X": "café"])
        ).on(.urlSessionOnLinux, .malformed, because: "L24"),
        HostileCase(
            "every byte above 0x7F in a value",
            .reply(
                Data("HTTP/1.1 200 OK\r\nX: ".utf8) + Data(0x80...0xFF)
                    + Data("\r\nContent-Length: 5\r\n\r\nhello".utf8)),
            .hello
        ).on(.urlSessionOnLinux, .malformed, because: "L24"),
    ]
}

extension HostileOutcome {
    /// Returns the usual response with these fields.
    static func fields(_ fields: [String: String?]) -> HostileOutcome { .response(200, "hello", fields: fields) }
}
