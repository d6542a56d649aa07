import Networking

extension WireCase {
    private static func reply(_ name: String, _ reply: String, _ outcome: Outcome) -> WireCase {
        WireCase(name, .get("x"), replies: [reply], sent: ["GET /x"], outcome)
    }

    static let responses: [WireCase] = [
        reply("a length", "HTTP/1.1 200 OK|Content-Length: 5||hello", ok("hello")),
        reply("a length in small letters", "HTTP/1.1 200 OK|content-length: 5||hello", ok("hello")),
        reply("HTTP/1.0 with a length", "HTTP/1.0 200 OK|Content-Length: 5||hello", ok("hello")),
        reply("HTTP/1.0 until the end", "HTTP/1.0 200 OK||hello<close>", ok("hello")),
        reply("until the end", "HTTP/1.1 200 OK|Connection: close||hello<close>", ok("hello")),
        reply("no content", "HTTP/1.1 204 No Content||", .response(204, "")),
        reply("no content, with a length of 0", "HTTP/1.1 204 No Content|Content-Length: 0||", .response(204, "")),
        reply("reset content", "HTTP/1.1 205 Reset|Content-Length: 0||", .response(205, "")),
        reply("not modified with a length", "HTTP/1.1 304 Not Modified|Content-Length: 5||", .response(304, "")),
        reply("404 with text", "HTTP/1.1 404 Not Found|Content-Length: 4||gone", .response(404, "gone")),
        reply("500 without a length", "HTTP/1.1 500 Error||oops<close>", .response(500, "oops")),
        reply("a status without a meaning", "HTTP/1.1 299 Fine|Content-Length: 2||ok", .response(299, "ok")),
        reply("a status of 599", "HTTP/1.1 599 Odd|Content-Length: 2||ok", .response(599, "ok")),
        reply("a long reason", "HTTP/1.1 200 \(String(repeating: "a", count: 500))|Content-Length: 2||ok", ok("ok")),
        reply("an empty reason", "HTTP/1.1 200 |Content-Length: 2||ok", ok("ok")),
        reply("chunks", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|he|3|llo|0||", ok("hello")),
        reply("one chunk", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||5|hello|0||", ok("hello")),
        reply("no chunk", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||0||", ok("")),
        reply("a size in capitals", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||A|0123456789|0||", ok("0123456789")),
        reply("a size with zeros", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||0005|hello|0||", ok("hello")),
        reply("a chunk with an extension", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||5;a=b|hello|0||", ok("hello")),
        reply("chunks in capitals", "HTTP/1.1 200 OK|TRANSFER-ENCODING: CHUNKED||5|hello|0||", ok("hello")),
        reply(
            "chunks beat a length", "HTTP/1.1 200 OK|Content-Length: 3|Transfer-Encoding: chunked||5|hello|0||",
            ok("hello")),
        reply(
            "a size that is none", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||x|hello|0||",
            .failure(.malformedResponse)),
        reply(
            "chunks that end early", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||5|hel<close>",
            .failure(.truncatedBody)),
        reply("no last chunk", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||5|hello|<close>", .failure(.truncatedBody)),
        reply("a body that ends early", "HTTP/1.1 200 OK|Content-Length: 9||hello<close>", .failure(.truncatedBody)),
        reply("a body that does not begin", "HTTP/1.1 200 OK|Content-Length: 9||<close>", .failure(.truncatedBody)),
        reply("a length that is none", "HTTP/1.1 200 OK|Content-Length: x||hello<close>", .failure(.malformedResponse)),
        reply("a negative length", "HTTP/1.1 200 OK|Content-Length: -1||hello<close>", .failure(.malformedResponse)),
        reply(
            "two lengths", "HTTP/1.1 200 OK|Content-Length: 5|Content-Length: 6||hello<close>",
            .failure(.malformedResponse)),
        reply("no HTTP", "hello|<close>", .failure(.malformedResponse)),
        reply("an unknown version", "HTTP/3.7 200 OK|Content-Length: 2||ok", .failure(.malformedResponse)).curlOnly,
        reply(
            "a hint before the response", "HTTP/1.1 103 Hints|Link: </a>||HTTP/1.1 200 OK|Content-Length: 2||ok",
            ok("ok")),
        reply("100 before the response", "HTTP/1.1 100 Continue||HTTP/1.1 200 OK|Content-Length: 2||ok", ok("ok")),
        reply(
            "three hints", String(repeating: "HTTP/1.1 102 Wait||", count: 3) + "HTTP/1.1 200 OK|Content-Length: 2||ok",
            ok("ok")),
        reply("an unknown coding", "HTTP/1.1 200 OK|Content-Encoding: odd|Content-Length: 2||ok", ok("ok"))
            .onURLSession(.failure(.malformedResponse), row: "L49"),
        reply("the identity coding", "HTTP/1.1 200 OK|Content-Encoding: identity|Content-Length: 2||ok", ok("ok")),
        reply(
            "a coding that is wrong", "HTTP/1.1 200 OK|Content-Encoding: gzip|Content-Length: 5||hello",
            .failure(.undecodableContent)),
        reply(
            "a part that nobody asked for", "HTTP/1.1 206 Part|Content-Range: bytes 0-4/9|Content-Length: 5||hello",
            .failure(.truncatedBody)),
        reply(
            "a slice with status 200", "HTTP/1.1 200 OK|Content-Range: bytes 0-4/9|Content-Length: 5||hello",
            .failure(.truncatedBody)),
        reply(
            "a part that is the whole", "HTTP/1.1 206 Part|Content-Range: bytes 0-4/5|Content-Length: 5||hello",
            .response(206, "hello")),
        reply("more than the length", "HTTP/1.1 200 OK|Content-Length: 2||okay", ok("ok")),
        reply("a body beside HEAD's length is kept by GET", "HTTP/1.1 200 OK|Content-Length: 0||", ok("")),
    ]
}
