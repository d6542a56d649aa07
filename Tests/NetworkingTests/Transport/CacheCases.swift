@testable import Networking

extension CacheCase {
    static let all = storing + fields + partial + reuse + vary + freshness + validation + invalidation + directives

    private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]
    private static let tagged: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"a\""]

    private static let storing = [
        CacheCase("3", "A method that is not understood is not stored", .sent(fresh) { $0.method = "SEARCH" }, .sent()),
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
            "3", "`private` permits a private cache to store", .sent([.cacheControl: "private, max-age=60"]), .cached()),
        CacheCase(
            "3.3", "An incomplete response is not used as a complete one",
            .sent([.cacheControl: "max-age=60", .contentRange: "bytes 0-2/9"], "one", .partialContent) {
                $0.sends = [.range: "bytes=0-2"]
            }, .sent(fresh, "whole") { $0.text = "whole" }),
    ]

    private static let fields = [
        CacheCase(
            "3.1", "Unknown fields are stored", .sent(fresh.merging(["X-Unknown": "1"])),
            .cached { $0.has = ["X-Unknown": "1"] }),
        CacheCase(
            "3.1", "A response without Date gets the time at which it was received (RFC 9110 section 6.6.1)",
            .sent(fresh), .cached(after: 10) { $0.has = [.date: "@-10"] }),
        CacheCase(
            "3.1", "Connection, the fields it names and the fields of a connection are not stored",
            .sent(fresh.merging(["Connection": "X-Hop", "X-Hop": "1", "Keep-Alive": "5", "Upgrade": "h2c"])),
            .cached { $0.has = ["Connection": nil, "X-Hop": nil, "Keep-Alive": nil, "Upgrade": nil] }),
        CacheCase(
            "3.1", "The fields of a proxy are not stored",
            .sent(fresh.merging(["Proxy-Authenticate": "Basic", "Proxy-Authentication-Info": "x"])),
            .cached { $0.has = ["Proxy-Authenticate": nil, "Proxy-Authentication-Info": nil] }),
        CacheCase(
            "3.2", "A 304 replaces and adds fields of the stored response",
            .sent(tagged.merging(["X-Old": "1", "X-New": "1"])),
            .sent(tagged.merging(["X-New": "2"]), "", .notModified) {
                ($0.wait, $0.status, $0.text, $0.has) = (61, 200, "one", ["X-Old": "1", "X-New": "2"])
            }, .cached { $0.has = ["X-Old": "1", "X-New": "2"] }),
        CacheCase(
            "3.2", "A 304 whose no-cache names a stored field removes it",
            .sent(tagged.merging(["X-Once": "1"])),
            .sent([.cacheControl: "max-age=60, no-cache=X-Once"], "", .notModified) {
                ($0.wait, $0.has) = (61, ["X-Once": nil])
            }, .cached { $0.has = ["X-Once": nil] }),
        CacheCase(
            "3.2", "A 304 changes neither the length nor the coding of the stored content",
            .sent(tagged.merging([.contentLength: "3"])),
            .sent(tagged.merging([.contentLength: "0", .contentEncoding: "gzip"]), "", .notModified) { $0.wait = 61 },
            .cached { $0.has = [.contentLength: "3", .contentEncoding: nil] }),
    ]

    private static func part(_ bytes: String, _ tag: String = "\"a\"") -> HTTPHeaders {
        [.cacheControl: "max-age=60", .eTag: tag, .contentRange: "bytes \(bytes)"]
    }

    private static func asking(_ range: String) -> (inout Step) -> Void { { $0.sends = [.range: "bytes=\(range)"] } }

    private static let partial = [
        CacheCase(
            "3.3", "A range of a complete response is answered with 206", .sent(fresh, "0123456789"),
            .cached("01") {
                asking("0-1")(&$0)
                ($0.status, $0.has) = (206, [.contentRange: "bytes 0-1/10", .contentLength: "2"])
            }, .cached("89", asking("-2")), .cached("56789", asking("5-"))),
        CacheCase(
            "3.3", "A range that is not stored is requested",
            .sent(part("0-2/9"), "012", .partialContent, asking("0-2")),
            .cached("12", asking("1-2")), .sent(part("3-5/9"), "345", .partialContent, asking("3-5"))),
        CacheCase(
            "3.3", "Several ranges are requested", .sent(fresh, "0123456789"),
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
            "3.4", "Parts with other validators are not combined",
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
    ]

    private static let reuse = [
        CacheCase("4", "A response is used for its own URL only", .sent(fresh), .sent { $0.path = "b" }),
        CacheCase(
            "4", "A response is used for its own query only", .sent(fresh) { $0.path = "a?x=1" },
            .sent { $0.path = "a?x=2" },
            .cached { $0.path = "a?x=1" }),
        CacheCase("4", "The fragment is not part of the URL", .sent(fresh), .cached { $0.path = "a#x" }),
        CacheCase(
            "4", "Another Host is another URL", .sent(fresh) { $0.sends = ["Host": "a"] },
            .sent { $0.sends = ["Host": "b"] }),
        CacheCase("4", "HEAD is answered from the response to GET", .sent(fresh), .cached("") { $0.method = .head }),
        CacheCase("4", "A used response has an Age", .sent(fresh), .cached(after: 7) { $0.has = [.age: "7"] }),
        CacheCase("4", "A request with an unsafe method is written through", .sent(fresh), .sent { $0.method = .put }),
        CacheCase(
            "4", "Of several suitable responses, the one with the latest Date is used",
            .sent(fresh.merging([.vary: "Accept", .date: "@0"]), "new") { $0.sends = [.accept: "text/a"] },
            .sent(fresh.merging([.vary: "Accept-Language", .date: "@-10"]), "old") { $0.sends = [.accept: "text/b"] },
            .cached("new") { $0.sends = [.accept: "text/a"] }),
        CacheCase(
            "4", "A request with an unsafe method is written through, with only-if-cached, too", .sent(fresh),
            .sent { ($0.method, $0.sends) = (.put, [.cacheControl: "only-if-cached"]) }),
    ]

    private static let varied: HTTPHeaders = [.cacheControl: "max-age=60", .vary: "Accept-Language, X-Mode"]

    private static let vary = [
        CacheCase("4.1", "`Vary: *` never matches", .sent([.cacheControl: "max-age=60", .vary: "*"]), .sent()),
        CacheCase(
            "4.1", "Other values of a field that Vary names do not match",
            .sent(varied, "en") { $0.sends = [.acceptLanguage: "en"] },
            .sent(varied, "de") { $0.sends = [.acceptLanguage: "de"] },
            .cached("en") { $0.sends = [.acceptLanguage: "en"] },
            .cached("de") { $0.sends = [.acceptLanguage: "de"] }),
        CacheCase(
            "4.1", "A missing field matches only a missing field",
            .sent(varied, "en") { $0.sends = [.acceptLanguage: "en"] },
            .sent(varied)),
        CacheCase(
            "4.1", "Blanks around commas and the case of languages do not matter, but their order does",
            .sent(varied, "en") { $0.sends = [.acceptLanguage: "en, de;q=0.5"] },
            .cached("en") { $0.sends = [.acceptLanguage: "EN,de;q=0.5"] },
            .sent(varied, "de") { $0.sends = [.acceptLanguage: "de;q=0.5,en"] }),
        CacheCase(
            "4.1", "A field that may identify a user is compared as it is",
            .sent([.cacheControl: "max-age=60", .vary: "X-User"], "Mary") { $0.sends = ["X-User": "Mary Ann"] },
            .sent([:], "other") { $0.sends = ["X-User": "MaryAnn"] }, .sent([:], "none")),
        CacheCase(
            "4.1", "A field with an empty value does not match a missing one",
            .sent(varied, "en") { $0.sends = [.acceptLanguage: ""] }, .sent([:], "none")),
        CacheCase(
            "4.1", "A 304 with another Vary changes which requests match",
            .sent([.cacheControl: "max-age=60", .eTag: "\"a\""], "en") { $0.sends = [.acceptLanguage: "en"] },
            .sent([.cacheControl: "max-age=60", .vary: "Accept-Language"], "", .notModified) {
                ($0.wait, $0.sends) = (61, [.acceptLanguage: "en"])
            }, .sent([:], "de") { $0.sends = [.acceptLanguage: "de"] }),
        CacheCase(
            "4.1", "A suitable response with Vary precedes one without",
            .sent(fresh.merging([.vary: "Accept", .date: "@-10"]), "chosen") { $0.sends = [.accept: "text/a"] },
            .sent(fresh.merging([.date: "@0"]), "default") { $0.sends = [.accept: "text/b"] },
            .cached("chosen") { $0.sends = [.accept: "text/a"] },
            .cached("default") { $0.sends = [.accept: "text/b"] }),
        CacheCase(
            "4.1", "The values of a field that is no list match only as they are",
            .sent([.cacheControl: "max-age=60", .vary: "User-Agent"], "one") { $0.sends = ["User-Agent": "a, b"] },
            .sent([:], "two") { $0.sends = ["User-Agent": "a,b"] }),
        CacheCase(
            "4.1", "Quoted strings match only as they are",
            .sent([.cacheControl: "max-age=60", .vary: "Accept"], "one") { $0.sends = [.accept: "a/b;c=\"d, e\""] },
            .sent([:], "two") { $0.sends = [.accept: "a/b;c=\"d,e\""] }),
        CacheCase(
            "4.1", "Several fields of a name are combined",
            .sent(varied, "en") { $0.sends = [HTTPHeader(.acceptLanguage, "en"), HTTPHeader(.acceptLanguage, "de")] },
            .cached("en") { $0.sends = [.acceptLanguage: "en, de"] }),
    ]

    private static let freshness = [
        CacheCase("4.2.1", "max-age precedes Expires", .sent(fresh.merging([.expires: "@-60"])), .cached()),
        CacheCase(
            "4.2.1", "Expires minus Date is the lifetime", .sent([.expires: "@60", .date: "@0"]), .cached(after: 59),
            .sent { $0.wait = 2 }),
        CacheCase(
            "4.2", "A date is read without regard to case",
            .sent([.expires: "SUN, 06 nov 2094 08:49:37 gmt", .date: "@0"]), .cached()),
        CacheCase(
            "4.2", "A date in another zone than GMT is invalid",
            .sent([.expires: "Sun, 06 Nov 2094 08:49:37 EST", .date: "@0"]), .sent()),
        CacheCase(
            "4.2.1", "The first of two values applies", .sent([.cacheControl: "max-age=60, max-age=1"]),
            .cached(after: 30)),
        CacheCase(
            "4.2.1", "s-maxage does not apply to a private cache", .sent([.cacheControl: "max-age=60, s-maxage=1"]),
            .cached(after: 30)),
        CacheCase("4.2.1", "An invalid max-age means stale", .sent([.cacheControl: "max-age=a60"]), .sent()),
        CacheCase("4.2.1", "A max-age with a blank is invalid", .sent([.cacheControl: "max-age= 60"]), .sent()),
        CacheCase("4.2.1", "A negative max-age is invalid", .sent([.cacheControl: "max-age=-60"]), .sent()),
        CacheCase(
            "4.2.1", "A very large max-age is 2³¹ seconds", .sent([.cacheControl: "max-age=99999999999999999999"]),
            .cached(after: 1 << 30)),
        CacheCase(
            "4.2.2", "Without explicit freshness, a tenth of the time since Last-Modified is fresh",
            .sent([.lastModified: "@-1000"]), .cached(after: 99), .sent { $0.wait = 2 }),
        CacheCase(
            "4.2.2", "A heuristic does not apply next to explicit freshness",
            .sent([.lastModified: "@-1000", .cacheControl: "max-age=1"]), .sent { $0.wait = 2 }),
        CacheCase(
            "4.2.2", "A heuristic does not apply to a status that is not cacheable by default",
            .sent([.lastModified: "@-1000"], "", .found), .sent()),
        CacheCase(
            "4.2.2", "`public` permits a heuristic",
            .sent([.lastModified: "@-1000", .cacheControl: "public"], "", .found),
            .cached("") { $0.status = 302 }),
        CacheCase(
            "4.2.2", "A heuristic lifetime is at most a week", .sent([.lastModified: "@-100000000"]),
            .cached(after: 604_700),
            .sent { $0.wait = 200 }),
        CacheCase("4.2.3", "The age counts from Date", .sent(fresh.merging([.date: "@-3600"])), .sent()),
        CacheCase(
            "4.2.3", "The age counts from Date, if Date is larger than Age",
            .sent([.cacheControl: "max-age=100", .date: "@-50", .age: "10"]),
            .cached(after: 40) { $0.has = [.age: "90"] }),
        CacheCase(
            "4.2.3", "The age of another cache counts", .sent(fresh.merging([.age: "50"])), .cached(after: 9),
            .sent { $0.wait = 2 }),
        CacheCase(
            "4.2.3", "The duration of the request counts", .sent(fresh.merging([.age: "50"])) { $0.latency = 11 },
            .sent()),
        CacheCase(
            "4.2.3", "A Date in the future counts as now", .sent(fresh.merging([.date: "@3600"])), .cached(after: 59)),
        CacheCase("4.2.4", "A stale response is not used", .sent(fresh), .sent { $0.wait = 61 }),
        CacheCase(
            "4.2.4", "A stale response is not used without a network", .sent(fresh),
            .offline(after: 61) { $0.fails = true }),
        CacheCase(
            "4.2.4", "A stale response is used without a network, if the call permits it", .sent(fresh),
            .offline(after: 61) { ($0.rule, $0.text) = (.staleIfOffline, "one") }),
    ]
}
