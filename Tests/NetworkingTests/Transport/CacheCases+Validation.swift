@testable import Networking

extension CacheCase {
    private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]
    private static let tagged: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"a\""]
    private static let varied = tagged.merging([.vary: "Accept-Language"])
    private static let weaklyVaried: HTTPHeaders = [
        .cacheControl: "max-age=60", .eTag: "W/\"a\"", .vary: "Accept-Language",
    ]
    private static let dated: HTTPHeaders = [
        .cacheControl: "max-age=60", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
    ]

    static let validation = [
        CacheCase(
            "4.3.1", "The entity tag is sent in If-None-Match", .sent(tagged),
            .sent(tagged, "", .notModified) { ($0.wait, $0.asks, $0.text) = (61, [.ifNoneMatch: "\"a\""], "one") }),
        CacheCase(
            "4.3.1", "A weak entity tag is sent, too", .sent([.cacheControl: "max-age=60", .eTag: "W/\"a\""]),
            .sent([:], "", .notModified) { ($0.wait, $0.asks, $0.text) = (61, [.ifNoneMatch: "W/\"a\""], "one") }),
        CacheCase(
            "4.3.1", "Last-Modified is sent in If-Modified-Since", .sent(dated),
            .sent(dated, "", .notModified) {
                ($0.wait, $0.asks, $0.text) = (61, [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"], "one")
            }),
        CacheCase(
            "4.3.1", "The entity tag and Last-Modified are both sent", .sent(tagged.merging(dated)),
            .sent([:], "", .notModified) {
                $0.wait = 61
                $0.asks = [.ifNoneMatch: "\"a\"", .ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"]
            }),
        CacheCase(
            "4.3.2", "If the caller's condition names the stored response, the caller gets a 304", .sent(tagged),
            .cached("") { ($0.sends, $0.status) = ([.ifNoneMatch: "\"b\", W/\"a\""], 304) },
            .cached("") { ($0.sends, $0.status) = ([.ifNoneMatch: "*"], 304) }),
        CacheCase(
            "4.3.2", "If the caller has not sent the entity tag of a 304, the caller gets the stored response",
            .sent(tagged),
            .sent(tagged, "", .notModified) {
                ($0.wait, $0.sends, $0.status, $0.text) = (61, [.ifNoneMatch: "\"b\""], 200, "one")
            }, .cached(after: 59)),
        CacheCase(
            "4.3.2", "A 304 from the cache has the fields that a 304 must have (RFC 9110 section 15.4.5)",
            .sent(tagged.merging([.vary: "Accept", .date: "@0"])),
            .cached("") {
                $0.sends = [.ifNoneMatch: "\"a\""]
                $0.has = [.eTag: "\"a\"", .cacheControl: "max-age=60", .vary: "Accept", .date: "@0"]
            }),
        CacheCase(
            "4.3.2", "An entity tag may contain a comma", .sent([.cacheControl: "max-age=60", .eTag: "\"a,b\""]),
            .cached("") { ($0.sends, $0.status) = ([.ifNoneMatch: "\"x\", \"a,b\""], 304) },
            .cached { ($0.sends, $0.status) = ([.ifNoneMatch: "\"b\""], 200) }),
        CacheCase(
            "4.3.2", "If the caller's condition names a stored part, the caller gets a 304",
            .sent(tagged.merging([.contentRange: "bytes 0-2/9"]), "012", .partialContent) {
                $0.sends = [.range: "bytes=0-2"]
            }, .cached("") { ($0.sends, $0.status) = ([.range: "bytes=0-2", .ifNoneMatch: "\"a\""], 304) }),
        CacheCase(
            "4.3.2", "If the caller's condition names another response, the caller gets the stored response",
            .sent(tagged), .cached { ($0.sends, $0.status) = ([.ifNoneMatch: "\"b\""], 200) }),
        CacheCase(
            "4.3.2", "If-Modified-Since is compared with Last-Modified", .sent(dated),
            .cached("") { ($0.sends, $0.status) = ([.ifModifiedSince: "Mon, 07 Nov 1994 08:49:37 GMT"], 304) },
            .cached { ($0.sends, $0.status) = ([.ifModifiedSince: "Sat, 05 Nov 1994 08:49:37 GMT"], 200) }),
        CacheCase(
            "4.3.2", "Without Last-Modified, If-Modified-Since is compared with Date",
            .sent(fresh.merging([.date: "@0"])),
            .cached("") { ($0.sends, $0.status) = ([.ifModifiedSince: "@0"], 304) },
            .cached { ($0.sends, $0.status) = ([.ifModifiedSince: "@-1"], 200) }),
        CacheCase(
            "4.3.2", "Without Last-Modified and Date, If-Modified-Since is compared with the time of the response",
            .sent(fresh),
            .cached("") { ($0.sends, $0.status) = ([.ifModifiedSince: "@0"], 304) },
            .cached { ($0.sends, $0.status) = ([.ifModifiedSince: "@-1"], 200) }),
        CacheCase(
            "4.3.2", "If-None-Match takes precedence over If-Modified-Since", .sent(tagged.merging(dated)),
            .cached {
                $0.sends = [.ifNoneMatch: "\"b\"", .ifModifiedSince: "Mon, 07 Nov 1994 08:49:37 GMT"]
                $0.status = 200
            }),
        CacheCase(
            "4.3.2", "If-Match and If-Unmodified-Since are left to the server", .sent(tagged),
            .sent(tagged) { $0.sends = [.ifMatch: "\"a\""] },
            .sent(tagged) { $0.sends = [.ifUnmodifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"] }),
        CacheCase(
            "4.3.2", "A range is applied only if If-Range names the stored response", .sent(tagged, "0123"),
            .cached("01") { ($0.sends, $0.status) = ([.range: "bytes=0-1", .ifRange: "\"a\""], 206) },
            .cached("0123") { ($0.sends, $0.status) = ([.range: "bytes=0-1", .ifRange: "\"b\""], 200) }),
        CacheCase(
            "4.3.3", "A full response replaces the stored response", .sent(tagged),
            .sent(fresh, "two") { ($0.wait, $0.text) = (61, "two") }, .cached("two")),
        CacheCase(
            "4.3.3", "A server error is passed on, and the stored response remains", .sent(tagged),
            .sent([:], "", .serviceUnavailable) { ($0.wait, $0.status) = (61, 503) },
            .sent(tagged, "", .notModified) { ($0.asks, $0.text) = ([.ifNoneMatch: "\"a\""], "one") }),
        CacheCase(
            "4.3.4", "A 304 makes the stored response fresh again", .sent(tagged),
            .sent(tagged, "", .notModified) { ($0.wait, $0.has) = (61, [.age: "0"]) }, .cached(after: 59)),
        CacheCase(
            "4.3.4", "Among responses with one strong tag, a 304 updates only the response that the request selects",
            .sent(varied, "one") { $0.sends = [.acceptLanguage: "en"] },
            .sent(varied, "one") { $0.sends = [.acceptLanguage: "de"] },
            .sent(varied.merging(["X-New": "1"]), "", .notModified) {
                ($0.wait, $0.status, $0.text, $0.sends) = (61, 200, "one", [.acceptLanguage: "en"])
            },
            .cached { ($0.sends, $0.has) = ([.acceptLanguage: "en"], ["X-New": "1"]) },
            .sent(varied, "", .notModified) {
                ($0.status, $0.text, $0.sends) = (200, "one", [.acceptLanguage: "de"])
            }),
        CacheCase(
            "4.3.4", "Among responses with weak tags, a 304 updates the response that the request selects",
            .sent(weaklyVaried, "one") { $0.sends = [.acceptLanguage: "en"] },
            .sent(weaklyVaried, "two") { $0.sends = [.acceptLanguage: "de"] },
            .sent(weaklyVaried.merging(["X-New": "1"]), "", .notModified) {
                ($0.wait, $0.status, $0.text, $0.sends) = (61, 200, "two", [.acceptLanguage: "de"])
            },
            .cached("two") { ($0.sends, $0.has) = ([.acceptLanguage: "de"], ["X-New": "1"]) }),
        CacheCase(
            "4.3.5", "HEAD freshens the response that its fields select",
            .sent(varied, "one") { $0.sends = [.acceptLanguage: "en"] },
            .sent(varied, "two") { $0.sends = [.acceptLanguage: "de"] },
            .sent(varied.merging(["X-New": "1"]), "") {
                ($0.wait, $0.method, $0.sends) = (61, .head, [.acceptLanguage: "en"])
            },
            .cached("one") { ($0.sends, $0.has) = ([.acceptLanguage: "en"], ["X-New": "1"]) }),
        CacheCase(
            "4.3.4", "A 304 to a condition of the caller freshens the stored response that the 304 names",
            .sent(tagged),
            .sent(tagged, "", .notModified) { ($0.wait, $0.sends, $0.status) = (61, [.ifNoneMatch: "\"a\""], 304) },
            .cached(after: 59)),
        CacheCase(
            "4.3.4", "A 304 to the caller's condition does not freshen a response with another entity tag",
            .sent(tagged),
            .sent([.cacheControl: "max-age=60", .eTag: "\"b\""], "", .notModified) {
                ($0.wait, $0.sends, $0.status) = (61, [.ifNoneMatch: "\"b\""], 304)
            }, .sent { $0.asks = [.ifNoneMatch: "\"a\""] }),
        CacheCase(
            "4.3.4", "A 304 with a strong entity tag does not freshen a response with a weak entity tag",
            .sent([.cacheControl: "max-age=60", .eTag: "W/\"a\""]),
            .sent(tagged, "", .notModified) {
                ($0.wait, $0.sends, $0.status) = (61, [.ifNoneMatch: "\"a\""], 304)
            }, .sent { $0.asks = [.ifNoneMatch: "W/\"a\""] }),
        CacheCase(
            "4.3.4", "A 304 with a weak entity tag freshens a response with the strong entity tag", .sent(tagged),
            .sent([.cacheControl: "max-age=60", .eTag: "W/\"a\""], "", .notModified) { $0.wait = 61 },
            .cached(after: 59)),
        CacheCase(
            "4.3.5", "HEAD freshens the stored response even if the call does not use that response", .sent(tagged),
            .sent(tagged.merging(["X-New": "1"]), "") { ($0.wait, $0.method, $0.rule) = (30, .head, .reload) },
            .cached(after: 59) { $0.has = ["X-New": "1"] }),
        CacheCase(
            "4.3.5", "HEAD with one equal and one different validator removes the stored response",
            .sent(tagged.merging(dated)),
            .sent([.eTag: "\"a\"", .lastModified: "Mon, 07 Nov 1994 08:49:37 GMT"], "") {
                ($0.wait, $0.method) = (61, .head)
            }, .sent { $0.asks = [.ifNoneMatch: nil] }),
        CacheCase(
            "4.3.5", "HEAD freshens the stored response to GET", .sent(tagged),
            .sent(tagged.merging(["X-New": "1"]), "") { ($0.wait, $0.method) = (61, .head) },
            .cached { $0.has = ["X-New": "1"] }),
        CacheCase(
            "4.3.1", "A malformed entity tag is not sent",
            .sent([.cacheControl: "max-age=60", .eTag: "a\"b"]),
            .sent { ($0.wait, $0.asks) = (61, [.ifNoneMatch: nil]) }),
        CacheCase(
            "4.3.4", "A 304 without a date gets the time at which it was received",
            .sent(tagged.merging([.date: "@0"])), .sent(tagged, "", .notModified) { $0.wait = 61 }, .cached(after: 59)),
        CacheCase(
            "4.3.4", "A 304 to the caller's If-Modified-Since does not freshen a response with another date",
            .sent(dated),
            .sent([.cacheControl: "max-age=60"], "", .notModified) {
                ($0.wait, $0.sends) = (61, [.ifModifiedSince: "Mon, 07 Nov 1994 08:49:37 GMT"])
            }, .sent(dated)),
        CacheCase(
            "4.3.5", "HEAD with a validator that the stored response does not have removes that response", .sent(fresh),
            .sent([.eTag: "\"b\""], "") { ($0.wait, $0.method) = (61, .head) },
            .sent { $0.asks = [.ifNoneMatch: nil] }),
        CacheCase(
            "4.3.5", "HEAD without validators, but with the same length, freshens a response without validators",
            .sent(fresh),
            .sent([.contentLength: "3", .cacheControl: "max-age=60"], "") {
                ($0.wait, $0.method) = (61, .head)
            }, .cached(after: 30)),
        CacheCase(
            "4.3.5", "HEAD with another validator removes the stored response", .sent(tagged),
            .sent([.eTag: "\"b\""], "") { ($0.wait, $0.method) = (61, .head) }, .sent { $0.asks = [.ifNoneMatch: nil] }),
        CacheCase(
            "4.3.5", "HEAD with another length removes the stored response",
            .sent(tagged.merging([.contentLength: "3"])),
            .sent(tagged.merging([.contentLength: "4"]), "") { ($0.wait, $0.method) = (61, .head) },
            .sent { $0.asks = [.ifNoneMatch: nil] }),
        CacheCase(
            "4.3.1", "HEAD validates the stored response with its validators, too", .sent(tagged.merging(dated)),
            .sent(tagged, "", .notModified) {
                ($0.wait, $0.method, $0.status) = (61, .head, 200)
                $0.asks = [.ifNoneMatch: "\"a\"", .ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"]
            }, .cached(after: 59)),
        CacheCase(
            "4.3.2", "A condition on a URL without a stored response is left to the server", .sent(tagged),
            .sent(tagged, "two") {
                ($0.path, $0.sends, $0.asks) = ("b", [.ifNoneMatch: "\"a\""], [.ifNoneMatch: "\"a\""])
                ($0.status, $0.text) = (200, "two")
            }),
        CacheCase(
            "4.3.2", "A condition of an unsafe method is left to the server", .sent(tagged),
            .sent([:], "", .init(412)) {
                ($0.method, $0.sends, $0.asks) = (.put, [.ifNoneMatch: "*"], [.ifNoneMatch: "*"])
                $0.status = 412
            }),
        CacheCase(
            "4.3.2", "A condition is not applied to a stored error", .sent(tagged, "gone", .notFound),
            .cached("gone") { ($0.sends, $0.status) = ([.ifNoneMatch: "\"a\""], 404) }),
        CacheCase(
            "4.3.2", "The entity tag of a stored part is not added to a condition of the caller",
            .sent(tagged.merging([.contentRange: "bytes 0-2/9"]), "012", .partialContent) {
                $0.sends = [.range: "bytes=0-2"]
            },
            .sent([.eTag: "\"b\""], "", .notModified) {
                ($0.sends, $0.asks, $0.status) = ([.ifNoneMatch: "\"b\""], [.ifNoneMatch: "\"b\""], 304)
            }),
        CacheCase(
            "4.3.3", "A full response is used, even if it is an error or must not be stored", .sent(tagged),
            .sent([.cacheControl: "no-store"], "gone", .notFound) {
                ($0.wait, $0.asks) = (61, [.ifNoneMatch: "\"a\""])
                ($0.status, $0.text) = (404, "gone")
            }),
        CacheCase(
            "4.3.4", "A 304 with another date does not freshen the stored response", .sent(dated),
            .sent([.cacheControl: "max-age=60", .lastModified: "Mon, 07 Nov 1994 08:49:37 GMT"], "", .notModified) {
                ($0.wait, $0.sends) = (61, [.ifModifiedSince: "Mon, 07 Nov 1994 08:49:37 GMT"])
                $0.status = 304
            }, .sent(dated) { $0.asks = [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"] }),
        CacheCase(
            "4.3.4", "A 304 without a validator freshens the only stored response if that response has no validator",
            .sent(fresh),
            .sent(fresh.merging(["X-New": "1"]), "", .notModified) {
                ($0.wait, $0.sends, $0.status) = (61, [.ifModifiedSince: "@-61"], 304)
            }, .cached(after: 59) { $0.has = ["X-New": "1"] }),
    ]
}
