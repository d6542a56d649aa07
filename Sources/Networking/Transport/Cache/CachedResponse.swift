import Foundation

/// A stored response, with the data that determines for which requests it may be used and how long it is fresh.
package struct CachedResponse: Sendable {
    private(set) var status: HTTPStatus
    private(set) var headers: HTTPHeaders
    var body: CachedBody
    /// The part of the content that is stored; nil if the whole content is stored.
    private(set) var part: Part?
    private(set) var freshness: CacheFreshness
    /// The position of the response's request in the order of all requests.
    var order: UInt64 = 0
    /// The requests for which the response may be used.
    private(set) var audience: CacheAudience

    /// The bytes of an incomplete content.
    struct Part: Sendable {
        let bytes: Range<Int64>
        let total: Int64
    }

    /// Creates a stored response. Returns nil if the response must not be stored (RFC 9111 section 3). If the body is
    /// still being received, the stored body is empty at first, and a partial response is not stored.
    package init?(_ response: HTTPResponse, to request: CacheRequest, _ freshness: CacheFreshness) {
        guard request.request.method == .get, !request.refusesStoring, response.cutOff == nil,
            CachedResponse.mayStore(response, freshness)
        else { return nil }
        if case .file = response.content { return nil }
        let body = response.data
        guard let audience = CacheAudience(of: request.request, response.headers) else { return nil }
        self.audience = audience
        if response.status == .partialContent {
            guard let part = Part(response.headers.contentRange, body) else { return nil }
            self.part = part
        }
        status = response.status
        headers = CachedResponse.storable(response.headers)
        // A response without a date gets the time at which it was received (RFC 9110 section 6.6.1).
        if headers.date == nil { headers[.date] = HTTPDate(freshness.received).description }
        self.body = .data(body)
        self.freshness = freshness
        if let part, part.isWhole { complete() }
    }

    /// Creates a stored response from the head of its file. Returns nil if the response applies to no request, or if
    /// the body does not have the length of the stored part.
    init?(_ file: CacheFileFormat.Head, _ body: CachedBody, heuristicFreshness: Double) {
        guard let audience = CacheAudience(file.audience, file.headers),
            file.part.map({ $0.bytes.count == body.count }) ?? true
        else { return nil }
        (status, headers, self.body, part, self.audience) = (file.status, file.headers, body, file.part, audience)
        freshness = CacheFreshness(
            status, headers, requested: file.requested, received: file.received, heuristic: heuristicFreshness)
    }

    /// Whether a response may be stored. A successful response may be stored even if it is already stale, because it
    /// can be validated, or used while there is no network. Any other response may be stored only if it is fresh.
    private static func mayStore(_ response: HTTPResponse, _ freshness: CacheFreshness) -> Bool {
        let status = response.status
        guard !CacheDirectives(response.headers).forbidStoring(status) else { return false }
        // These statuses depend on fields that are not part of the key: credentials, conditions, ranges.
        guard status.code >= 200, ![304, 401, 407, 412, 416].contains(status.code) else { return false }
        return status.isSuccessful && status.isHeuristicallyCacheable || freshness.lifetime > freshness.initialAge
    }

    /// Whether the response can be used later: it is fresh, or can be validated.
    var isWorthStoring: Bool {
        freshness.lifetime > freshness.initialAge || headers.contains(.eTag) || headers.contains(.lastModified)
    }

    /// Returns the fields that may be stored: all fields except those of the connection (RFC 9111 section 3.1), those
    /// that `no-cache` names, and cookies. A stored response must not set cookies again.
    private static func storable(_ headers: HTTPHeaders) -> HTTPHeaders {
        let connection: Set<HTTPHeader.Name> = [
            "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "TE", "Trailer", "Upgrade",
            "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", .setCookie,
        ]
        let excluded = connection.union(headers.listedNames(in: "Connection"))
            .union(CacheDirectives(headers).fields("no-cache"))
        var stored = headers
        stored.removeAll { excluded.contains($0.name) }
        return stored
    }

    /// The approximate size in bytes.
    var size: Int {
        // In memory, a field needs about 100 bytes in addition to its text.
        let fields = headers.size + audience.fields.size + 100 * (headers.count + audience.fields.count)
        return Int(body.count) + fields + 512
    }

    /// Returns the stored response as a response to a request, with the current `Age`; nil if the requested bytes are
    /// not stored or cannot be read. A request with a range gets the bytes of its range.
    func response(to request: CacheRequest, at now: Date, _ source: HTTPResponse.Source) -> HTTPResponse? {
        var headers = headers
        headers[.age] = "\(freshness.age(at: now))"
        var answer = HTTPResponse(status, headers: headers, to: request.request)
        answer.source = source
        if request.isConditional, status == .ok || part != nil, request.isUnchanged(headers) {
            answer.status = .notModified
            return answer
        }
        if let range = request.range, status == .ok || part != nil, request.permitsRange(of: headers) {
            guard let (bytes, content) = slice(range, request.delivery) else { return nil }
            answer.status = .partialContent
            answer.headers[.contentRange] =
                "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(part?.total ?? body.count)"
            answer.headers.contentLength = bytes.count
            answer.content = content
            return answer
        }
        guard part == nil else { return nil }
        guard request.request.method != .head else { return answer }
        guard let content = body.content(0..<body.count, request.delivery) else { return nil }
        answer.content = content
        return answer
    }

    private func slice(
        _ range: ByteRange, _ delivery: BodyDelivery
    ) -> (bytes: Range<Int64>, content: HTTPResponse.Content)? {
        let stored = part?.bytes ?? 0..<body.count
        guard let bytes = range.resolved(in: part?.total ?? body.count), stored.contains(bytes.lowerBound),
            bytes.upperBound <= stored.upperBound,
            let content = body.content(
                bytes.lowerBound - stored.lowerBound..<bytes.upperBound - stored.lowerBound, delivery)
        else { return nil }
        return (bytes, content)
    }
}

