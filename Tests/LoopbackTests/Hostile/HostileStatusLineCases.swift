import Foundation
import Networking

/// Status lines (RFC 9112 section 4), and other bytes in their place.
extension HostileCase {
    static let statusLines: [HostileCase] = [
        HostileCase("no version", .status("200 OK"), .malformed),
        HostileCase("HTTP/9.9", .status("HTTP/9.9 200 OK"), .malformed),
        // RFC 9110 section 2.5: a recipient SHOULD process this version as HTTP/1.1. libcurl rejects it.
        HostileCase("HTTP/1.2", .status("HTTP/1.2 200 OK"), .either(.hello, .malformed)),
        HostileCase("HTTP/1.0", .reply("HTTP/1.0 200 OK\r\n\r\nhello", then: .close), .hello),
        // libcurl before version 8 accepts this line. Later versions reject it.
        HostileCase("HTTP/2 on an HTTP/1.1 connection", .status("HTTP/2 200 OK"), .either(.malformed, .hello)),
        HostileCase("version without a minor number", .status("HTTP/1 200 OK"), .malformed),
        HostileCase("version with a minor number of two digits", .status("HTTP/1.10 200 OK"), .malformed),
        HostileCase("http in lower case", .status("http/1.1 200 OK"), .either(.malformed, .hello)).on(
            .urlSessionOnLinux, .hello, because: "Foundation does not report the version"),
        HostileCase("HTTPS/1.1", .status("HTTPS/1.1 200 OK"), .malformed),
        HostileCase("ICY", .status("ICY 200 OK"), .malformed),
        HostileCase("RTSP/1.0", .status("RTSP/1.0 200 OK"), .malformed),
        HostileCase("a request line", .status("GET / HTTP/1.1"), .malformed),
        HostileCase("two status lines", .status("HTTP/1.1 200 OK\r\nHTTP/1.1 200 OK"), .malformed),
        HostileCase("line feeds only", .reply("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"), .hello).on(
            .urlSessionOnLinux, .malformed, because: "L24"),
        // RFC 9112 section 2.2 tells servers to ignore empty lines; it has no such rule for clients.
        HostileCase("leading CRLF", .status("\r\nHTTP/1.1 200 OK"), .either(.malformed, .hello)),
        HostileCase("leading spaces", .status("  HTTP/1.1 200 OK"), .malformed),
        HostileCase("a leading byte order mark", .status("\u{FEFF}HTTP/1.1 200 OK"), .malformed),
        HostileCase("no space before the status", .status("HTTP/1.1200 OK"), .malformed),
        // RFC 9112 section 4: a recipient MAY split the line at any whitespace.
        HostileCase("two spaces before the status", .status("HTTP/1.1  200 OK"), .either(.hello, .malformed)),
        HostileCase("a tab before the status", .status("HTTP/1.1\t200 OK"), .either(.hello, .malformed)),
        HostileCase(
            "carriage returns only", .reply("HTTP/1.1 200 OK\rContent-Length: 5\r\rhello", then: .close),
            .either(.malformed, .lostBeforeHead)),
    ]

    static let statusCodes: [HostileCase] = [
        HostileCase("no status", .status("HTTP/1.1 OK"), .malformed),
        HostileCase("version alone", .status("HTTP/1.1"), .malformed),
        HostileCase("version and a space", .status("HTTP/1.1 "), .malformed),
        HostileCase("status 0", .status("HTTP/1.1 0 OK"), .malformed),
        HostileCase("status 000", .status("HTTP/1.1 000 OK"), .malformed),
        HostileCase("status 20", .status("HTTP/1.1 20 OK"), .malformed),
        HostileCase("status 99", .status("HTTP/1.1 99 OK"), .malformed),
        HostileCase("status 099", .status("HTTP/1.1 099 OK"), .malformed),
        HostileCase("status 1000", .status("HTTP/1.1 1000 OK"), .malformed),
        HostileCase("status 2x0", .status("HTTP/1.1 2x0 OK"), .malformed),
        HostileCase("status -200", .status("HTTP/1.1 -200 OK"), .malformed),
        HostileCase("status -20", .status("HTTP/1.1 -20 OK"), .malformed),
        HostileCase("status +20", .status("HTTP/1.1 +20 OK"), .malformed),
        HostileCase("status 200.5", .status("HTTP/1.1 200.5 OK"), .malformed),
        HostileCase("status 200OK", .status("HTTP/1.1 200OK"), .malformed),
        HostileCase("status in Arabic digits", .status("HTTP/1.1 ٢٠٠ OK"), .malformed),
        HostileCase("status of many digits", .status("HTTP/1.1 200000000000000000000 OK"), .malformed),
        HostileCase("status 600", .status("HTTP/1.1 600 Odd"), .response(600, "hello")),
        HostileCase("status 999", .status("HTTP/1.1 999 Denied"), .response(999, "hello")),
    ]

    static let reasons: [HostileCase] = [
        HostileCase("no reason, with a space", .status("HTTP/1.1 200 "), .hello),
        HostileCase("no reason, without a space", .status("HTTP/1.1 200"), .hello).on(
            .urlSessionOnLinux, .malformed, because: "L24"),
        HostileCase("a reason of digits", .status("HTTP/1.1 200 404"), .hello),
        HostileCase("a reason in UTF-8", .status("HTTP/1.1 200 naïve"), .hello),
        HostileCase(
            "a reason in Latin-1",
            .reply(Data("HTTP/1.1 200 na".utf8) + [0xEF] + Data("ve\r\nContent-Length: 5\r\n\r\nhello".utf8)), .hello
        ).on(.urlSessionOnLinux, .malformed, because: "L24"),
        HostileCase("a reason with NUL", .status("HTTP/1.1 200 O\0K"), .either(.malformed, .hello)),
        HostileCase("a reason of 8 KB", .status("HTTP/1.1 200 \(long(8_192))"), .hello),
        HostileCase("a reason of 64 KB", .status("HTTP/1.1 200 \(long(65_536))"), .hello),
        HostileCase("a reason of 300 KB", .status("HTTP/1.1 200 \(long(300_000))"), .tooLarge).on(
            .urlSessionOnLinux, .either(.tooLarge, .malformed), because: "Foundation has one code for both"),
    ]

    static let otherProtocols: [HostileCase] = [
        HostileCase("HTTP/0.9: a body alone", .reply("hello", then: .close), .malformed),
        HostileCase("HTTP/0.9: a body of 100 KB alone", .reply("<html>\n\(long(102_400))", then: .close), .malformed),
        HostileCase("every byte once", .reply(Data(0...255)), .malformed),
        HostileCase("NUL bytes", .reply(Data(count: 1_000)), .malformed),
        HostileCase("a TLS alert", .reply(Data([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28])), .malformed),
        HostileCase("an SSH banner", .reply("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), .malformed),
        HostileCase("an SMTP banner", .reply("220 mail.example.org ESMTP\r\n"), .malformed),
        HostileCase("an SMTP banner before the request", [.text("220 mail ESMTP\r\n"), .drain], .malformed),
        HostileCase("UTF-16", .reply(Data(String.hello.utf16.flatMap { [UInt8($0), 0] })), .malformed),
        HostileCase("HTTP/2 frames", .reply(HTTP2.settings() + HTTP2.hello()), .malformed),
        HostileCase("gzip", .reply(Gzip.hello), .malformed),
        HostileCase("a line that never ends", [.readHead, .flood(Data(long(65_536).utf8), upTo: 4 << 20)], .malformed),
    ]

    static func long(_ count: Int) -> String { String(repeating: "v", count: count) }
}
