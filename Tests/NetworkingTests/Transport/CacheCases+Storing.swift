@testable import Networking

extension CacheCase {
    private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]
    private static let tagged: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"a\""]

    static let storing = [
        CacheCase("3", "A response to an unknown method is not stored", .sent(fresh) { $0.method = "SEARCH" }, .sent()),
        CacheCase("3", "A response to POST is not stored", .sent(fresh) { $0.method = .post }, .sent()),
        CacheCase(
            "3", "A final status with explicit freshness is stored", .sent(fresh, "gone", .init(404)),
            .cached("gone") { $0.status = 404 }),
        CacheCase(
            "3", "A server error with explicit freshness is stored", .sent(fresh, "later", .serviceUnavailable),
            .cached("later") { $0.status = 503 }),
        CacheCase("3", "A 404 without freshness is not stored", .sent([:], "gone", .notFound), .sent()),
        CacheCase(
            "3", "A 404 without freshness removes the stored response", .sent(tagged),
            .sent([:], "", .notFound) { $0.wait = 61 }, .sent { $0.asks = [.ifNoneMatch: nil] }),
        CacheCase(
            "3", "A 304 is not stored, because it has no content",
            .sent(fresh, "", .notModified) { $0.sends = [.ifNoneMatch: "\"a\""] }, .sent()),
        CacheCase("3", "A 401 is not stored, so that a new token is tried", .sent(fresh, "", .unauthorized), .sent()),
        CacheCase(
            "3", "A 416 is not stored, because it depends on the range",
            .sent(fresh, "", .init(416)) { asking("9-")(&$0) }, .sent()),
        CacheCase(
            "3", "A success that is not cacheable by default is stored only with freshness",
            .sent([.eTag: "\"a\""], "", .created),
            .sent { $0.asks = [.ifNoneMatch: nil] }),
        CacheCase(
            "3", "A redirect with explicit freshness is stored",
            .sent([.cacheControl: "max-age=60", .location: "/b"], "", .found), .cached("") { $0.status = 302 }),
        CacheCase(
            "3", "Expires permits storing a status that is not cacheable by default",
            .sent([.date: "@0", .expires: "@60", .location: "/b"], "", .found), .cached("") { $0.status = 302 }),
        CacheCase(
            "3", "`private` permits a private cache to store",
            .sent([.cacheControl: "private, max-age=60"]), .cached()),
        CacheCase(
            "3.3", "An incomplete response is not used as a complete response",
            .sent([.cacheControl: "max-age=60", .contentRange: "bytes 0-2/9"], "one", .partialContent) {
                $0.sends = [.range: "bytes=0-2"]
            }, .sent(fresh, "whole") { $0.text = "whole" }),
        CacheCase("3", "An interim status is not stored", .sent(fresh, "", .init(103)), .sent()),
        CacheCase(
            "3", "s-maxage does not permit a private cache to store",
            .sent([.cacheControl: "s-maxage=60"], "", .found), .sent()),
        CacheCase(
            "3.3", "A part in an unknown unit is not stored",
            .sent(tagged.merging([.contentRange: "items 0-2/9"]), "012", .partialContent) {
                $0.sends = [.range: "bytes=0-2"]
            }, .sent { $0.sends = [.range: "bytes=0-2"] }),
    ]

    static let fields = [
        CacheCase(
            "3.1", "Unknown fields are stored", .sent(fresh.merging(["X-Unknown": "1"])),
            .cached { $0.has = ["X-Unknown": "1"] }),
        CacheCase(
            "3.1", "A response without Date gets the time at which it was received (RFC 9110 section 6.6.1)",
            .sent(fresh), .cached(after: 10) { $0.has = [.date: "@-10"] }),
        CacheCase(
            "3.1", "The Connection field, the fields that it names, and other fields of a connection are not stored",
            .sent(fresh.merging(["Connection": "X-Hop", "X-Hop": "1", "Keep-Alive": "5", "Upgrade": "h2c"])),
            .cached { $0.has = ["Connection": nil, "X-Hop": nil, "Keep-Alive": nil, "Upgrade": nil] }),
        CacheCase(
            "3.1", "Trailer fields are not combined with the header fields", test: "HeadConformanceTests.storedTrailers"
        ),
        CacheCase(
            "3.1", "The fields of a proxy are not stored",
            .sent(
                fresh.merging([
                    "Proxy-Authenticate": "Basic", "Proxy-Authentication-Info": "x",
                    "Proxy-Authorization": "Basic eA==",
                ])),
            .cached {
                $0.has = ["Proxy-Authenticate": nil, "Proxy-Authentication-Info": nil, "Proxy-Authorization": nil]
            }),
        CacheCase(
            "3.2", "A 304 replaces and adds fields of the stored response",
            .sent(tagged.merging(["X-Old": "1", "X-New": "1"])),
            .sent(tagged.merging(["X-New": "2"]), "", .notModified) {
                ($0.wait, $0.status, $0.text, $0.has) = (61, 200, "one", ["X-Old": "1", "X-New": "2"])
            }, .cached { $0.has = ["X-Old": "1", "X-New": "2"] }),
        CacheCase(
            "3.2", "A 304 whose no-cache names a stored field removes this field",
            .sent(tagged.merging(["X-Once": "1"])),
            .sent([.cacheControl: "max-age=60, no-cache=X-Once"], "", .notModified) {
                ($0.wait, $0.has) = (61, ["X-Once": nil])
            }, .cached { $0.has = ["X-Once": nil] }),
        CacheCase(
            "3.2", "A 304 changes neither the length nor the coding of the stored content",
            .sent(tagged.merging([.contentLength: "3"])),
            .sent(tagged.merging([.contentLength: "0", .contentEncoding: "gzip"]), "", .notModified) { $0.wait = 61 },
            .cached { $0.has = [.contentLength: "3", .contentEncoding: nil] }),
        CacheCase(
            "3.1", "Set-Cookie is not stored (the only exception), because an old cookie must not be set again",
            .sent(fresh.merging([.setCookie: "a=1", "X-A": "1"])),
            .cached { $0.has = [.setCookie: nil, "X-A": "1"] }),
        CacheCase(
            "3.1", "All fields of the same name are stored",
            .sent(fresh.merging([HTTPHeader("X-Two", "1"), HTTPHeader("X-Two", "2")])),
            .cached { $0.has = ["X-Two": "1, 2"] }),
        CacheCase(
            "3.2", "A 304 adds fields that the stored response lacks", .sent(tagged),
            .sent(tagged.merging(["X-New": "1"]), "", .notModified) { ($0.wait, $0.has) = (61, ["X-New": "1"]) },
            .cached { $0.has = ["X-New": "1"] }),
        CacheCase(
            "3.2", "A 304 replaces all fields of the same name",
            .sent(tagged.merging([HTTPHeader("X-Two", "1"), HTTPHeader("X-Two", "2")])),
            .sent(tagged.merging([HTTPHeader("X-Two", "3"), HTTPHeader("X-Two", "4")]), "", .notModified) {
                $0.wait = 61
            }, .cached { $0.has = ["X-Two": "3, 4"] }),
        CacheCase(
            "3.2", "A 304 adds no field that must not be stored", .sent(tagged),
            .sent(
                tagged.merging(["Connection": "X-Hop", "X-Hop": "1", "Proxy-Authenticate": "Basic"]), "", .notModified
            ) { $0.wait = 61 },
            .cached { $0.has = ["Connection": nil, "X-Hop": nil, "Proxy-Authenticate": nil] }),
        CacheCase(
            "3.2", "A 304 replaces other fields whose names begin with Content-",
            .sent(tagged.merging(["Content-Language": "en"])),
            .sent(tagged.merging(["Content-Language": "de"]), "", .notModified) { $0.wait = 61 },
            .cached { $0.has = ["Content-Language": "de"] }),
    ]

    private static func part(_ bytes: String, _ tag: String = "\"a\"") -> HTTPHeaders {
        [.cacheControl: "max-age=60", .eTag: tag, .contentRange: "bytes \(bytes)"]
    }

    private static func asking(_ range: String) -> (inout Step) -> Void { { $0.sends = [.range: "bytes=\(range)"] } }

    static let partial = [
        CacheCase(
            "3.3", "A request for a range of a stored complete response gets a 206", .sent(fresh, "0123456789"),
            .cached("01") {
                asking("0-1")(&$0)
                ($0.status, $0.has) = (206, [.contentRange: "bytes 0-1/10", .contentLength: "2"])
            }, .cached("89", asking("-2")), .cached("56789", asking("5-"))),
        CacheCase(
            "3.3", "A range that is not stored is requested from the server",
            .sent(part("0-2/9"), "012", .partialContent, asking("0-2")),
            .cached("12", asking("1-2")), .sent(part("3-5/9"), "345", .partialContent, asking("3-5"))),
        CacheCase(
            "3.3", "A request for several ranges is sent to the server", .sent(fresh, "0123456789"),
            .sent(part("0-1/10"), "01", .partialContent, asking("0-1,3-4"))),
        CacheCase(
            "3.4", "Parts with the same strong validator are combined",
            .sent(part("0-4/10"), "01234", .partialContent, asking("0-4")),
            .sent(part("5-9/10"), "56789", .partialContent, asking("5-9")), .cached("0123456789") { $0.status = 200 },
            .cached("45", asking("4-5"))),
        CacheCase(
            "3.4", "A part that has all bytes is a complete response",
            .sent(part("0-9/10"), "0123456789", .partialContent, asking("0-")),
            .cached("0123456789") { $0.status = 200 }),
        CacheCase(
            "3.4", "Parts with different validators are not combined",
            .sent(part("0-4/10"), "01234", .partialContent, asking("0-4")),
            .sent(part("5-9/10", "\"b\""), "56789", .partialContent, asking("5-9")), .sent()),
        CacheCase(
            "3.4", "Parts with weak validators are not combined",
            .sent(part("0-4/10", "W/\"a\""), "01234", .partialContent, asking("0-4")),
            .sent(part("5-9/10", "W/\"a\""), "56789", .partialContent, asking("5-9")), .sent()),
        CacheCase(
            "3.4", "The fields of all parts apply to the combined response",
            .sent(part("0-4/10").merging([.vary: "Accept"]), "01234", .partialContent, asking("0-4")),
            .sent(
                [.eTag: "\"a\"", .contentRange: "bytes 5-9/10", .vary: "Accept"], "56789", .partialContent,
                asking("5-9")), .cached("0123456789", after: 59), .sent { $0.sends = [.accept: "text/a"] }),
        CacheCase(
            "3.4", "The rest of a stored part is requested, and the response is complete",
            .sent(part("0-4/10"), "01234", .partialContent, asking("0-4")),
            .sent(part("5-9/10"), "56789", .partialContent) {
                $0.asks = [.range: "bytes=5-", .ifRange: "\"a\""]
                ($0.status, $0.text) = (200, "0123456789")
            }, .cached("0123456789")),
        CacheCase(
            "3.3", "A request for a range of a stored part gets a 206",
            .sent(part("2-6/10"), "23456", .partialContent, asking("2-6")),
            .cached("34") {
                asking("3-4")(&$0)
                ($0.status, $0.has) = (206, [.contentRange: "bytes 3-4/10", .contentLength: "2"])
            }),
        CacheCase(
            "3.3", "A range that is only partly stored is requested from the server",
            .sent(part("0-4/10"), "01234", .partialContent, asking("0-4")),
            .sent(part("3-6/10"), "3456", .partialContent) {
                asking("3-6")(&$0)
                ($0.status, $0.text) = (206, "3456")
            }, .sent(part("5-9/10"), "56789", .partialContent, asking("5-"))),
        CacheCase(
            "3.3", "A stored part is not used for HEAD",
            .sent(tagged.merging([.contentRange: "bytes 0-3/9"]), "0123", .partialContent) {
                $0.sends = [.range: "bytes=0-3"]
            }, .sent(tagged, "") { $0.method = .head }),
        CacheCase(
            "3.3", "Parts with a gap between them are not combined",
            .sent(part("0-2/10"), "012", .partialContent, asking("0-2")),
            .sent(part("6-8/10"), "678", .partialContent, asking("6-8")),
            .sent(part("0-8/10"), "012345678", .partialContent, asking("0-8"))),
        CacheCase(
            "3.4", "The fields of a new part replace the stored fields, or are added to them",
            .sent(part("0-4/10").merging(["X-Old": "1", "X-New": "1"]), "01234", .partialContent, asking("0-4")),
            .sent(part("5-9/10").merging(["X-New": "2", "X-More": "3"]), "56789", .partialContent, asking("5-9")),
            .cached("0123456789") { $0.has = ["X-Old": "1", "X-New": "2", "X-More": "3"] }),
    ]
}
