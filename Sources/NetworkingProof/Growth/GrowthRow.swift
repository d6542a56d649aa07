import NetworkingFuzzTargets

/// Inputs of one shape, of any size, for one target of the fuzzer.
struct GrowthRow: Sendable {
    /// The name of the target.
    let target: String
    /// What the input consists of.
    let shape: String
    /// The maximum memory that the processing of an input may need, as a multiple of the input's size.
    let memory: Double
    /// The known finding that makes the row fail today; nil for a row that must pass.
    let known: String?
    private let head: String
    private let unit: String
    private let tail: String
    private let second: String

    /// - Parameters:
    ///   - unit: The text that is repeated between `head` and `tail`.
    ///   - second: If not empty, this text is repeated after `tail`, and both repetitions are equally long.
    ///   - memory: Default: 150, because most targets read an input several times, and compare the results.
    init(
        _ target: String, _ shape: String, _ head: String = "", repeating unit: String, _ tail: String = "",
        andThen second: String = "", memory: Double = 150, known: String? = nil
    ) {
        (self.target, self.shape, self.memory, self.known) = (target, shape, memory, known)
        (self.head, self.unit, self.tail, self.second) = (head, unit, tail, second)
    }

    /// Returns an input of about `size` bytes.
    func input(ofSize size: Int) -> [UInt8] {
        var bytes = Array(head.utf8)
        let unit = Array(unit.utf8)
        bytes.reserveCapacity(size + head.utf8.count + tail.utf8.count + unit.count)
        while bytes.count < (second.isEmpty ? size : size / 2) { bytes += unit }
        bytes += Array(tail.utf8)
        let second = Array(second.utf8)
        while !second.isEmpty, bytes.count < size { bytes += second }
        return bytes
    }
}

extension GrowthRow {
    /// Combining marks that normalization has to reorder, each as a quoted-pair.
    private static let quotedMarks = "\\\u{301}\\\u{323}"

    /// The beginning of an outbox's entry, up to the content of its endpoint.
    private static func entry(content: String) -> String {
        "{\"asks\":false,\"enqueued\":0,\"id\":\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\",\"isDoubtful\":false,"
            + "\"key\":\"k\",\"state\":{\"waiting\":{}},\"call\":{\"content\":\"\(content)"
    }