extension HTTPHeaders {
    /// The number of bytes of all names and values.
    fileprivate var size: Int { reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count } }
}

/// Updates from later responses.
extension CachedResponse {
    /// Updates the header fields from a later response that has confirmed this response (RFC 9111 section 3.2). Returns
    /// false if this response must not remain in the cache.
    mutating func refresh(
        by response: HTTPResponse, to request: CacheRequest, at now: Date,
        _ freshness: (HTTPStatus, HTTPHeaders) -> CacheFreshness
    ) -> Bool {
        let kept: [HTTPHeader.Name] = [.contentLength, .contentEncoding, .contentRange]
        var news = CachedResponse.storable(response.headers)
        news.removeAll { kept.contains($0.name) }
        // A confirmation without a date gets the time at which it was received (RFC 9110 section 6.6.1).
        if !news.contains(.date) { news[.date] = HTTPDate(now).description }
        return update(news, to: request, freshness)
    }

    /// Replaces and adds header fields. Returns false if this response must not remain in the cache.
    private mutating func update(
        _ news: HTTPHeaders, to request: CacheRequest, _ freshness: (HTTPStatus, HTTPHeaders) -> CacheFreshness
    ) -> Bool {
        headers.remove(.age)
        headers.merge(news)
        headers = CachedResponse.storable(headers)
        // Each confirmation may add fields. All fields together must not exceed the limits for a single response.
        guard headers.count <= HTTPHeaders.largestCount, headers.size <= 256 << 10 else { return false }
        self.freshness = freshness(status, headers)
        guard let audience = CacheAudience(of: request.request, headers) else { return false }
        self.audience = audience
        return !CacheDirectives(headers).forbidStoring(status) && !request.refusesStoring
    }

    /// Adds the bytes of a partial response to the stored bytes (RFC 9111 section 3.4). Returns false if the two parts
    /// do not belong together: their strong validators or total lengths differ, or there is a gap between them. Also
    /// returns false if this response must not remain in the cache.
    mutating func combine(
        with other: CachedResponse, to request: CacheRequest, _ freshness: (HTTPStatus, HTTPHeaders) -> CacheFreshness
    ) -> Bool {
        guard let old = part, let new = other.part, old.total == new.total, let oldTag = headers[.eTag],
            let newTag = other.headers[.eTag], EntityTag(oldTag).isStronglyEqual(to: EntityTag(newTag)),
            new.bytes.lowerBound <= old.bytes.upperBound, old.bytes.lowerBound <= new.bytes.upperBound,
            let oldBytes = body.bytes(0..<body.count), let newBytes = other.body.bytes(0..<other.body.count)
        else { return false }
        let lower = min(old.bytes.lowerBound, new.bytes.lowerBound)
        let upper = max(old.bytes.upperBound, new.bytes.upperBound)
        var bytes = Data(count: Int(upper - lower))
        for (range, data) in [(old.bytes, oldBytes), (new.bytes, newBytes)] {
            let start = Int(range.lowerBound - lower)
            bytes.replaceSubrange(start..<start + data.count, with: data)
        }
        guard update(other.headers, to: request, freshness) else { return false }
        body = .data(bytes)
        part = Part(bytes: lower..<upper, total: old.total)
        if part?.isWhole == true { complete() }
        return true
    }

    private mutating func complete() {
        part = nil
        status = .ok
        headers.remove(.contentRange)
        headers.contentLength = Int(body.count)
    }
}

extension CachedResponse.Part {
    var isWhole: Bool { bytes.lowerBound == 0 && bytes.upperBound == total }

    /// Creates a part from a `Content-Range`; returns nil if the field is missing, does not state the total length, or
    /// does not fit the body.
    fileprivate init?(_ range: ContentRange?, _ body: Data) {
        guard let range, let first = range.first, let last = range.last, let total = range.total,
            last - first + 1 == body.count
        else { return nil }
        self.init(bytes: first..<last + 1, total: total)
    }
}

extension CacheRequest {
    /// Whether the request's range applies to a stored response. If the request has an `If-Range`, it must name the
    /// stored response (RFC 9110 section 13.1.5).
    fileprivate func permitsRange(of headers: HTTPHeaders) -> Bool {
        guard let condition = request.headers[.ifRange] else { return true }
        if let date = HTTPDate(condition) { return headers[.lastModified].flatMap { HTTPDate($0) } == date }
        return headers[.eTag].map { EntityTag($0).isStronglyEqual(to: EntityTag(condition)) } ?? false
    }
}

extension Sequence<CachedResponse> {
    /// Returns the response to use for a request; nil if there is none. If several responses match, a response with
    /// `Vary` is preferred (RFC 9111 section 4.1). If several responses remain, the one with the latest `Date` is used
    /// (section 4). If their dates are equal, the last response of the sequence is used.
    func mostSuitable(for request: HTTPRequest) -> CachedResponse? {
        reduce(nil) { best, next in
            guard next.audience.contains(request) else { return best }
            guard let best, best.audience != next.audience else { return next }
            if best.audience.varies != next.audience.varies { return next.audience.varies ? next : best }
            return (best.headers.date ?? .distantPast) > (next.headers.date ?? .distantPast) ? best : next
        }
    }
}
