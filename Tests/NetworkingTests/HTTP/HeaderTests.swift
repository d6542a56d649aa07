import Foundation
import Testing

@testable import Networking

@Suite("Headers", .endsInTime)
struct HeaderTests {
    @Test(
        "The description of a field hides the user and the password of each URL in its value",
        arguments: [
            ("Location", "https://u:p@a.example/x", "https://a.example/x"),
            (
                "Link", "<https://a.example/>; rel=\"next\", <https://u:p@b.example/>; rel=\"last\"",
                "<https://a.example/>; rel=\"next\", <https://b.example/>; rel=\"last\""
            ),
            ("Location", "https://u:a b<c>@a.example/x", "https://a.example/x"),
            ("Refresh", "5; url=//u@x:p@a.example/", "5; url=//a.example/"),
            ("Link", "<https://a.example/?t=1>; rel=next, <//u:p@b.example>", "<https://a.example/?<redacted>"),
        ] as [(HTTPHeader.Name, String, String)])
    func shownURLs(name: HTTPHeader.Name, value: String, shown: String) {
        #expect("\(HTTPHeader(name, value))" == "\(name): \(shown)")
    }

    @Test(
        "A Content-Length that is not a number of bytes is read as nil",
        arguments: ["+5", "-5", " 5", "5,5", "", "0x5", "9e9"])
    func contentLength(value: String) {
        #expect(HTTPHeaders([HTTPHeader(.contentLength, value)]).contentLength == nil)
        #expect(HTTPHeaders([HTTPHeader(.contentLength, "5")]).contentLength == 5)
    }

    @Test(
        "Names are case-insensitive and keep their order; the last value and the last spelling are used", .row("R-16"))
    func names() {
        var headers: HTTPHeaders = ["X-B": "1", "x-a": "2", "X-A": "3"]
        #expect(headers.map { "\($0.name): \($0.value)" } == ["X-B: 1", "X-A: 3"])
        headers["x-b"] = "4"
        #expect(headers["X-b"] == "4")
        #expect(headers.map(\.name.rawValue) == ["x-b", "X-A"])
        headers["X-B"] = nil
        #expect(headers.count == 1)
        #expect(HTTPHeader.Name("ETag").hashValue == HTTPHeader.Name("etag").hashValue)
    }

    @Test("Appended fields stay separate and are joined when they are read as one value")
    func duplicates() {
        var headers: HTTPHeaders = [:]
        headers.append(HTTPHeader(.setCookie, "a=1"))
        headers.append(HTTPHeader("X-Other", "x"))
        headers.append(HTTPHeader("set-cookie", "b=2"))
        #expect(headers.values(for: .setCookie) == ["a=1", "b=2"])
        #expect(headers[.setCookie] == "a=1, b=2")
        headers.set(HTTPHeader(.setCookie, "c=3"))
        #expect(headers.map(\.value) == ["c=3", "x"])
    }

    @Test(
        "A merge of headers replaces all headers, prefers the new values or prefers the existing values", .row("I-07"))
    func merging() {
        let old: HTTPHeaders = ["A": "1", "B": "1"]
        let new: HTTPHeaders = ["b": "2", "C": "2"]
        #expect(old.merging(new).map(\.value) == ["1", "2", "2"])
        #expect(old.merging(new, .keepExisting).map(\.value) == ["1", "1", "2"])
        #expect(old.merging(new, .replaceAll) == new)
    }

    @Test("Typed fields can be read and set; in a merge, the new values are used", .row("N-04"))
    func typed() {
        var headers: HTTPHeaders = [:]
        headers.authorization = .bearer("t")
        headers.contentType = .json
        headers.accept = [.json, MediaType("text", "*")]
        headers[.acceptLanguage] = "de"
        #expect(headers[.authorization] == "Bearer t")
        #expect(headers[.contentType] == "application/json")
        #expect(headers[.accept] == "application/json, text/*")
        #expect(headers.accept == [.json, MediaType("text", "*")])
        #expect(headers.merging([.acceptLanguage: "en"])[.acceptLanguage] == "en")
    }

