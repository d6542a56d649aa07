import Foundation
import Networking

/// Misleading redirects and cookies.
extension HostileCase {
    static let redirects: [HostileCase] = [
        redirect("two different Location fields", "Location: /a\r\nLocation: /b", .kind(.redirectRefused)).on(
            .urlSessionOnLinux, .either(.kind(.redirectRefused), .second), because: "L31: they arrive as one field"),
        redirect("two equal Location fields", "Location: /a\r\nLocation: /a", .second),
        redirect("an empty Location", "Location:", .response(302, "")),
        redirect("no Location", "X: v", .response(302, "")),
        redirect("a folded Location", "Location:\r\n /a", .second),
        redirect("a Location in UTF-8", "Location: /café", .either(.second, .kind(.redirectRefused))),
        redirect("a Location with a space", "Location: /a b", .either(.second, .kind(.redirectRefused))),
        redirect("a Location of another scheme", "Location: ftp://127.0.0.1/", .kind(.redirectRefused)),
        redirect("a Location with the scheme javascript", "Location: javascript:alert(1)", .kind(.redirectRefused)),
        redirect("a Location with the scheme file", "Location: file:///etc/passwd", .kind(.redirectRefused)),
        redirect("a Location without a host", "Location: http://", .kind(.redirectRefused)),
        redirect("a Location with an incomplete IPv6 address", "Location: http://[::1", .kind(.redirectRefused)),
        redirect(
            "a Location with port 99999", "Location: http://127.0.0.1:99999/",
            .either(.kind(.redirectRefused), .kind(.invalidRequest))),
        redirect("a Location of 60 KB", "Location: /\(long(60_000))", .second),
        HostileCase(
            "an endless redirect to itself",
            [[HostileStep]](
                repeating: .again("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", 30), count: 1),
            [.kind(.tooManyRedirects)]
        ).through(.followingRedirects),
        HostileCase(
            "two different Location fields, not followed",
            .reply("HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"),
            .response(302, "")),
    ]

    static let cookies: [HostileCase] = [
        "bad=x\u{1}y", "bad=\u{7F}", "bad\u{1}=x", "bad=x\ty", "bad=é", "=x", "", ";", "=", "bad", "bad=x; Path=\u{1}",
        "bad=x; Domain=\u{1}", "bad=x; Max-Age=nan", "bad=x; Expires=\u{1}", "bad=\(long(5_000))",
        "bad=x\u{1F}; Secure",
    ].map { cookie in
        HostileCase(
            "Set-Cookie: \(cookie.prefix(30).debugDescription)",
            [.again("HTTP/1.1 200 OK\r\nSet-Cookie: \(cookie)\r\nContent-Length: 5\r\n\r\nhello", 2)], [.hello, .hello]
        ).through(.keepingCookies)
    }

    private static func redirect(_ name: String, _ field: String, _ expected: HostileOutcome) -> HostileCase {
        HostileCase(
            name, [.twice("HTTP/1.1 302 Found\r\n\(field)\r\nContent-Length: 0\r\n\r\n"), .reply(.second)], [expected]
        ).through(.followingRedirects)
    }
}

extension [HostileStep] {
    /// Returns steps that send the same response to each of `count` requests on a connection.
    static func again(_ response: String, _ count: Int) -> Self {
        (0..<count).flatMap { _ in [.readHead, .text(response)] } + [.drain]
    }
}
