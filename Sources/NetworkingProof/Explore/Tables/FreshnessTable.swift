import Foundation
import Networking

/// The freshness of responses, for all combinations of the fields that it depends on.
enum FreshnessTable {
    static func fill(_ table: inout Table, _ settings: ProofSettings) {
        let numbers: [StoredFields.Seconds] = [.none, .malformed, .some(0), .some(10)]
        let expiries: [StoredFields.Seconds] = [.none, .malformed, .some(-5), .some(0), .some(20)]
        let ages: [StoredFields.Seconds] = [.none, .malformed, .some(0), .some(5)]
        let statuses: [HTTPStatus] = [.ok, .found, .notFound, .internalServerError]
        let modified: [Int64?] = [nil, -100, 1_000, 100_000_000]
        for (status, isPublic) in pairs(statuses, [false, true]) {
            for (maxAge, expires) in pairs(numbers, expiries) {
                for (modifiedBefore, dateAge) in pairs(modified, [nil, 0, 3] as [Int64?]) {
                    for (age, delay) in pairs(ages, [0, 2] as [Int64]) {
                        let fields = StoredFields(
                            status: status, maxAge: maxAge, expires: expires, dateAge: dateAge, age: age, delay: delay,
                            modifiedBefore: modifiedBefore, isPublic: isPublic)
                        for style in settings.isQuick ? [0] : [0, 1, 2] { compare(fields, style, &table) }
                    }
                }
            }
        }
        directives(&table)
    }

    private static func compare(_ fields: StoredFields, _ style: Int, _ table: inout Table) {
        let found = fields.freshness(style: style)
        let row =
            fields.maxAge != .none
            ? "maxAgeIsTheLifetime" : fields.expires != .none ? "expiresIsTheLifetime" : "aTenthIsTheHeuristicLifetime"
        table.expect(found.lifetime, fields.lifetime, row: row, "\(fields)")
        table.expect(found.initialAge, fields.initialAge, row: "theAgeIsTheLargerOne", "\(fields)")
        table.expect(
            found.age(at: StoredFields.received + 7), fields.initialAge + 7, row: "theAgeGrowsWithTime", "\(fields)")
    }

    private static func directives(_ table: inout Table) {
        let numbers: [StoredFields.Seconds] = [.none, .malformed, .some(0), .some(10)]
        for (noCache, mustRevalidate) in pairs(StoredFields.NoCache.allCases, [false, true]) {
            for (whileRevalidating, ifError) in pairs(numbers, numbers) {
                for style in 0...2 {
                    let fields = StoredFields(
                        noCache: noCache, mustRevalidate: mustRevalidate, staleWhileRevalidate: whileRevalidating,
                        staleIfError: ifError)
                    let found = fields.freshness(style: style)
                    table.expect(found.needsValidation, noCache == .bare, row: "noCacheIsBare", "\(fields)")
                    table.expect(found.mustRevalidate, mustRevalidate, row: "directivesAreRead", "\(fields)")
                    table.expect(
                        found.staleWhileRevalidate, whileRevalidating.value ?? 0, row: "directivesAreRead", "\(fields)")
                    table.expect(found.staleIfError, ifError.value ?? 0, row: "directivesAreRead", "\(fields)")
                }
            }
        }
    }
}

extension ExploreCheck {
    /// The decisions of the cache, compared with tables of RFC 9111 and RFC 5861.
    static let tables: [ExplorePart] = [
        .table("cache-freshness") { FreshnessTable.fill(&$0, $1) },
        .table("cache-storing") { table, _ in StoringTable.fill(&table) },
        .table("cache-decision") { DecisionTable.fill(&$0, $1) },
    ]
}
