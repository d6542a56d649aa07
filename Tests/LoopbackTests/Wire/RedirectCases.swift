import Networking

extension WireCase {
    private static let fine = "HTTP/1.1 200 OK|Content-Length: 2||ok"

    private static func move(_ location: String, _ status: Int = 302) -> String {
        "HTTP/1.1 \(status) Moved|Location: \(location)|Content-Length: 0||"
    }

    private static func redirect(_ name: String, _ location: String, to target: String) -> WireCase {
        WireCase(
            name, .get("dir/old"), replies: [move(location), fine], sent: ["GET /dir/old", "GET \(target) HTTP/1.1|"],
            ok("ok"))
    }

    private static func post(_ status: Int, _ second: String, without absent: String...) -> WireCase {
        WireCase(
            "a POST and \(status)", .post("a").body(.string("text")), replies: [move("/b", status), fine],
            sent: ["POST /a&&||text", second], ok("ok"))
    }

    static let redirects: [WireCase] = [
        redirect("an absolute path", "/new", to: "/new"),
        redirect("a relative path", "new", to: "/dir/new"),
        redirect("a path up", "../new", to: "/new"),
        redirect("a path too far up", "../../../new", to: "/new"),
        redirect("a path here", "./new", to: "/dir/new"),
        redirect("an absolute URL", "http://$/new", to: "/new"),
        redirect("an absolute URL without a path", "http://$", to: "/"),
        redirect("a URL without a scheme", "//$/new", to: "/new"),
        redirect("a query only", "?q=1", to: "/dir/old?q=1"),
        redirect("a path and a query", "/new?q=1&r=2", to: "/new?q=1&r=2"),
        redirect("a fragment is not sent", "/new#part", to: "/new"),
        redirect("a blank in a target", "/a b", to: "/a%20b"),
        redirect("a blank and an escape", "/a%20b c", to: "/a%20b%20c"),
        redirect("a bar and an escape", "/a%20b%7Cc", to: "/a%20b%7Cc"),
        redirect("an escaped slash", "/a%2Fb", to: "/a%2Fb"),
        redirect("an escaped plus in a query", "/x?sig=a%2Bb%3D&name=r s", to: "/x?sig=a%2Bb%3D&name=r%20s"),
        redirect("a letter outside ASCII in a target", "/ü", to: "/%C3%BC"),
        redirect("dots in an absolute URL", "http://$/a/../b", to: "/b"),
        redirect("a host in capitals", "HTTP://$/new", to: "/new"),
        redirect("two slashes in the path", "/a//b", to: "/a//b"),
        redirect("blanks around a target", "  /new", to: "/new"),
        redirect("an empty query", "/new?", to: "/new?").curlOnly,
        redirect("a question mark at the end of a query", "/new?q=why?", to: "/new?q=why?"),
        redirect("a question mark at the end of a fragment", "/new?q=1#x?", to: "/new?q=1"),
        redirect("a fragment of a question mark", "/new#?", to: "/new"),
        post(301, "GET /b"), post(302, "GET /b"), post(303, "GET /b"),
        post(307, "POST /b&&|Content-Length: 4|&&||text"), post(308, "POST /b&&|Content-Length: 4|&&||text"),
        WireCase("HEAD and 303", .head("a"), replies: [move("/b", 303), fine], sent: ["HEAD /a", "HEAD /b"], ok("")),
        WireCase(
            "a PUT and 303", .put("a").body(.string("text")), replies: [move("/b", 303), fine],
            sent: ["PUT /a", "GET /b"], ok("ok")),
        WireCase(
            "a DELETE and 307", .delete("a"), replies: [move("/b", 307), fine], sent: ["DELETE /a", "DELETE /b"],
            ok("ok")),
        WireCase(
            "three hops", .get("a"), replies: [move("/b", 301), move("/c", 302), move("/d", 307), fine],
            sent: ["GET /a", "GET /b", "GET /c", "GET /d"], ok("ok")),
        WireCase(
            "an own field follows within the origin", .get("a").header("X-Own", "v"), replies: [move("/b"), fine],
            sent: ["|X-Own: v|", "|X-Own: v|"], ok("ok")),
        WireCase(
            "a field of a body does not follow into a GET", .post("a").body(.string("text")),
            replies: [move("/b", 303), fine], sent: ["|Content-Length: 4|", "GET /b"], ok("ok")),
        WireCase(
            "a body of a redirect is skipped", .get("a"),
            replies: ["HTTP/1.1 302 Moved|Location: /b|Content-Length: 5||hello", fine], sent: ["GET /a", "GET /b"],
            ok("ok")),
        WireCase(
            "a body of a redirect that never ends", .get("a"),
            replies: ["HTTP/1.1 302 Moved|Location: /b|Content-Length: 5||he", fine], sent: ["GET /a", "GET /b"],
            ok("ok")
        )
        .onURLSession(.failure(.idleTimedOut), row: "L32"),
        WireCase(
            "a redirect without a target", .get("a"), replies: ["HTTP/1.1 302 Moved|Content-Length: 0||"],
            sent: ["GET /a"], .response(302, "")),
        WireCase(
            "blanks after a target", .get("a"),
            replies: ["HTTP/1.1 302 Moved|Location:  /b  |Content-Length: 0||", fine],
            sent: ["GET /a", "GET /b HTTP"], ok("ok")),
        WireCase(
            "300 is not followed", .get("a"), replies: ["HTTP/1.1 300 Choices|Content-Length: 2||ok"], sent: ["GET /a"],
            .response(300, "ok")),
        WireCase(
            "201 with a Location is not followed", .post("a"),
            replies: ["HTTP/1.1 201 Created|Location: /b|Content-Length: 2||ok"], sent: ["POST /a"],
            .response(201, "ok")),
        WireCase(
            "a loop ends", .get("a"), replies: Array(repeating: move("/a"), count: 60), .failure(.tooManyRedirects)),
        WireCase(
            "a scheme that is none", .get("a"), replies: [move("ftp://$/b")], sent: ["GET /a"],
            .failure(.redirectRefused)),
        WireCase(
            "a target that is none", .get("a"), replies: [move("http://[/b")], sent: ["GET /a"],
            .failure(.redirectRefused)),
        WireCase(
            "user information is dropped", .get("a"), replies: [move("http://u:p@$/b"), fine],
            sent: ["GET /a", "GET /b"], ok("ok")
        ).without("Authorization"),
    ]
}