    /// The rows: for each target the usual input, and the shapes that are known to be expensive for parsers.
    static let all = [
        GrowthRow("response-heads", "many fields", "HTTP/1.1 200 OK\r\n", repeating: "X-A: b\r\n", "\r\n"),
        GrowthRow("response-heads", "a long field", "HTTP/1.1 200 OK\r\nX-A: ", repeating: "b,", "\r\n\r\n"),
        GrowthRow("response-heads", "folded lines", "HTTP/1.1 200 OK\r\nX-A: b\r\n", repeating: " c\r\n", "\r\n"),
        GrowthRow("response-heads", "interim responses", repeating: "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"),
        GrowthRow("bodies", "a body", "HTTP/1.1 200 OK\r\n\r\n", repeating: "hello "),
        GrowthRow(
            "bodies", "small chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            repeating: "1\r\nx\r\n", "0\r\n\r\n"),
        GrowthRow("set-cookie", "a long value", "a=", repeating: "x", "; Path=/"),
        GrowthRow("set-cookie", "attributes", "a=b", repeating: "; Path=/"),
        GrowthRow("set-cookie", "semicolons", "a=b", repeating: ";"),
        GrowthRow("set-cookie", "cookies in one field", "a=b", repeating: ", c=d"),
        GrowthRow("cookie-jars", "subdomains", repeating: "https://a#.example.com/ a=b; Domain=example.com\n"),
        GrowthRow("cookie-jars", "a long host", "https://", repeating: "a.", "com/ a=b"),
        GrowthRow("header-merges", "new names", repeating: "a#:b\n", "\u{1E}", andThen: "b#:c\n"),
        GrowthRow("header-merges", "the same names", repeating: "a#:b\n", "\u{1E}", andThen: "a#:c\n"),
        GrowthRow("header-merges", "one name", repeating: "a:b\n", "\u{1E}", andThen: "a:c\n"),
        GrowthRow("dates", "digits", "Sun, 06 Nov 1994 08:49:", repeating: "3"),
        GrowthRow("dates", "words", "Sun,", repeating: " Nov"),
        GrowthRow("media-types", "parameters", "text/html", repeating: "; a=b"),
        GrowthRow("media-types", "marks", "text/plain; charset=\"", repeating: quotedMarks, "\""),
        GrowthRow("media-types", "an open quote", "text/html; a=\"", repeating: "\\\""),
        GrowthRow("media-types", "quotes", "text/html", repeating: "; a=\"; a=\""),
        GrowthRow("challenges", "marks", "Bearer error=\"", repeating: quotedMarks, "\""),
        GrowthRow("challenges", "schemes", "Basic", repeating: ", Basic a=b"),
        GrowthRow("challenges", "an open quote", "Basic a=\"", repeating: "\\\""),
        GrowthRow("challenges", "quotes", "Basic a=b", repeating: ", a=\", a=\""),
        GrowthRow("challenges", "commas", "Basic", repeating: ","),
        GrowthRow("links", "marks", "<a>; rel=\"", repeating: quotedMarks, "\""),
        GrowthRow("links", "links", "<a>; rel=next", repeating: ", <b>; rel=prev"),
        GrowthRow("links", "an open quote", "<a>; \"", repeating: "\\\""),
        GrowthRow("links", "parameters", "<a>", repeating: "; rel=a"),
        GrowthRow("links", "open brackets", repeating: "<"),
        GrowthRow("links", "commas", "<a>", repeating: ", "),
        GrowthRow("retry-after", "digits", repeating: "9"),
        GrowthRow("rate-limit", "policies", "\"a\";r=1", repeating: ", \"a\";r=1"),
        GrowthRow(
            "rate-limit", "limits and windows", "\"x\";r=1", repeating: ", \"a\";r=1", "\u{1E}",
            andThen: "\"b\";w=1, "),
        GrowthRow("rate-limit", "an open quote", "\"", repeating: "\\\""),
        GrowthRow("rate-limit", "quotes", "a;r=1", repeating: ", \", \""),
        GrowthRow("rate-limit", "marks", "a;r=0\u{1E}\"", repeating: quotedMarks, "\";w=1"),
        GrowthRow("json-texts", "members", "{\"title\":\"x\"", repeating: ",\"a\":1", "}"),
        GrowthRow("json-texts", "an array", "[1", repeating: ",2", "]"),
        GrowthRow(
            "json-texts", "nested arrays", "{\"a\":[1",
            repeating: "," + String(repeating: "[", count: 60) + String(repeating: "]", count: 60), "]}"),
        // The value is compared with the result of Foundation's parser, which needs 400 times the size of the input;
        // the library needs 30 times.
        GrowthRow(
            "json-texts", "deeply nested objects", "[1",
            repeating: "," + String(repeating: "{\"a\":[", count: 240) + String(repeating: "]}", count: 240), "]",
            memory: 600),
        GrowthRow("json-texts", "open arrays", repeating: "["),
        GrowthRow("json-texts", "a string", "\"", repeating: "x", "\""),
        GrowthRow("json-texts", "marks in a name", "{\"", repeating: "\u{301}\u{323}", "\":1}"),
        GrowthRow("json-texts", "escaped marks in a name", "{\"", repeating: "\\u0301\\u0323", "\":1}"),
        GrowthRow("json-texts", "escapes", "\"", repeating: "\\n", "\""),
        GrowthRow("json-texts", "surrogates", "\"", repeating: "\\ud83d\\ude00", "\""),
        GrowthRow("json-texts", "digits of a fraction", "0.", repeating: "7"),
        GrowthRow("json-texts", "decimal numbers", "[1", repeating: ",12345678901234567.89", "]"),
        GrowthRow("json-texts", "spaces", "[", repeating: " ", "]"),
        GrowthRow("problem-details", "a long body", "{\"title\":\"", repeating: "x", "\"}"),
        GrowthRow("server-sent-events", "events", repeating: "data: a\n\n"),
        GrowthRow("server-sent-events", "lines of one event", repeating: "data:\n", memory: 10),
        GrowthRow("server-sent-events", "a long line", "data: ", repeating: "abc"),
        GrowthRow("server-sent-events", "marks in a name", repeating: "\u{301}\u{323}", ":\n\n"),
        GrowthRow("server-sent-events", "ends of lines", repeating: "\r"),
        GrowthRow("json-lines", "lines", repeating: "{\"a\":1}\n"),
        GrowthRow("json-lines", "a long line", "[1", repeating: ",1", "]\n"),
        GrowthRow("json-lines", "empty lines", repeating: "\n"),
        GrowthRow(
            "har", "entries",
            "{\"log\":{\"entries\":[{\"request\":{\"method\":\"GET\",\"url\":\"http://a/\"},\"response\":{\"status\":200}}",
            repeating: ",{\"request\":{\"method\":\"GET\",\"url\":\"http://a/\"},\"response\":{\"status\":200}}", "]}}"),
        GrowthRow(
            "cache-entries", "a long body", "a\u{1E}HTTP/1.1 200 OK\nCache-Control: max-age=9\n\u{1E}", repeating: "x"),
        GrowthRow(
            "cache-entries", "fields", "a\u{1E}HTTP/1.1 200 OK\nCache-Control: max-age=9\n", repeating: "X: y\n",
            "\u{1E}x"),
        GrowthRow(
            "part-files", "a long note", "{\"content\":\"", repeating: "x", "\",\"validator\":\"y\"}\u{1E}a\u{1E}ab"),
        GrowthRow(
            "outbox-entries", "a long endpoint", "networking-outbox 1 0\n\(entry(content: ""))", repeating: "AAAA",
            "\",\"name\":\"n\",\"version\":1}}"),
        GrowthRow(
            "outbox-entries", "fields of a body",
            "networking-outbox 1 0\n\(entry(content: "e30="))\",\"name\":\"n\",\"version\":1},\"body\":{\"headers\":[[\"a\",\"b\"]",
            repeating: ",[\"a\",\"b\"]", "]}}"),
        GrowthRow("outbox-entries", "a long name", "00000000000000", repeating: "0", ".entry"),
        GrowthRow("token-files", "a long token", "{\"value\":\"", repeating: "x", "\"}"),
        GrowthRow(
            "token-files", "values of the app", "{\"value\":\"a\",\"userInfo\":{\"a\":\"b\"", repeating: ",\"c\":\"d\"",
            "}}"),
        GrowthRow("leases", "spaces", "{\"name\":\"a\",\"renewals\":1,\"seconds\":5}", repeating: " "),
        GrowthRow("removals", "lines", repeating: "1764168000000000000 00000000000000ff\n"),
        GrowthRow("removals", "damaged lines", repeating: "x"),
        GrowthRow("endpoint-paths", "segments", "a", repeating: "/a"),
        GrowthRow("endpoint-paths", "dots", "a", repeating: "/.."),
        GrowthRow("endpoint-paths", "percent signs", repeating: "%"),
        GrowthRow("base-urls", "segments", "https://a.example", repeating: "/a"),
        GrowthRow("base-urls", "escapes", "https://a.example/", repeating: "%zz"),
        GrowthRow("multipart-names", "quotes", repeating: "\""),
        GrowthRow("multipart-names", "dashes", "a\u{1E}", repeating: "--"),
        GrowthRow("request-heads", "a long value", "GET\u{1E}7\u{1E}a\u{1E}X-A\u{1E}", repeating: "b"),
        GrowthRow("request-heads", "a long path", "GET\u{1E}7\u{1E}", repeating: "a/"),
        GrowthRow(
            "websocket-frames", "fragments of a text", "\u{40}\u{1}\u{1}a", repeating: "\u{0}\u{1}a", memory: 400),
        GrowthRow(
            "websocket-handshakes", "parameters", "\u{1E}Sec-WebSocket-Extensions: permessage-deflate", repeating: ";a"),
        GrowthRow("websocket-handshakes", "fields", "\u{1E}", repeating: "Connection: a\n"),
    ]
}
