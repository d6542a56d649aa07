import Foundation
import Networking

/// The fields of a request and its caching rule, as values.
struct AskedFields: Sendable {
    enum NoCache: CaseIterable, Sendable {
        case none, directive, pragma
    }

    /// The argument of `max-stale`.
    enum MaxStale: Sendable {
        case none, any
        case some(Int64)
    }

    /// Which responses the request asks for.
    enum Rule: CaseIterable, Sendable {
        case fresh, staleIfOffline, only
    }

    var maxAge = StoredFields.Seconds.none
    var minFresh: Int64?
    var maxStale = MaxStale.none
    var noCache = NoCache.none
    var isOnlyIfCached = false
    var staleIfError: Int64?
    var rule = Rule.fresh
    var isAwaiting = false

    /// The request; nil if it would have both `Pragma` and `Cache-Control`, because `Pragma` counts only without
    /// `Cache-Control`.
    var request: CacheRequest? {
        var directives: [String] = []
        if let text = maxAge.text { directives.append("max-age=\(text)") }
        if let minFresh { directives.append("min-fresh=\(minFresh)") }
        switch maxStale {
        case .none: break
        case .any: directives.append("max-stale")
        case .some(let seconds): directives.append("max-stale=\(seconds)")
        }
        if noCache == .directive { directives.append("no-cache") }
        if isOnlyIfCached { directives.append("only-if-cached") }
        if let staleIfError { directives.append("stale-if-error=\(staleIfError)") }
        guard let url = URL(string: "https://a.example/"), noCache != .pragma || directives.isEmpty else { return nil }
        var request = HTTPRequest(.get, url)
        if !directives.isEmpty { request.headers[.cacheControl] = directives.joined(separator: ", ") }
        if noCache == .pragma { request.headers["Pragma"] = "no-cache" }
        if isAwaiting { request.parts.orderValidation() }
        let rule: ResponseCache.Rule =
            switch self.rule {
            case .fresh: .fresh
            case .staleIfOffline: .staleIfOffline
            case .only: .only
            }
        return CacheRequest(request, rule, .buffered(limit: 1_000))
    }

    /// All combinations.
    static var all: [AskedFields] {
        var all: [AskedFields] = []
        let ages: [StoredFields.Seconds] = [.none, .malformed, .some(0), .some(8)]
        for (maxAge, minFresh) in pairs(ages, [nil, 0, 3] as [Int64?]) {
            for (maxStale, noCache) in pairs([.none, .any, .some(4)] as [MaxStale], NoCache.allCases) {
                for (isOnlyIfCached, staleIfError) in pairs([false, true], [nil, 20] as [Int64?]) {
                    for (rule, isAwaiting) in pairs(Rule.allCases, [false, true]) {
                        all.append(
                            AskedFields(
                                maxAge: maxAge, minFresh: minFresh, maxStale: maxStale, noCache: noCache,
                                isOnlyIfCached: isOnlyIfCached, staleIfError: staleIfError, rule: rule,
                                isAwaiting: isAwaiting))
                    }
                }
            }
        }
        return all
    }
}

/// The decisions of a cache about a stored response, for all combinations of its freshness, its age and the request.
enum DecisionTable {
    private struct Stored {
        let fields: StoredFields
        let response: CachedResponse
    }

    static func fill(_ table: inout Table, _ settings: ProofSettings) {
        let stored = stored
        // A quick run covers every request and every response, but not all combinations of them.
        let step = settings.isQuick ? 7 : 1
        for (number, asked) in AskedFields.all.enumerated() {
            guard let request = asked.request else { continue }
            for one in stride(from: number % step, to: stored.count, by: step) {
                compare(stored[one], asked, request, &table)
            }
        }
    }

    private static var stored: [Stored] {
        guard let url = URL(string: "https://a.example/"),
            let plain = CacheRequest(HTTPRequest(.get, url), .fresh, .buffered(limit: 1_000))
        else { return [] }
        var all: [StoredFields] = []
        let seconds: [StoredFields.Seconds] = [.none, .some(10)]
        for (maxAge, age) in pairs([.none, .some(10)] as [StoredFields.Seconds], seconds) {
            for (noCache, mustRevalidate) in pairs(StoredFields.NoCache.allCases, [false, true]) {
                for (whileRevalidating, ifError) in pairs(seconds, seconds) {
                    all.append(
                        StoredFields(
                            maxAge: maxAge, dateAge: 0, age: age, noCache: noCache, mustRevalidate: mustRevalidate,
                            staleWhileRevalidate: whileRevalidating, staleIfError: ifError))
                }
            }
        }
        return all.enumerated().compactMap { number, fields in
            let response = HTTPResponse(.ok, headers: fields.headers(style: number % 3), to: HTTPRequest(.get, url))
            return CachedResponse(response, to: plain, fields.freshness(style: number % 3)).map {
                Stored(fields: fields, response: $0)
            }
        }
    }

    private static func compare(
        _ stored: Stored, _ asked: AskedFields, _ request: CacheRequest, _ table: inout Table
    ) {
        for elapsed: Int64 in [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 19, 20, 21, 29, 30, 31, 100] {
            let now = StoredFields.received + Double(elapsed)
            let rules = CacheRules(stored: stored.fields, asked: asked, age: stored.fields.initialAge + elapsed)
            let (row, expected) = rules.decision
            let text = { "\(stored.fields), \(asked), after \(elapsed) s" }
            let use = CacheRules.Use(stored.response.bestUse(for: request, at: now))
            table.expect(use, expected, row: row, text())
            for failure in CacheRules.Failure.allCases {
                let (row, expected) = rules.mayReplace(failure)
                let found: CacheFailure = failure == .noResponse ? .noResponse : .serverError
                table.expect(
                    stored.response.mayReplace(found, of: request, at: now), expected, row: row,
                    "\(failure), \(text())")
            }
        }
    }
}

extension CacheRules.Use {
    fileprivate init(_ use: CacheUse) {
        self =
            switch use {
            case .send: .send
            case .refuse: .refuse
            case .use: .use
            case .useAndRevalidate: .useAndRevalidate
            }
    }
}
