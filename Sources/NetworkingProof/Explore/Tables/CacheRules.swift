/// The rules of RFC 9111 and RFC 5861 for one stored response and one request, as rows. The first row that applies
/// decides. The name of a row is the name of its rule.
struct CacheRules {
    /// What the cache does with the response.
    enum Use: Sendable {
        /// The request is sent.
        case send
        /// The request fails, because it may not be sent.
        case refuse
        case use, useAndRevalidate
    }

    /// A failure that a stale response may replace.
    enum Failure: CaseIterable, Sendable {
        case noResponse, serverError
    }

    let stored: StoredFields
    let asked: AskedFields
    /// The age of the response in seconds.
    let age: Int64

    private var staleness: Int64 { age - stored.lifetime }

    /// Section 5.2.1.3: the client wants a response that remains fresh for at least a given time.
    private var isFreshEnough: Bool { age < stored.lifetime && stored.lifetime - age >= asked.minFresh ?? 0 }

    /// Section 5.2.1.2: the client accepts a stale response.
    private var isAcceptedStale: Bool {
        switch asked.maxStale {
        case .none: false
        case .any: true
        case .some(let seconds): staleness <= seconds
        }
    }

    private var isForbidden: Bool {
        stored.noCache == .bare || asked.noCache != .none || asked.maxAge.value == 0
    }

    private var isTooOld: Bool { asked.maxAge.value.map { age > $0 } ?? false }
    private var isInRevalidationTime: Bool { staleness < stored.staleWhileRevalidate.value ?? 0 }

    /// The decision of the cache about the response.
    var decision: (row: String, Use) {
        let unusable = asked.isOnlyIfCached ? Use.refuse : .send
        let revalidated = asked.isOnlyIfCached ? Use.use : .useAndRevalidate
        let isPostponed = !asked.isAwaiting && (asked.minFresh ?? 0) == 0
        let rows: [(row: String, applies: Bool, Use)] = [
            ("aCallForTheCacheAloneUsesEverything", asked.rule == .only, .use),
            ("noCacheIsValidated", isForbidden, unusable),  // sections 5.2.2.4, 5.2.1.4
            ("maxAgeLimitsTheAge", isTooOld, unusable),  // section 5.2.1.1
            ("freshIsUsed", isFreshEnough, .use),  // section 4.2
            ("mustRevalidateForbidsStale", stored.mustRevalidate, unusable),  // section 5.2.2.2
            ("maxStaleIsAccepted", isAcceptedStale, .use),  // section 5.2.1.2
            ("staleWhileRevalidateIsUsed", isPostponed && isInRevalidationTime, revalidated),  // RFC 5861 section 3
            ("staleIsValidated", true, unusable),  // section 4.2.4
        ]
        let first = rows.first { $0.applies }
        return (first?.row ?? "", first?.2 ?? .send)
    }

    /// Whether the response may be used instead of a failure.
    func mayReplace(_ failure: Failure) -> (row: String, Bool) {
        let isOffline = failure == .noResponse && asked.rule == .staleIfOffline
        let time = max(stored.staleIfError.value ?? 0, asked.staleIfError ?? 0)
        let rows: [(row: String, applies: Bool, Bool)] = [
            ("noCacheReplacesNothing", isForbidden, false),
            ("mustRevalidateReplacesNothing", stored.mustRevalidate, false),
            ("offlineUsesEverything", isOffline, true),
            ("staleIfErrorIsLimited", true, staleness < time),  // RFC 5861 section 4
        ]
        let first = rows.first { $0.applies }
        return (first?.row ?? "", first?.2 ?? false)
    }
}
