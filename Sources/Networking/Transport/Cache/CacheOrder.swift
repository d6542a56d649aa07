/// The part of a request that states how the call uses the cache.
struct CacheOrder: HTTPRequest.Order {
    /// How the call uses the cache; nil means ``ResponseCache/Rule/fresh``.
    fileprivate(set) var rule: ResponseCache.Rule?
    /// Whether the caller waits for the validation of a stale response, instead of using the stale response meanwhile.
    fileprivate(set) var awaitsValidation = false
    /// The reason why the request must not be sent, as an error. If no stored response can be used, the call fails with
    /// this error.
    fileprivate(set) var unsent: NetworkError?
    /// The outcome that a stale response has replaced. Set only in the request that belongs to the stale response.
    fileprivate(set) var replaced: Result<HTTPResponse, any Error>?

    /// The order also applies after a redirect to another origin.
    var outsideOrigin: CacheOrder? { self }

    /// A request that is sent after its call keeps only the rule.
    var outsideCall: CacheOrder? { rule.map { CacheOrder(rule: $0) } }

    /// The permitted sources of the response. A call that permits only the network must not share a stored response.
    var identity: [String] {
        var sources: [String] = []
        if let rule, rule != .fresh { sources.append("caching: \(rule)") }
        if awaitsValidation { sources.append("caching: awaits the validation") }
        if unsent != nil { sources.append("caching: not sent") }
        return sources
    }

    func over(_ base: CacheOrder) -> CacheOrder {
        CacheOrder(rule: rule ?? base.rule, awaitsValidation: awaitsValidation || base.awaitsValidation)
    }
}

extension HTTPRequest.Parts {
    var cache: CacheOrder { self[order: CacheOrder.self] }

    /// Sets how the call uses the cache; nil means that the settings of the next level apply.
    mutating func order(caching rule: ResponseCache.Rule?) { self[order: CacheOrder.self].rule = rule }

    /// Makes the caller wait for the validation of a stale response.
    package mutating func orderValidation() { self[order: CacheOrder.self].awaitsValidation = true }
}

extension HTTPRequest {
    /// Allows only the cache to respond, because the request cannot be sent now. If the cache has no response that may
    /// be used, the request fails with the error.
    mutating func mustNotBeSent(because error: NetworkError) { parts[order: CacheOrder.self].unsent = error }
}

extension HTTPResponse {
    /// If this is a stale stored response, the outcome that it has replaced; nil if this response has replaced no
    /// outcome.
    var replaced: Result<HTTPResponse, any Error>? { request.parts.cache.replaced }

    /// Returns a stale stored response that replaces an outcome.
    func replacing(_ outcome: Result<HTTPResponse, any Error>) -> HTTPResponse {
        var response = self
        response.request.parts[order: CacheOrder.self].replaced = outcome
        return response
    }
}
