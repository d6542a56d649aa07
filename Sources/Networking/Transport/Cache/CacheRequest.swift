import Foundation

/// What a request requires of a cache: the directives of its `Cache-Control`, its range and its conditions.
package struct CacheRequest: Sendable {
    private(set) var request: HTTPRequest
    let rule: ResponseCache.Rule
    let delivery: BodyDelivery
    /// The request's directives; nil if it has none.
    private let directives: CacheDirectives?
    /// The byte range that the request asks for; nil for the whole content.
    let range: ByteRange?

    /// Creates the value. Returns nil if the cache does not handle the request. The cache does not handle requests with
    /// a method other than GET and HEAD, with a body, with several ranges, or with conditions that only the server can
    /// check. If the response is streamed, the cache also does not handle downloads into files, requests with a range,
    /// and requests with a condition.
    package init?(_ request: HTTPRequest, _ rule: ResponseCache.Rule, _ delivery: BodyDelivery) {
        guard request.method == .get || request.method == .head, request.body.isEmpty else { return nil }
        let headers = request.headers
        guard !headers.contains(.ifMatch), !headers.contains(.ifUnmodifiedSince) else { return nil }
        if case .streamed = delivery {
            let fields = [HTTPHeader.Name.range, .ifNoneMatch, .ifModifiedSince]
            guard !request.isDownload, !fields.contains(where: headers.contains) else {
                return nil
            }
        }
        (self.request, self.rule, self.delivery) = (request, rule, delivery)
        directives = CacheDirectives(request: headers)
        if let value = headers[.range] {
            guard request.method == .get, let range = ByteRange(value) else { return nil }
            self.range = range
        } else {
            range = nil
        }
    }

    /// The request that validates a stored response after the call has ended. It does not have the range and the
    /// conditions of the call. Nil if the cache does not handle this request.
    var afterCall: CacheRequest? {
        var request = request.leavingCall()
        for name in [HTTPHeader.Name.range, .ifRange, .ifNoneMatch, .ifModifiedSince] { request.headers.remove(name) }
        return CacheRequest(request, rule, delivery)
    }

    /// Returns the same request as part of a transfer that continues after the call.
    func belonging(to context: TransferContext) -> CacheRequest {
        var asked = self
        asked.request.belong(to: context)
        return asked
    }

    /// Whether the response must not be stored.
    var refusesStoring: Bool { directives?.has("no-store") == true }
    /// Whether every stored response, even an immutable one, must be validated before its use (`no-cache`).
    var forbidsUse: Bool { directives?.has("no-cache") == true }
    /// Whether a stored response must be validated before its use (`no-cache` or `max-age=0`).
    var needsValidation: Bool { forbidsUse || directives?.seconds("max-age") == 0 }
    /// The maximum age in seconds of a stored response.
    var maximumAge: Int64? { directives?.seconds("max-age") }
    /// For how many more seconds a stored response must remain fresh.
    var minimumFreshness: Int64 { directives?.seconds("min-fresh") ?? 0 }
    /// The maximum staleness in seconds of a stored response; nil if no stale response is accepted.
    var maximumStaleness: Int64? {
        guard let directives else { return nil }
        return directives.hasBare("max-stale") ? .max : directives.seconds("max-stale")
    }
    /// The maximum staleness in seconds of a stored response that is used instead of an error.
    var staleIfError: Int64 { directives?.seconds("stale-if-error") ?? 0 }
    /// Whether the request must not be sent to the server (`only-if-cached`).
    var isOnlyIfCached: Bool { directives?.has("only-if-cached") == true }
    /// Whether the caller has set a condition: `If-None-Match` or `If-Modified-Since`.
    var isConditional: Bool {
        request.headers.contains(.ifNoneMatch) || request.headers.contains(.ifModifiedSince)
    }

    /// Whether a 304 response applies to the caller's own condition. A 304 response with an entity tag that is not in
    /// the caller's `If-None-Match` does not apply (RFC 9111 section 4.3.2).
    func isSatisfied(by response: HTTPResponse) -> Bool {
        guard let tag = response.headers[.eTag], let tags = request.headers[.ifNoneMatch], tags != "*" else {
            return true
        }
        return EntityTag.list(tags).contains { $0.isWeaklyEqual(to: EntityTag(tag)) }
    }

    /// Whether a stored response is unchanged according to the caller's own condition. The caller then gets a 304 (RFC
    /// 9110 section 13.2.2). If a stored response has no `Last-Modified`, its `Date` is used.
    func isUnchanged(_ headers: HTTPHeaders) -> Bool {
        if let tags = request.headers[.ifNoneMatch] {
            if tags == "*" { return true }
            guard let tag = headers[.eTag].map({ EntityTag($0) }) else { return false }
            return EntityTag.list(tags).contains { $0.isWeaklyEqual(to: tag) }
        }
        guard let since = request.headers[.ifModifiedSince].flatMap({ HTTPDate($0) }),
            let modified = headers[.lastModified] ?? headers[.date]
        else { return false }
        return HTTPDate(modified).map { $0 <= since } ?? false
    }
}

/// One byte range of a `Range` field: `bytes=0-99`, `bytes=100-` or `bytes=-5` (RFC 9110 section 14.1.2).
struct ByteRange: Sendable {
    /// The offset of the first byte. Nil if the range is a number of bytes at the end of the content; this number is
    /// then in ``last``.
    private let first: Int64?
    private let last: Int64?

    /// Parses a field value. Returns nil for several ranges, other units and malformed ranges.
    init?(_ value: String) {
        let parts = value.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces).lowercased() == "bytes" else {
            return nil
        }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        first = CacheDirectives.number(ends[0])
        last = CacheDirectives.number(ends[1])
        guard first != nil || last != nil, ends[0].isEmpty == (first == nil), ends[1].isEmpty == (last == nil),
            first.flatMap({ first in last.map { first <= $0 } }) ?? true
        else { return nil }
    }

    /// Returns the range in a content of `total` bytes; nil if the content has no byte of the range.
    func resolved(in total: Int64) -> Range<Int64>? {
        guard let first else {
            let count = min(last ?? 0, total)
            return count > 0 ? total - count..<total : nil
        }
        guard first < total else { return nil }
        return first..<min(last ?? .max - 1, total - 1) + 1
    }
}

extension CacheRequest {
    /// Whether the rule of the call or `only-if-cached` forbids sending the request.
    var mustNotBeSent: Bool { rule == .only || isOnlyIfCached }
}
