import Foundation
import Networking

extension WireCase {
    private static let fine = "HTTP/1.1 200 OK|Content-Length: 2||ok"

    private static func request(_ name: String, _ call: AdHocEndpoint, _ sent: String) -> WireCase {
        WireCase(name, call, replies: [fine], sent: [sent], ok("ok"))
    }

    static let requests: [WireCase] = [
        request("GET of the root", .get(""), "GET / HTTP/1.1|&&|Host: $|"),
        request("GET with a path", .get("a/b"), "GET /a/b HTTP/1.1|"),
        request("a slash at the end stays", .get("a/b/"), "GET /a/b/ HTTP/1.1|"),
        request("two slashes stay", .get("a//b"), "GET /a//b HTTP/1.1|"),
        request("a blank in a path", .get("a b"), "GET /a%20b HTTP/1.1|"),
        request("an escape in a path stays", .get("a%2Fb"), "GET /a%2Fb HTTP/1.1|"),
        request("a letter outside ASCII", .get("ü"), "GET /%C3%BC HTTP/1.1|"),
        request("brackets in a path", .get("a[1]"), "GET /a%5B1%5D HTTP/1.1|"),
        request("a semicolon in a path", .get("a;v=1"), "GET /a;v=1 HTTP/1.1|"),
        request("a query", .get("a").query("q", "1"), "GET /a?q=1 HTTP/1.1|"),
        request("a plus in a value", .get("a").query("q", "1+1"), "GET /a?q=1%2B1 HTTP/1.1|"),
        request("a blank in a value", .get("a").query("q", "x y"), "GET /a?q=x%20y HTTP/1.1|"),
        request("an ampersand in a value", .get("a").query("q", "x&y=z"), "GET /a?q=x%26y%3Dz HTTP/1.1|"),
        request("a percent sign in a value", .get("a").query("q", "100%"), "GET /a?q=100%25 HTTP/1.1|"),
        request("an empty value", .get("a").query("q", ""), "GET /a?q= HTTP/1.1|"),
        request("a colon in a path", .get("a:b"), "GET /a:b HTTP/1.1|"),
        request("HEAD", .head("a"), "HEAD /a HTTP/1.1|").replying(fine, ok("")),
        request("DELETE", .delete("a"), "DELETE /a HTTP/1.1|"),
        request("POST without content", .post("a"), "POST /a HTTP/1.1|&&|Content-Length: 0|"),
        request("PUT without content", .put("a"), "PUT /a HTTP/1.1|&&|Content-Length: 0|"),
        request("PATCH without content", .patch("a"), "PATCH /a HTTP/1.1|&&|Content-Length: 0|"),
        request("GET without content sends no length", .get("a"), "GET /a").without(
            "Content-Length", "Transfer-Encoding"),
        request("POST with text", .post("a").body(.string("text")), "|Content-Length: 4|&&||text"),
        request("PUT with text", .put("a").body(.string("text")), "PUT /a&&|Content-Length: 4|&&||text"),
        request("DELETE with text", .delete("a").body(.string("text")), "DELETE /a&&|Content-Length: 4|&&||text"),
        request("no Expect is sent", .post("a").body(.string("text")), "POST /a").without("Expect"),
        request(
            "a form", .post("a").body(.form(["n": "a b", "m": "ü+1"])),
            "|Content-Type: application/x-www-form-urlencoded&&m=%C3%BC%2B1&n=a%20b"),
        request("JSON", .post("a").body(.json(["n": 1])), "|Content-Type: application/json&&||{\"n\":1}"),
        request(
            "a form with a part", .post("a").body(.multipart([.field("f", "v")], boundary: "bound")),
            "|Content-Type: multipart/form-data; boundary=bound&&--bound|Content-Disposition: form-data; name=\"f\"||v|"
                + "--bound--|"),
        request("a body of unknown type has no type", .post("a").body(.data(Data("x".utf8))), "||x"),
        request("an own field", .get("a").header("X-Own", "v"), "|X-Own: v|"),
        request("an empty field", .get("a").header("X-Own", ""), "|X-Own:"),
        request("an own Accept replaces the default", .get("a").header(.accept, "text/x"), "|Accept: text/x|")
            .without("*/*"),
        request("an own User-Agent", .get("a").header(.userAgent, "mine/1"), "|User-Agent: mine/1|"),
        request("a Range", .get("a").header(.range, "bytes=0-1"), "|Range: bytes=0-1|"),
        request("a condition", .get("a").header(.ifNoneMatch, "\"v\""), "|If-None-Match: \"v\"|"),
        request("an own Accept-Encoding", .get("a").header(.acceptEncoding, "identity"), "|Accept-Encoding: identity|"),
        WireCase("dot segments of an endpoint are refused", .get("a/./b"), replies: [], .failure(.invalidRequest)),
        request("an idempotency key", .post("a").idempotent("key-1"), "|Idempotency-Key: key-1|"),
    ]

    /// Returns the case with another response and outcome.
    fileprivate func replying(_ reply: String, _ outcome: Outcome) -> WireCase {
        WireCase(name, calls[0], replies: [reply], sent: sent, outcome)
    }
}
