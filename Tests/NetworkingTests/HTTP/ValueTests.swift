import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Header fields, queries, paths and bodies from values", .endsInTime)
struct ValueTests {
    private enum Sort: String { case ascending = "asc" }
    private enum Level: Int, Codable { case high = 3 }

    private let id = UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")

    private func text(_ query: URLQuery) -> String {
        query.items.map { item in item.value.map { "\(item.name)=\($0)" } ?? item.name }.joined(separator: "&")
    }

    private func isRefused(_ query: URLQuery, _ reason: String) throws {
        var request = try HTTPRequest(.get, #require(URL(string: "https://a.example")))
        let error = #expect(throws: NetworkError.self) { try request.append(query: query) }
        #expect(error?.kind == .invalidRequest && error?.reason == reason)
    }

    @Test("Header fields and queries are created from dictionaries, pairs and URL query items", .row("R-44"))
    func collections() {
        let values = ["b": "2", "a": "1"]
        #expect(HTTPHeaders(values) == ["a": "1", "b": "2"])
        #expect(text(URLQuery(values)) == "a=1&b=2")
        #expect(text(URLQuery([("b", "2"), ("a", "1"), ("b", "3")])) == "b=2&a=1&b=3")
        let items = [URLQueryItem(name: "q", value: "a b"), URLQueryItem(name: "flag", value: nil)]
        #expect(URLQuery(items).percentEncoded == "q=a%20b&flag")
        #expect(URLQuery([]).items.isEmpty && URLQuery(values.filter { _ in false }).items.isEmpty)
    }

    @Test("A value has the same text in a path, a literal and an encoded query", .row("R-44"))
    func sameText() throws {
        let id = try #require(id)
        let date = Date(timeIntervalSince1970: 0)
        let literal: URLQuery = [
            "id": id, "sort": Sort.ascending, "level": Level.high, "isNew": true, "price": Decimal(string: "9.99"),
            "since": date, "page": UInt8(2), "site": URL(string: "https://a.example/b"), "none": String?.none,
        ]
        #expect(
            text(literal) == "id=6ba7b810-9dad-11d1-80b4-00c04fd430c8&sort=asc&level=3&isNew=true&price=9.99"
                + "&since=1970-01-01T00:00:00Z&page=2&site=https://a.example/b")
        struct Values: Encodable, Sendable {
            let id: UUID, level = Level.high, isNew = true, price = Decimal(string: "9.99"), since: Date
        }
        let encoded = URLQuery.encoded(Values(id: id, since: date), using: URLQueryEncoder(sortsKeys: false))
        #expect(
            text(encoded) == "id=6ba7b810-9dad-11d1-80b4-00c04fd430c8&level=3&isNew=true&price=9.99"
                + "&since=1970-01-01T00:00:00Z")
        let path: EndpointPath = "\(id)/\(Sort.ascending)/\(Level.high)/\(true)"
        #expect(try path.percentEncoded() == "6ba7b810-9dad-11d1-80b4-00c04fd430c8/asc/3/true")
    }

    @Test("A literal's arrays and objects are written with the encoder's defaults")
    func nested() {
        let untyped: [String: Any] = ["kind": "a", "size": 2]
        #expect(text(["tag": ["a", "b"], "filter": untyped]) == "tag[]=a&tag[]=b&filter[kind]=a&filter[size]=2")
    }

    @Test("A value that has no text ends the call, and the error names its item")
    func withoutText() throws {
        struct Opaque {}
        try isRefused(
            ["a": 1, "b": Opaque()],
            "query: the query cannot be encoded: \"b\" is of type Opaque, which cannot be encoded")
        try isRefused(["a": Double.nan], "query: the query cannot be encoded: \"a\" is not a finite number")
        try isRefused(
            ["a": [1, Double.infinity]], "query: the query cannot be encoded: \"a.[1]\" is not a finite number")
    }

    @Test("An item of a query is read and replaced by its name", .row("R-44"))
    func subscripts() {
        var query: URLQuery = ["a": 1, "b": 2, "a": 3]
        let first = query["a"]
        #expect(first == "1" && query["c"] == String?.none)
        query["a"] = 7
        query["c"] = "x"
        query["b"] = nil
        #expect(text(query) == "a=7&c=x")
    }

    @Test("Items that are appended to a request leave the other items as they are")
    func appending() throws {
        var request = try HTTPRequest(.get, #require(URL(string: "https://a.example/x%2Fy?mail=a%2Bb%40c.d#top")))
        try request.append(query: ["ts": 1, "q": "ä&b"])
        #expect(request.url.absoluteString == "https://a.example/x%2Fy?mail=a%2Bb%40c.d&ts=1&q=%C3%A4%26b#top")
        #expect(request.target == "/x%2Fy?mail=a%2Bb%40c.d&ts=1&q=%C3%A4%26b")
        #expect(request.query["mail"] == "a+b@c.d" && request.query["q"] == "ä&b")
        for (url, target) in [("https://a.example", "/?a=1"), ("https://a.example/?", "/?a=1")] {
            var request = try HTTPRequest(.get, #require(URL(string: url)))
            try request.append(query: ["a": 1])
            #expect(request.target == target)
        }
    }

    @Test("The slashes of a path value separate segments, which are percent-encoded", .row("R-44"))
    func pathValue() throws {
        let name = "apple/swift nio"
        let path: EndpointPath = "repos/\(path: name)/issues"
        #expect(try path.percentEncoded() == "repos/apple/swift%20nio/issues")
        #expect(path.template == "repos/{}/issues")
        for hostile in ["..", "a/../b", "a//b", "", "%2e%2e?x#y/."] {
            let path: EndpointPath = "repos/\(path: hostile)/issues"
            #expect(throws: NetworkError.self, "\(hostile)") { try path.percentEncoded() }
        }
        let mark: EndpointPath = "repos/\(path: "a?b/c#d")"
        #expect(try mark.percentEncoded() == "repos/a%3Fb/c%23d")
    }

    @Test("A media type is written as a literal; a wrong one ends the call before it is sent")
    func mediaTypes() throws {
        let url = try #require(URL(string: "https://a.example"))
        let body = HTTPBody.data(Data("x".utf8), contentType: "audio/mpeg; rate=44100")
        #expect(body.headers.contentType == MediaType("audio", "mpeg", ["rate": "44100"]))
        for wrong: MediaType in ["jpeg", "", "image/", "/jpeg", "image jpeg"] {
            let request = HTTPRequest(.post, url, body: .data(Data(), contentType: wrong))
            let error = #expect(throws: NetworkError.self) { try request.validate() }
            #expect(error?.reason?.hasPrefix("header Content-Type") == true)
            let form = HTTPBody.multipart([.data("photo", Data(), fileName: "a", contentType: wrong)])
            #expect(throws: NetworkError.self) { try form.encoded() }
        }
    }

    @Test("The members of a JSON literal and of parameters may have different types", .row("R-44"))
    func mixed() throws {
        let name: String? = nil
        let body = HTTPBody.json(["a": 1, "b": "x", "c": [true], "d": name, "at": Date(timeIntervalSince1970: 0)])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .iso8601
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let json = try String(decoding: #require(body.encoded(by: encoder).data), as: UTF8.self)
        #expect(json == #"{"a":1,"at":"1970-01-01T00:00:00Z","b":"x","c":[true]}"#)
        let vendor = HTTPBody.json(["a": 1], contentType: "application/vnd.api+json")
        #expect(vendor.headers[.contentType] == "application/vnd.api+json")

        let page = 2
        for parameters in [
            .query(["q": "x", "page": page]), RequestParameters.methodDependent(["q": "x", "page": 2]),
        ] {
            #expect(try text(#require(parameters.query(.get))) == "q=x&page=2")
        }
        let form = try #require(RequestParameters.form(["q": "x", "isNew": true]).body(.post)).encoded()
        #expect(form.data.map { String(decoding: $0, as: UTF8.self) } == "q=x&isNew=true")
        let object = try #require(RequestParameters.json(["a": 1, "b": "x"]).body(.post)).encoded(by: encoder)
        #expect(object.data.map { String(decoding: $0, as: UTF8.self) } == #"{"a":1,"b":"x"}"#)
        // Values of one type still use the encoder that the call names.
        #expect(try text(#require(RequestParameters.query(["b": 1, "a": 2]).query(.get))) == "a=2&b=1")
    }

    @Test("A preset Content-Type never labels a form", .row("R-40", "N-48"))
    func forms() throws {
        let url = try #require(URL(string: "https://a.example"))
        func sent(_ preset: String, _ body: HTTPBody) -> String? {
            HTTPRequest(.post, url, headers: [.contentType: preset], body: body).allHeaders[.contentType]
        }
        let form = HTTPBody.multipart([.field("a", 1)], boundary: "b")
        #expect(sent("application/json", form) == "multipart/form-data; boundary=b")
        #expect(sent("multipart/form-data", form) == "multipart/form-data; boundary=b")
        #expect(sent("multipart/form-data; boundary=other", form) == "multipart/form-data; boundary=b")
        #expect(sent("multipart/related; boundary=b", form) == "multipart/related; boundary=b")
        #expect(sent("application/json", .form(["a": 1])) == "application/x-www-form-urlencoded; charset=utf-8")
        #expect(sent("application/x-www-form-urlencoded", .form(["a": 1])) == "application/x-www-form-urlencoded")
        // Every other body keeps the media type that was set.
        #expect(sent("application/vnd.api+json", .json(["a": 1])) == "application/vnd.api+json")
    }
}
