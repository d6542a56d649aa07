import Foundation
import Networking

/// The chunked transfer coding (RFC 9112 section 7), and other transfer codings.
extension HostileCase {
    static let chunkSizes: [HostileCase] = [
        chunked("size zz", "zz\r\nhello\r\n0\r\n\r\n", .malformed),
        chunked("size -5", "-5\r\nhello\r\n0\r\n\r\n", .malformed),
        chunked("size +5", "+5\r\nhello\r\n0\r\n\r\n", .malformed),
        chunked("size 0x5", "0x5\r\nhello\r\n0\r\n\r\n", .either(.malformed, .empty)),
        chunked("size 5h", "5h\r\nhello\r\n0\r\n\r\n", .either(.malformed, .hello)),
        chunked("no size", "\r\nhello\r\n0\r\n\r\n", .malformed),
        chunked("space before the size", " 5\r\nhello\r\n0\r\n\r\n", .either(.malformed, .hello)),
        chunked("space after the size", "5 \r\nhello\r\n0\r\n\r\n", .either(.hello, .malformed)),
        chunked("leading zeros", "00000005\r\nhello\r\n0\r\n\r\n", .hello),
        // The grammar allows any number of zeros, but a client may limit the number of digits.
        chunked("40 leading zeros", "\(zeros(40))5\r\nhello\r\n0\r\n\r\n", .either(.hello, .malformed)),
        chunked("uppercase and lowercase digits", "a\r\nhellohello\r\nA\r\nhellohello\r\n0\r\n\r\n", .size(20)),
        chunked("size of 17 digits", "fffffffffffffffff\r\nhello", then: .close, .malformed),
        chunked("size 2^64 + 5", "10000000000000005\r\nhello\r\n0\r\n\r\n", .malformed),
        chunked("size 2^64 - 1", "ffffffffffffffff\r\nhello", then: .close, .either(.malformed, .tooLarge, .truncated)),
        chunked("size 2^63 - 1", "7fffffffffffffff\r\nhello", then: .close, .either(.tooLarge, .truncated, .malformed)),
        chunked("an extension", "5;a=b\r\nhello\r\n0;c\r\n\r\n", .hello),
        chunked("a quoted extension", "5;a=\"b;c\"\r\nhello\r\n0\r\n\r\n", .hello),
        chunked(
            "an extension of 20 KB", "5;\(long(20_000))\r\nhello\r\n0\r\n\r\n", .either(.hello, .malformed, .tooLarge)),
        chunked("line feeds only", "5\nhello\n0\n\n", .either(.hello, .malformed)),
        chunked("5,000 chunks of one byte", String(repeating: "1\r\nx\r\n", count: 5_000) + "0\r\n\r\n", .size(5_000)),
    ]

    static let chunkEnds: [HostileCase] = [
        chunked("no CRLF after a chunk", "5\r\nhello5\r\nhello\r\n0\r\n\r\n", .malformed),
        chunked("a chunk longer than its size", "3\r\nhello\r\n0\r\n\r\n", .malformed),
        chunked("a chunk shorter than its size", "7\r\nhello\r\n0\r\n\r\n", .malformed),
        chunked("no last chunk, then a close", "5\r\nhello\r\n", then: .close, .truncated),
        chunked("no last chunk, then a reset", "5\r\nhello\r\n", then: .reset, .lostAfterHead),
        chunked("no last chunk, then silence", "5\r\nhello\r\n", .idle).stalling,
        chunked("no body at all, then a close", "", then: .close, .truncated),
        chunked("the last chunk alone", "0\r\n\r\n", .empty),
        chunked("bytes after the last chunk", "5\r\nhello\r\n0\r\n\r\nmore", .hello),
        chunked("plain bytes", "hello", then: .close, .malformed),
        HostileCase(
            "chunked: bytes after the last chunk, and another call",
            [
                .twice("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nmore"),
                .reply(.second),
            ],
            [.hello, .second]),
        HostileCase(
            "endless chunk extensions",
            [
                .readHead, .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;"),
                .flood(Data(long(65_536).utf8), upTo: 4 << 20), .drain,
            ], .either(.malformed, .tooLarge, .idle)
        ).stalling,
    ]

