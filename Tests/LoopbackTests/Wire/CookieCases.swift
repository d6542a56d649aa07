import Networking

extension WireCase {
    private static func cookie(_ name: String, _ fields: String, _ sent: String?, path: EndpointPath = "b") -> WireCase
    {
        let wire = WireCase(
            name, .get("dir/a"), .get(path),
            replies: ["HTTP/1.1 200 OK|\(fields)|Content-Length: 0||", "HTTP/1.1 200 OK|Content-Length: 2||ok"],
            sent: ["GET /dir/a", sent.map { "|Cookie: \($0)|" } ?? "GET"], ok("ok")
        ).with { $0.cookies = CookieJar() }
        return sent == nil ? wire.without("|Cookie:", "\r\nCookie:") : wire
    }

    static let cookies: [WireCase] = [
        cookie("a cookie for the whole host", "Set-Cookie: a=1; Path=/", "a=1"),
        cookie("a cookie of the folder only", "Set-Cookie: a=1", nil),
        cookie("a cookie of the folder", "Set-Cookie: a=1", "a=1", path: "dir/b"),
        cookie("two cookies", "Set-Cookie: a=1; Path=/|Set-Cookie: b=2; Path=/", "a=1; b=2"),
        cookie(
            "the longer path first", "Set-Cookie: a=1; Path=/|Set-Cookie: b=2; Path=/dir", "b=2; a=1", path: "dir/b"),
        cookie("a cookie that replaces", "Set-Cookie: a=1; Path=/|Set-Cookie: a=2; Path=/", "a=2"),
        cookie("a cookie that is removed", "Set-Cookie: a=1; Path=/|Set-Cookie: a=; Max-Age=0; Path=/", nil),
        cookie("an expired cookie", "Set-Cookie: a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:01 GMT", nil),
        cookie("a Secure cookie over http", "Set-Cookie: a=1; Path=/; Secure", nil),
        cookie("a cookie of another host", "Set-Cookie: a=1; Path=/; Domain=example.com", nil),
        cookie("a value with an equals sign", "Set-Cookie: a=b=c; Path=/", "a=b=c"),
        cookie("a value in quotes", "Set-Cookie: a=\"b\"; Path=/", "a=\"b\""),
        cookie("a cookie with an empty value", "Set-Cookie: a=; Path=/", "a="),
        cookie("blanks around", "Set-Cookie:   a = 1 ; Path=/", "a=1"),
        cookie("an unknown attribute", "Set-Cookie: a=1; Path=/; Odd=x", "a=1"),
        cookie("a prefix without its attributes", "Set-Cookie: __Host-a=1; Path=/", nil),
        WireCase(
            "a cookie of a redirect", .get("a"),
            replies: [
                "HTTP/1.1 302 Moved|Location: /b|Set-Cookie: a=1; Path=/|Content-Length: 0||",
                "HTTP/1.1 200 OK|Content-Length: 2||ok",
            ],
            sent: ["GET /a", "|Cookie: a=1|"], ok("ok")
        ).with { $0.cookies = CookieJar() },
    ]
}
