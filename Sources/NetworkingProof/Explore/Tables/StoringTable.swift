import Foundation
import Networking

/// Which responses a private cache stores (RFC 9111 section 3), for all combinations of status and directives.
enum StoringTable {
    private struct Case {
        let status: HTTPStatus
        let directives: [String]
        let isRefused: Bool
        let method: HTTPMethod

        func has(_ directive: String) -> Bool { directives.contains(directive) }

        /// Whether the cache knows the meaning of the status. It knows successes, and the statuses that are cacheable
        /// by default.
        private var isUnderstood: Bool {
            (200...206).contains(status.code)
                || [300, 301, 308, 404, 405, 410, 414, 501].contains(status.code)
        }

        var expected: (row: String, Bool) {
            let isSuccess = [200, 203, 204].contains(status.code)
            let rows: [(row: String, applies: Bool, Bool)] = [
                ("onlyGetIsStored", method != .get, false),
                ("aRequestMayRefuseStoring", isRefused, false),
                ("mustUnderstandNeedsAKnownStatus", has("must-understand") && !isUnderstood, false),
                ("noStoreIsNotStored", has("no-store") && !has("must-understand"), false),
                ("interimResponsesAreNotStored", status.code < 200, false),
                ("responsesToConditionsAreNotStored", [304, 401, 407, 412, 416].contains(status.code), false),
                ("aPartNeedsItsRange", status == .partialContent, false),  // these responses have no Content-Range
                ("aSuccessIsStored", isSuccess, true),
                ("othersAreStoredWhileFresh", true, has("max-age=10")),
            ]
            let first = rows.first { $0.applies }
            return (first?.row ?? "", first?.2 ?? false)
        }
    }

    static func fill(_ table: inout Table) {
        let codes = [100, 103] + Array(200...208) + Array(300...308) + Array(400...418) + Array(500...505) + [599]
        let sets = ["no-store", "must-understand", "private", "max-age=10", "max-age=0"]
        for code in codes {
            for bits in 0..<(1 << sets.count) where bits & 0b11000 != 0b11000 {
                let directives = sets.indices.filter { bits & (1 << $0) != 0 }.map { sets[$0] }
                for (isRefused, method) in pairs([false, true], [HTTPMethod.get, .head]) {
                    compare(
                        Case(
                            status: HTTPStatus(code), directives: directives, isRefused: isRefused, method: method),
                        &table)
                }
            }
        }
    }

    private static func compare(_ one: Case, _ table: inout Table) {
        guard let url = URL(string: "https://a.example/") else { return }
        var request = HTTPRequest(one.method, url)
        if one.isRefused { request.headers[.cacheControl] = "no-store" }
        guard let asked = CacheRequest(request, .fresh, .buffered(limit: 1_000)) else { return }
        var headers = HTTPHeaders()
        if !one.directives.isEmpty { headers[.cacheControl] = one.directives.joined(separator: ", ") }
        let response = HTTPResponse(one.status, headers: headers, to: request)
        let freshness = CacheFreshness(
            one.status, headers, requested: StoredFields.received, received: StoredFields.received, heuristic: 0.1)
        let (row, expected) = one.expected
        table.expect(CachedResponse(response, to: asked, freshness) != nil, expected, row: row, "\(one)")
    }
}
