import Networking

extension WireCase {
    private static let one = "HTTP/1.1 200 OK|Content-Length: 3||one"
    private static let two = "HTTP/1.1 200 OK|Content-Length: 3||two"

    private static func pair(_ name: String, _ first: String, _ call: AdHocEndpoint = .get("b")) -> WireCase {
        WireCase(name, .get("a"), call, replies: [first, two], sent: ["/a", "/b"], ok("two"))
    }

    static let connections: [WireCase] = [
        pair("a kept connection", one),
        pair("a closed connection", "HTTP/1.1 200 OK|Content-Length: 3|Connection: close||one<close>"),
        pair("an old version without Keep-Alive", "HTTP/1.0 200 OK|Content-Length: 3||one<close>"),
        pair("an old version with Keep-Alive", "HTTP/1.0 200 OK|Content-Length: 3|Connection: keep-alive||one"),
        pair("chunks, then another request", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||3|one|0||"),
        pair("no content, then another request", "HTTP/1.1 204 None||"),
        pair("not modified, then another request", "HTTP/1.1 304 Same|Content-Length: 3||"),
        pair("a hint, then another request", "HTTP/1.1 103 Hints||HTTP/1.1 200 OK|Content-Length: 3||one"),
        pair("a connection that is closed silently", one + "<close>"),
        pair(
            "a POST after a closed connection", "HTTP/1.1 200 OK|Content-Length: 3|Connection: close||one<close>",
            .post("b").body(.string("x"))),
        WireCase("nothing but a close", .get("a"), replies: ["<close>"], .failure(.connectionLostBeforeHead)),
        WireCase(
            "a POST and nothing but a close is sent once", .post("a").body(.string("x")), replies: ["<close>"],
            sent: ["POST /a"], .failure(.connectionLostBeforeHead)),
        WireCase(
            "401 without a session", .get("a"),
            replies: ["HTTP/1.1 401 No|WWW-Authenticate: Basic realm=\"x\"|Content-Length: 2||no"], sent: ["GET /a"],
            .response(401, "no")),
        WireCase(
            "a retry after 503", .get("a"), replies: ["HTTP/1.1 503 Wait|Content-Length: 0||", two],
            sent: ["GET /a", "GET /a"], ok("two")
        )
        .with {
            $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero)); $0.settings.validators = nil
        },
        WireCase(
            "a POST is not retried after 503", .post("a"), replies: ["HTTP/1.1 503 Wait|Content-Length: 0||", two],
            sent: ["POST /a"], .failure(.unacceptableStatus)
        )
        .with {
            $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero)); $0.settings.validators = nil
        },
        WireCase(
            "a retry after a body that ends early", .get("a"),
            replies: ["HTTP/1.1 200 OK|Content-Length: 9||one<close>", two], sent: ["GET /a", "GET /a"], ok("two")
        )
        .with { $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero)) },
    ]
}