    static let trailers: [HostileCase] = [
        chunked("a trailer", "5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n", .fields(["X-Sum": nil])),
        chunked("100 trailers", "5\r\nhello\r\n0\r\n\(String(repeating: "X: v\r\n", count: 100))\r\n", .hello),
        chunked("a trailer with line feeds", "5\r\nhello\r\n0\r\nX: v\n\n", .either(.hello, .malformed)),
        chunked("a trailer without a colon", "5\r\nhello\r\n0\r\nno colon\r\n\r\n", .either(.malformed, .hello)),
        chunked("a trailer with colon first", "5\r\nhello\r\n0\r\n: v\r\n\r\n", .either(.malformed, .hello)),
        chunked("a trailer with NUL", "5\r\nhello\r\n0\r\nX: a\0b\r\n\r\n", .either(.malformed, .hello)),
        chunked("a folded trailer", "5\r\nhello\r\n0\r\nX: a\r\n b\r\n\r\n", .either(.hello, .malformed)),
        chunked(
            "a first trailer beginning with a space", "5\r\nhello\r\n0\r\n X: a\r\n\r\n", .either(.malformed, .hello)),
        chunked(
            "Content-Length as a trailer", "5\r\nhello\r\n0\r\nContent-Length: 3\r\n\r\n",
            .fields(["Content-Length": nil])),
        chunked(
            "Transfer-Encoding as a trailer", "5\r\nhello\r\n0\r\nTransfer-Encoding: gzip\r\n\r\n",
            .fields(["Transfer-Encoding": "chunked"])),
        chunked("Set-Cookie as a trailer", "5\r\nhello\r\n0\r\nSet-Cookie: a=b\r\n\r\n", .fields(["Set-Cookie": nil])),
        chunked(
            "a status line as a trailer", "5\r\nhello\r\n0\r\nHTTP/1.1 404 No\r\n\r\n", .either(.malformed, .hello)),
        chunked(
            "a trailer of 64 KB", "5\r\nhello\r\n0\r\nX: \(long(65_536))\r\n\r\n",
            .either(.hello, .tooLarge, .malformed)),
        chunked("trailers, then a close", "5\r\nhello\r\n0\r\nX: ", then: .close, .either(.truncated, .hello)),
        chunked("trailers, then silence", "5\r\nhello\r\n0\r\nX: v\r\n", .either(.idle, .hello)).stalling,
        HostileCase(
            "endless trailers",
            [
                .readHead, .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"),
                .flood(Data(String(repeating: "X: vvvvvvvv\r\n", count: 5_000).utf8), upTo: 8 << 20), .drain,
            ], .tooLarge
        ).stalling,
    ].map { $0.on(.urlSessionOnLinux, .endsTheProcess, because: "L18") }

    static let transferCodings: [HostileCase] = [
        // RFC 9112 section 6.1: a sender must not chunk twice.
        coded("chunked, chunked", .chunked, .either(.malformed, .hello)),
        HostileCase(
            "two Transfer-Encoding fields",
            .ok("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body: .chunked), .either(.malformed, .hello)
        ),
        coded("CHUNKED", .chunked, .hello), coded(" chunked ", .chunked, .hello),
        coded("chunked;x=y", .chunked, .either(.malformed, .hello)),
        coded("\"chunked\"", .chunked, then: .close, .malformed),
        coded("xchunked", .chunked, then: .close, .malformed),
        coded("", "hello", then: .close, .either(.malformed, .hello)),
        coded("identity", "hello", then: .close, .hello),
        coded("x-unknown", "hello", then: .close, .malformed),
        coded("x-unknown, chunked", .chunked, .malformed),
        coded("chunked, x-unknown", .chunked, then: .close, .malformed),
        HostileCase(
            "Transfer-Encoding: gzip, then a close",
            .reply(Data.head(["Transfer-Encoding: gzip"]) + Gzip.hello, then: .close), .malformed
        ).on(.urlSessionOnLinux, .either(.unpacked, .malformed), because: "libcurl decodes it"),
        HostileCase(
            "Transfer-Encoding: gzip, chunked, over the limit of decompressed bytes",
            .reply(
                Data.head(["Transfer-Encoding: gzip, chunked"]) + Data("84\r\n".utf8) + Coded.bomb
                    + Data("\r\n0\r\n\r\n".utf8)), .malformed
        ).through(.bounded).on(
            .urlSessionOnLinux, .either(.size(100_000), .malformed), because: "L20; libcurl 8 or later rejects gzip"),
        HostileCase(
            "chunked with HTTP/1.0",
            .reply("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String.chunked)", then: .close),
            .either(.hello, .malformed)),
    ]

    private static func chunked(
        _ name: String, _ body: String, then end: [HostileStep].End = .hold, _ expected: HostileOutcome
    ) -> HostileCase {
        HostileCase("chunked: \(name)", .ok("Transfer-Encoding: chunked", body: body, then: end), expected)
    }

    private static func coded(
        _ coding: String, _ body: String, then end: [HostileStep].End = .hold, _ expected: HostileOutcome
    ) -> HostileCase {
        HostileCase(
            "Transfer-Encoding: \(coding)", .ok("Transfer-Encoding: \(coding)", body: body, then: end), expected)
    }

    private static func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
}
