@testable import Networking

extension CacheCase {
    private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]
    private static let tagged: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"a\""]

    private static func control(_ value: String) -> HTTPHeaders { [.cacheControl: value] }
    private static func asking(_ value: String) -> (inout Step) -> Void { { $0.sends = [.cacheControl: value] } }

    static let directives = [
        CacheCase("5.1", "An Age that is not a number is ignored", .sent(fresh.merging([.age: "abc"])), .cached()),
        CacheCase(
            "5.1", "A negative Age is ignored", .sent(fresh.merging([.age: "-10"])), .cached { $0.has = [.age: "0"] }),
        CacheCase(
            "5.1", "The first of several Ages counts", .sent(fresh.merging([.age: "50, 0"])), .sent { $0.wait = 11 }),
        CacheCase("5.2", "Names are compared without regard to case", .sent(control("MAX-AGE=60")), .cached()),
        CacheCase("5.2", "Arguments may be quoted", .sent(control("max-age=\"60\"")), .cached()),
        CacheCase(
            "5.2", "A directive inside a quoted string does not apply", .sent(control("extension=\"max-age=60\"")),
            .sent()),
        CacheCase(
            "5.2", "Directives of several fields apply",
            .sent([HTTPHeader(.cacheControl, "public"), HTTPHeader(.cacheControl, "max-age=60")]), .cached()),
        CacheCase(
            "5.2.1.1", "max-age limits the age", .sent(fresh), .cached(after: 10, asking("max-age=10")),
            .sent {
                asking("max-age=9")(&$0)
            }),
        CacheCase(
            "5.2.1.1", "max-age=0 requires validation", .sent(tagged),
            .sent(tagged, "", .notModified) {
                asking("max-age=0")(&$0)
                ($0.asks, $0.text) = ([.ifNoneMatch: "\"a\""], "one")
            }),
        CacheCase(
            "5.2.1.2", "max-stale accepts a stale response", .sent(fresh), .cached(after: 70, asking("max-stale=10")),
            .cached("one", asking("max-stale")), .sent { asking("max-stale=9")(&$0) }),
        CacheCase(
            "5.2.1.3", "min-fresh requires a response to remain fresh", .sent(fresh),
            .cached(after: 30, asking("min-fresh=30")),
            .sent { asking("min-fresh=31")(&$0) }),
        CacheCase(
            "5.2.1.4", "no-cache requires validation", .sent(tagged),
            .sent(tagged, "", .notModified) {
                asking("no-cache")(&$0)
                ($0.asks, $0.text) = ([.ifNoneMatch: "\"a\""], "one")
            }),
        CacheCase(
            "5.2.1.5", "With no-store in the request, nothing is stored", .sent(fresh) { asking("no-store")(&$0) },
            .sent()),
        CacheCase(
            "5.2.1.7", "A request with only-if-cached is not sent, and gets a stored response or 504",
            .cached("") {
                asking("only-if-cached")(&$0)
                $0.status = 504
            }, .sent(fresh), .cached("one", asking("only-if-cached")),
            .cached("", after: 61) {
                asking("only-if-cached")(&$0)
                $0.status = 504
            }),
        CacheCase("5.2.2.1", "max-age is the lifetime", .sent(fresh), .cached(after: 59), .sent { $0.wait = 1 }),
        CacheCase(
            "5.2.2.2", "must-revalidate forbids a stale response without a network",
            .sent(control("max-age=60, must-revalidate")),
            .offline(after: 61) { ($0.rule, $0.fails) = (.staleIfOffline, true) }),
        CacheCase(
            "5.2.2.2", "must-revalidate forbids a stale response that the request accepts",
            .sent(control("max-age=60, must-revalidate")), .cached(after: 30),
            .sent {
                asking("max-stale")(&$0)
                $0.wait = 31
            }),
        CacheCase(
            "5.2.2.3", "must-understand takes precedence over no-store for a known status",
            .sent(control("max-age=60, must-understand, no-store")), .cached()),
        CacheCase(
            "5.2.2.3", "must-understand forbids storing a success with an unknown status",
            .sent(control("max-age=60, must-understand"), "", .init(226)), .sent()),
        CacheCase(
            "5.2.2.3", "must-understand takes precedence over no-store in a 304, too", .sent(tagged),
            .sent(control("max-age=60, must-understand, no-store"), "", .notModified) { $0.wait = 61 }, .cached()),
        CacheCase(
            "5.2.2.3", "must-understand forbids storing an unknown status",
            .sent(control("max-age=60, must-understand"), "", .init(499)), .sent()),
        CacheCase(
            "5.2.2.4", "no-cache requires validation before each use",
            .sent(control("max-age=60, no-cache").merging([.eTag: "\"a\""])),
            .sent([:], "", .notModified) {
                ($0.asks, $0.text) = ([.ifNoneMatch: "\"a\""], "one")
            }),
        CacheCase(
            "5.2.2.4", "no-cache forbids a stale response without a network", .sent(control("max-age=60, no-cache")),
            .offline { ($0.rule, $0.fails) = (.staleIfOffline, true) }),
        CacheCase(
            "5.2.2.4", "Fields that no-cache names are not used again",
            .sent(
                control("max-age=60, no-cache=\"X-Once, X-Two\"").merging(["X-Once": "1", "X-Two": "2", "X-Three": "3"])
            ),
            .cached { $0.has = ["X-Once": nil, "X-Two": nil, "X-Three": "3"] }),
        CacheCase(
            "5.2.2.4", "no-cache without fields applies even if there is another no-cache with fields",
            .sent(control("max-age=60, no-cache=\"X-Once\", no-cache")), .sent()),
        CacheCase(
            "5.2.2.4", "no-cache with an empty list of fields requires validation, too",
            .sent(control("max-age=60, no-cache=\" , \"")), .sent()),
        CacheCase(
            "5.2.2.4", "A malformed no-cache requires validation, too", .sent(control("max-age=60, no-cache=")),
            .sent()),
        CacheCase(
            "5.2.2.4", "Directives that are separated by a semicolon apply", .sent(control("no-cache; max-age=60")),
            .sent()),
        CacheCase(
            "5.2.2.5", "With no-store in the response, nothing is stored", .sent(control("no-store, max-age=60")),
            .sent()),
        CacheCase(
            "5.2.2.5", "A response with no-store removes the stored response", .sent(tagged),
            .sent(control("no-store")) { $0.wait = 61 }, .sent { $0.asks = [.ifNoneMatch: nil] }),
        CacheCase(
            "5.2.2.7", "private permits a private cache to store, even with a list of fields",
            .sent(control("private=\"X-A\", max-age=60").merging(["X-A": "1"])), .cached { $0.has = ["X-A": "1"] }),
        CacheCase("5.2.2.9", "public permits storing", .sent(control("public, max-age=60")), .cached()),
        CacheCase(
            "5.2.3", "Unknown directives are ignored", .sent(control("max-age=60, community=\"UCI\"")), .cached()),
        CacheCase(
            "5.2.3", "A fresh immutable response is not validated by max-age=0 (RFC 8246)",
            .sent(control("max-age=60, immutable")), .cached("one", asking("max-age=0"))),
        CacheCase(
            "5.2.3", "A stale immutable response is validated (RFC 8246)",
            .sent(tagged.merging(control("max-age=60, immutable"))),
            .sent([:], "", .notModified) { ($0.wait, $0.status, $0.text) = (61, 200, "one") }),
        CacheCase(
            "5.2.3", "no-cache requires validation of an immutable response, too (RFC 8246)",
            .sent(control("max-age=60, immutable")), .sent { asking("no-cache")(&$0) }),
        CacheCase(
            "5.2.3", "stale-while-revalidate permits a stale response for a time (RFC 5861)",
            .sent(control("max-age=60, stale-while-revalidate=30")), .sent { $0.wait = 91 }),
        CacheCase(
            "5.2.3", "stale-if-error replaces a server error for a time (RFC 5861)",
            .sent(control("max-age=60, stale-if-error=30")),
            .sent([:], "broken", .internalServerError) { ($0.wait, $0.status, $0.text) = (61, 200, "one") },
            .sent([:], "broken", .internalServerError) { ($0.wait, $0.status) = (30, 500) }),
        CacheCase(
            "5.2.3", "stale-if-error replaces a failure (RFC 5861)", .sent(control("max-age=60, stale-if-error=30")),
            .offline(after: 61) { $0.text = "one" }, .offline(after: 30) { $0.fails = true }),
        CacheCase(
            "5.2.3", "stale-if-error of the request replaces a server error (RFC 5861)", .sent(fresh),
            .sent([:], "", .badGateway) {
                asking("stale-if-error=30")(&$0)
                ($0.wait, $0.text) = (61, "one")
            }),
        CacheCase("5.3", "An Expires that is not a date counts as a date in the past", .sent([.expires: "0"]), .sent()),
        CacheCase(
            "5.3", "With an Expires in the past, the response is stale", .sent([.expires: "@-1", .date: "@0"]),
            .sent()),
        CacheCase(
            "5.4", "Pragma: no-cache requires validation", .sent(tagged),
            .sent(tagged, "", .notModified) {
                ($0.sends, $0.asks) = (["Pragma": "no-cache"], [.ifNoneMatch: "\"a\""])
            }),
        CacheCase(
            "5.4", "Cache-Control takes precedence over Pragma", .sent(fresh),
            .cached { $0.sends = ["Pragma": "no-cache", .cacheControl: "max-age=60"] }),
        CacheCase(
            "5.4", "Pragma of a response has no meaning", .sent(fresh.merging(["Pragma": "no-cache"])), .cached()),
        CacheCase(
            "5.1", "Only the first of several Age fields counts; it is ignored if it is not a number",
            .sent(fresh.merging([HTTPHeader(.age, "50"), HTTPHeader(.age, "0")])),
            .sent(fresh.merging([.age: "abc, 50"]), "two") { ($0.wait, $0.text) = (11, "two") },
            .cached("two", after: 59)),
        CacheCase(
            "5.2.1.5", "With no-store in the request, no part of a 304 is stored", .sent(tagged),
            .sent(tagged.merging(["X-New": "1"]), "", .notModified) {
                asking("no-store")(&$0)
                ($0.wait, $0.text) = (61, "one")
            }, .sent()),
        CacheCase(
            "5.2.1.7", "With only-if-cached, the status is 504 if no stored response satisfies the other directives",
            .sent(fresh),
            .cached("", after: 30) {
                asking("only-if-cached, max-age=10")(&$0)
                $0.status = 504
            },
            .cached("") {
                asking("only-if-cached, no-cache")(&$0)
                $0.status = 504
            }, .cached("one", after: 40, asking("only-if-cached, max-stale=10"))),
        CacheCase(
            "5.2.2.2", "must-revalidate takes precedence over the directives that permit a stale response",
            .sent(control("max-age=60, must-revalidate, stale-while-revalidate=60, stale-if-error=60")),
            .sent([:], "broken", .badGateway) { ($0.wait, $0.status, $0.text) = (61, 502, "broken") },
            .offline { $0.fails = true }),
        CacheCase(
            "5.2.2.4", "no-cache takes precedence over the directives that permit a stale response",
            .sent(control("max-age=60, no-cache, stale-if-error=60")),
            .sent([:], "broken", .badGateway) {
                asking("max-stale")(&$0)
                ($0.status, $0.text) = (502, "broken")
            }),
        CacheCase(
            "5.2.2.4", "The names of fields are compared without regard to case",
            .sent(control("max-age=60, no-cache=\"x-ONCE\"").merging(["X-Once": "1"])),
            .cached { $0.has = ["X-Once": nil] }),
        CacheCase(
            "5.2.2.5", "With no-store in a 304 or in a part, nothing is stored", .sent(tagged),
            .sent(control("no-store"), "", .notModified) { ($0.wait, $0.text) = (61, "one") },
            .sent(control("no-store, max-age=60").merging([.contentRange: "bytes 0-2/9"]), "012", .partialContent) {
                $0.sends = [.range: "bytes=0-2"]
            }, .sent { $0.sends = [.range: "bytes=0-2"] }),
        CacheCase(
            "5.2.3", "Unknown directives of a request are ignored, too", .sent(fresh),
            .cached("one", asking("community=\"UCI, no-cache\", immutable"))),
        CacheCase(
            "5.3", "Expires is ignored if there is a valid or invalid max-age",
            .sent(control("max-age=1").merging([.expires: "@60", .date: "@0"])),
            .sent(control("max-age=abc").merging([.expires: "@60", .date: "@0"]), "two") {
                ($0.wait, $0.text) = (2, "two")
            }, .sent([:], "three") { $0.text = "three" }),
    ]
}