    @Test("A quoted comma in Accept does not separate types, and types with q=0 are left out")
    func accept() {
        let headers: HTTPHeaders = [.accept: #"text/plain;x="a,\"b", image/*;q=0, application/json;q=0.5, */*;q=0.000"#]
        #expect(headers.accept.map(\.withoutParameters.description) == ["text/plain", "application/json"])
        #expect(HTTPHeaders([]).accept.isEmpty)
    }

    @Test("The numbers of a rate limit are never negative")
    func rateLimit() {
        let headers: HTTPHeaders = ["RateLimit": "\"default\";r=-3;t=-5"]
        #expect(headers.rateLimit == HTTPHeaders.RateLimit(remaining: 0, reset: .zero))
    }

    @Test("A quotation mark in Accept is recognized even if a combining mark follows it")
    func acceptWithCombiningMarks() {
        var headers = HTTPHeaders()
        let types = [MediaType("text", "plain", ["x": "\u{200D}a,b", "y": "\u{301}"]), .json]
        headers.accept = types
        #expect(headers.accept == types)
    }

    @Test("The common names are typed; any other name can be created and converted to text", .row("N-05"))
    func registered() {
        #expect(HTTPHeader.Name.ifNoneMatch.rawValue == "If-None-Match")
        #expect(String(describing: HTTPHeader.Name("X-Mine")) == "X-Mine")
    }

    @Test("The predefined headers have the same values as those of RonasIT's library", .row("R-17"))
    func ready() {
        #expect(HTTPHeader.authorization(.bearer("x")).debugText == "Authorization: Bearer x")
        #expect(HTTPHeader.contentType(.json).debugText == "Content-Type: application/json")
        #expect(HTTPHeader.accept(.json).debugText == "Accept: application/json")
        #expect(HTTPHeader.userAgent(product: "Shop", version: "1.0").value.hasPrefix("Shop/1.0 ("))
        #expect(HTTPHeader("X-Own", "1").debugText == "X-Own: 1")
        #expect(HTTPHeader.acceptLanguage(["en-GB", "de"]).value == "en-GB, de;q=0.9")
    }

    @Test(
        "Authorization values round-trip through text and are compared by value", .row("N-06"),
        arguments: [
            (HTTPAuthorization.bearer("abc"), "Bearer abc"),
            (.basic(username: "ada", password: "a:b"), "Basic YWRhOmE6Yg=="),
            (.custom(scheme: "Token", credentials: "x y"), "Token x y"),
            (.custom(scheme: "", credentials: "raw"), "raw"),
        ])
    func authorization(value: HTTPAuthorization, text: String) {
        #expect(value.fieldValue == text)
        #expect(!"\(value)".contains("abc") && !"\(value)".contains("YWRh"))
        if !value.scheme.isEmpty { #expect(HTTPAuthorization(text) == value) }
    }

    @Test("The scheme of an authorization type is its name; the type `none` has no scheme", .row("R-18"))
    func authorizationTypes() {
        #expect(AuthorizationType.basic.scheme == "Basic" && AuthorizationType.bearer.scheme == "Bearer")
        #expect(AuthorizationType.custom("Token").scheme == "Token" && AuthorizationType.none.scheme.isEmpty)
        #expect(AuthorizationType.custom("a") != .custom("b"))
    }

    @Test("A list of fields keeps fields of the same name; a dictionary literal has one field for each name")
    func repeated() {
        let list: HTTPHeaders = [HTTPHeader(.setCookie, "a=1"), HTTPHeader(.setCookie, "b=2"), .accept(.json)]
        #expect(list.values(for: .setCookie) == ["a=1", "b=2"] && list.count == 3)
        #expect(HTTPHeaders(Array(list)) == list)
        #expect(([.setCookie: "a=1", .setCookie: "b=2"] as HTTPHeaders).values(for: .setCookie) == ["b=2"])
    }

    @Test("Every description redacts header values, unless the values are known to be harmless")
    func redaction() {
        let headers: HTTPHeaders = [
            .authorization: "hush", .cookie: "hush", "x-api-key": "hush", "X-Any": "hush", "Vary": "shown",
        ]
        #expect(!headers.description.contains("hush") && headers.description.contains("shown"))
        #expect(!HTTPHeader("X-Mine", "hush", isSensitive: true).description.contains("hush"))
    }

    @Test("A header that is marked as sensitive stays sensitive when its value is replaced")
    func sensitiveStays() {
        var headers: HTTPHeaders = []
        headers.set(HTTPHeader("X-Tenant-Key", "old", isSensitive: true))
        headers["x-tenant-key"] = "fresh"
        #expect(headers["X-Tenant-Key"] == "fresh" && !"\(headers)".contains("fresh"))
    }

    @Test("No description contains credentials; `fieldValue` returns them")
    func credentials() {
        let basic = HTTPAuthorization.basic(username: "ada", password: "hush")
        var dumped = ""
        dump(basic, to: &dumped)
        for text in ["\(basic)", String(reflecting: basic), dumped] { #expect(!text.contains("hush"), "\(text)") }
        #expect(basic.fieldValue == "Basic YWRhOmh1c2g=")
    }

    @Test("A quotation mark with a combining mark is escaped in a quoted string")
    func quoting() {
        #expect(HTTPGrammar.quoted("x\"\u{301}; charset=evil") == "\"x\\\"\u{301}; charset=evil\"")
    }
}

extension HTTPHeader {
    fileprivate var debugText: String { "\(name): \(value)" }
}

@Suite("Media types", .endsInTime)
struct MediaTypeTests {
    @Test(
        "Media types round-trip through text", .row("N-07"),
        arguments: [
            "text/html; charset=utf-8", "application/vnd.api+json", "multipart/form-data; boundary=\"a b\"", "*/*",
            "image/svg+xml",
        ])
    func roundTrip(text: String) throws {
        #expect(try #require(MediaType(text)).description == text)
    }

    @Test(
        "An invalid media type is rejected",
        arguments: [
            "", "text", "text/", "/html", "te xt/html", "text/html charset", "text/html; a", "text/html; a=\"b",
        ])
    func invalid(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test("Media types are compared case-insensitively, ranges accept matching types, and parameters are read")
    func comparing() {
        let type: MediaType = "Text/HTML;Charset=\"UTF-8\" ; "
        #expect(type == MediaType("text", "html", ["charset": "utf-8"]))
        #expect(type.charset == "utf-8")
        #expect(MediaType.any.accepts(type) && MediaType("text", "*").accepts(type) && !MediaType.json.accepts(type))
        #expect(MediaType.problemJSON.isJSON && MediaType.json.isJSON && !type.isJSON)
    }

    @Test("A media type can be created from its parts", .row("N-07"))
    func parts() {
        #expect(MediaType("text", "plain", ["charset": "utf-8"]).description == "text/plain; charset=utf-8")
        #expect(MediaType("application", "pdf") == .pdf && MediaType("model/obj") == MediaType("model", "obj"))
    }

    @Test("A token has the bytes of RFC 9110 section 5.6.2, and no others")
    func tokenBytes() {
        let letters = "abcdefghijklmnopqrstuvwxyz"
        let allowed = Set("!#$%&'*+-.^_`|~0123456789\(letters)\(letters.uppercased())".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(HTTPGrammar.isTokenByte(byte) == allowed.contains(byte), "\(byte)")
        }
    }
}
