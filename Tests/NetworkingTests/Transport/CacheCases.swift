@testable import Networking

extension CacheCase {
    static let all = storing + fields + partial + reuse + vary + freshness + validation + invalidation + directives

    private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]
    private static let tagged: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"a\""]

    private static let reuse = [
        CacheCase("4", "A response is used for its own URL only", .sent(fresh), .sent { $0.path = "b" }),
        CacheCase(
            "4", "A response is used for its own query only", .sent(fresh) { $0.path = "a?x=1" },
            .sent { $0.path = "a?x=2" },
            .cached { $0.path = "a?x=1" }),
        CacheCase("4", "The fragment is not part of the URL", .sent(fresh), .cached { $0.path = "a#x" }),
        CacheCase(
            "4", "A request with another Host is a request for another URL", .sent(fresh) { $0.sends = ["Host": "a"] },
            .sent { $0.sends = ["Host": "b"] }),
        CacheCase("4", "A stored response to GET is used for HEAD", .sent(fresh), .cached("") { $0.method = .head }),
        CacheCase("4", "A used response has an Age", .sent(fresh), .cached(after: 7) { $0.has = [.age: "7"] }),
        CacheCase(
            "4", "A request with an unsafe method is sent to the server", .sent(fresh), .sent { $0.method = .put }),
        CacheCase(
            "4", "If several responses are suitable, the response with the latest Date is used",
            .sent(fresh.merging([.vary: "Accept", .date: "@0"]), "new") { $0.sends = [.accept: "text/a"] },
            .sent(fresh.merging([.vary: "Accept-Language", .date: "@-10"]), "old") { $0.sends = [.accept: "text/b"] },
            .cached("new") { $0.sends = [.accept: "text/a"] }),
        CacheCase(
            "4", "A request with an unsafe method is sent to the server, even with only-if-cached", .sent(fresh),
            .sent { ($0.method, $0.sends) = (.put, [.cacheControl: "only-if-cached"]) }),
        CacheCase("4", "A response to HEAD is not used for GET", .sent(fresh, "") { $0.method = .head }, .sent()),
        CacheCase(
            "4", "The current Age replaces the received Age, even in a part and in a 304",
            .sent(tagged.merging([.age: "5"]), "0123"),
            .cached("01", after: 7) {
                ($0.sends, $0.status, $0.has) = ([.range: "bytes=0-1"], 206, [.age: "12"])
            },
            .cached("") { ($0.sends, $0.status, $0.has) = ([.ifNoneMatch: "\"a\""], 304, [.age: "12"]) }),
        CacheCase(
            "4", "A stale response that is used has an Age, too", .sent(fresh),
            .offline(after: 61) { ($0.rule, $0.text, $0.has) = (.staleIfOffline, "one", [.age: "61"]) }),
    ]

    private static let varied: HTTPHeaders = [.cacheControl: "max-age=60", .vary: "Accept-Language, X-Mode"]

    private static let vary = [
        CacheCase("4.1", "`Vary: *` never matches", .sent([.cacheControl: "max-age=60", .vary: "*"]), .sent()),
        CacheCase(
            "4.1", "A request with another value of a field that Vary names does not match",
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
            "4.1", "A field that may identify a user is compared without normalization",
            .sent([.cacheControl: "max-age=60", .vary: "X-User"], "Mary") { $0.sends = ["X-User": "Mary Ann"] },
            .sent([:], "other") { $0.sends = ["X-User": "MaryAnn"] }, .sent([:], "none")),
        CacheCase(
            "4.1", "A field with an empty value does not match a missing field",
            .sent(varied, "en") { $0.sends = [.acceptLanguage: ""] }, .sent([:], "none")),
        CacheCase(
            "4.1", "A 304 with another Vary changes which requests match",
            .sent([.cacheControl: "max-age=60", .eTag: "\"a\""], "en") { $0.sends = [.acceptLanguage: "en"] },
            .sent([.cacheControl: "max-age=60", .vary: "Accept-Language"], "", .notModified) {
                ($0.wait, $0.sends) = (61, [.acceptLanguage: "en"])
            }, .sent([:], "de") { $0.sends = [.acceptLanguage: "de"] }),
        CacheCase(
            "4.1", "A suitable response with Vary takes precedence over a response without Vary",
            .sent(fresh.merging([.vary: "Accept", .date: "@-10"]), "chosen") { $0.sends = [.accept: "text/a"] },
            .sent(fresh.merging([.date: "@0"]), "default") { $0.sends = [.accept: "text/b"] },
            .cached("chosen") { $0.sends = [.accept: "text/a"] },
            .cached("default") { $0.sends = [.accept: "text/b"] }),
        CacheCase(
            "4.1", "The values of a field that is not a list are compared without normalization",
            .sent([.cacheControl: "max-age=60", .vary: "User-Agent"], "one") { $0.sends = ["User-Agent": "a, b"] },
            .sent([:], "two") { $0.sends = ["User-Agent": "a,b"] }),
        CacheCase(
            "4.1", "Quoted strings are compared without normalization",
            .sent([.cacheControl: "max-age=60", .vary: "Accept"], "one") { $0.sends = [.accept: "a/b;c=\"d, e\""] },
            .sent([:], "two") { $0.sends = [.accept: "a/b;c=\"d,e\""] }),
        CacheCase(
            "4.1", "Several fields with the same name are combined",
            .sent(varied, "en") { $0.sends = [HTTPHeader(.acceptLanguage, "en"), HTTPHeader(.acceptLanguage, "de")] },
            .cached("en") { $0.sends = [.acceptLanguage: "en, de"] }),
        CacheCase(
            "4.1", "`Vary` with `*` and a name never matches",
            .sent([.cacheControl: "max-age=60", .vary: "Accept, *"]), .sent()),
        CacheCase(
            "4.1", "All names of several Vary fields count",
            .sent(fresh.merging([HTTPHeader(.vary, "Accept"), HTTPHeader(.vary, "accept-language")]), "en") {
                $0.sends = [.acceptLanguage: "en"]
            },
            .sent([:], "de") { ($0.sends, $0.text) = ([.acceptLanguage: "de"], "de") }),
    ]

    private static let freshness = [
        CacheCase(
            "4.2.1", "max-age takes precedence over Expires", .sent(fresh.merging([.expires: "@-60"])), .cached()),
        CacheCase(
            "4.2.1", "Expires minus Date is the lifetime", .sent([.expires: "@60", .date: "@0"]), .cached(after: 59),
            .sent { $0.wait = 2 }),
        CacheCase(
            "4.2", "A date is read without regard to case",
            .sent([.expires: "SUN, 06 nov 2094 08:49:37 gmt", .date: "@0"]), .cached()),
        CacheCase(
            "4.2", "A date in a time zone other than GMT is invalid",
            .sent([.expires: "Sun, 06 Nov 2094 08:49:37 EST", .date: "@0"]), .sent()),
        CacheCase(
            "4.2.1", "The first of two max-age values applies", .sent([.cacheControl: "max-age=60, max-age=1"]),
            .cached(after: 30)),
        CacheCase(
            "4.2.1", "s-maxage does not apply to a private cache", .sent([.cacheControl: "max-age=60, s-maxage=1"]),
            .cached(after: 30)),
        CacheCase(
            "4.2.1", "proxy-revalidate does not apply to a private cache",
            .sent([.cacheControl: "max-age=60, proxy-revalidate"]),
            .cached("one", after: 61) { $0.sends = [.cacheControl: "max-stale=9"] }),
        CacheCase(
            "4.2.1", "With an invalid max-age, the response is stale", .sent([.cacheControl: "max-age=a60"]), .sent()),
        CacheCase("4.2.1", "A max-age with a blank is invalid", .sent([.cacheControl: "max-age= 60"]), .sent()),
        CacheCase("4.2.1", "A negative max-age is invalid", .sent([.cacheControl: "max-age=-60"]), .sent()),
        CacheCase(
            "4.2.1", "A very large max-age is 2³¹ seconds", .sent([.cacheControl: "max-age=99999999999999999999"]),
            .cached(after: 1 << 30)),
        CacheCase(
            "4.2.2", "Without explicit freshness, the lifetime is a tenth of the time since Last-Modified",
            .sent([.lastModified: "@-1000"]), .cached(after: 99), .sent { $0.wait = 2 }),
        CacheCase(
            "4.2.2", "A heuristic does not apply if there is explicit freshness",
            .sent([.lastModified: "@-1000", .cacheControl: "max-age=1"]), .sent { $0.wait = 2 }),
        CacheCase(
            "4.2.2", "A heuristic does not apply to a status that is not cacheable by default",
            .sent([.lastModified: "@-1000"], "", .found), .sent()),
        CacheCase(
            "4.2.2", "`public` permits a heuristic lifetime",
            .sent([.lastModified: "@-1000", .cacheControl: "public"], "", .found),
            .cached("") { $0.status = 302 }),
        CacheCase(
            "4.2.2", "A heuristic lifetime is at most a week", .sent([.lastModified: "@-100000000"]),
            .cached(after: 604_700),
            .sent { $0.wait = 200 }),
        CacheCase("4.2.3", "The age counts from Date", .sent(fresh.merging([.date: "@-3600"])), .sent()),
        CacheCase(
            "4.2.3", "The age counts from Date if the time since Date is larger than Age",
            .sent([.cacheControl: "max-age=100", .date: "@-50", .age: "10"]),
            .cached(after: 40) { $0.has = [.age: "90"] }),
        CacheCase(
            "4.2.3", "The Age of another cache is part of the age",
            .sent(fresh.merging([.age: "50"])), .cached(after: 9),
            .sent { $0.wait = 2 }),
        CacheCase(
            "4.2.3", "The duration of the request is part of the age",
            .sent(fresh.merging([.age: "50"])) { $0.latency = 11 },
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
        CacheCase(
            "4.2", "The local time zone does not matter for a date without a zone",
            .sent([.expires: "Tue Nov 14 22:14:20 2023", .date: "Tue Nov 14 22:13:20 2023"]), .cached(after: 59),
            .sent { $0.wait = 2 }),
        CacheCase(
            "4.2.2", "A heuristic does not apply if there is a valid or invalid Expires",
            .sent([.lastModified: "@-100000", .expires: "0"]),
            .sent([.lastModified: "@-100000", .expires: "@10", .date: "@0"], "two") { $0.text = "two" },
            .sent([:], "three") { ($0.wait, $0.text) = (11, "three") }),
        CacheCase(
            "4.2.4", "A request with no-cache forbids a stale response without a network", .sent(fresh),
            .offline(after: 61) {
                ($0.sends, $0.rule, $0.fails) = ([.cacheControl: "no-cache"], .staleIfOffline, true)
            }),
    ]
}
