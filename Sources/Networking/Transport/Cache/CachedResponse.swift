import Foundation

/// A stored response, with the data that determines for which requests it may be used and how long it is fresh.
struct CachedResponse: Sendable {
    let status: HTTPStatus
    private(set) var headers: HTTPHeaders
    let body: Data
    /// The request's header fields that may identify its user, and the fields that the `Vary` field of the response
    /// names. The response is not used for a request with other values.
    private let audience: HTTPHeaders
    private let varying: [HTTPHeader.Name]
    /// The time at which the response was received or last revalidated.
    private var date: Date

    /// Creates a stored response. Returns nil if the response must not be stored (RFC 9111 section 3).
    init?(_ response: HTTPResponse, to request: HTTPRequest, at date: Date) {
        guard request.method == .get, response.status.isSuccessful, response.status != .partialContent,
            case .data(let body) = response.content, !request.headers.contains(.range),
            !CacheDirectives(request.headers).has("no-store"), !CacheDirectives(response.headers).has("no-store")
        else { return nil }
        let names = response.headers.values(for: .vary).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard !names.contains("*") else { return nil }
        status = response.status
        var headers = response.headers
        headers.remove(.setCookie)  // a stored response must not set its cookies again
        self.headers = headers
        self.body = body
        varying = names.map { HTTPHeader.Name($0) }
        audience = CachedResponse.audience(of: request, varying)
        self.date = date
    }

    /// Whether the response may be used for a request.
    func isFor(_ request: HTTPRequest) -> Bool {
        CachedResponse.audience(of: request, varying) == audience
    }

    private static func audience(of request: HTTPRequest, _ varying: [HTTPHeader.Name]) -> HTTPHeaders {
        var headers = request.allHeaders
        headers.removeAll { !$0.mayIdentifyUser && !varying.contains($0.name) }
        return headers
    }

    /// The approximate size in bytes.
    var size: Int { body.count + headers.reduce(512) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count } }

    /// Returns the age in seconds: the time since the server generated or revalidated the response (RFC 9111 section
    /// 4.2.3).
    func age(at now: Date) -> Int64 {
        let before = headers["Age"].flatMap { Int64($0) } ?? 0
        let kept = min(max(now.timeIntervalSince(date), 0), 1e12)
        return Int64(kept) + min(max(before, 0), 1 << 31)
    }

    /// Whether the response is fresh, so that it can be used without a request to the server (RFC 9111 section 4.2).
    /// Heuristic freshness is not used.
    func isFresh(for request: HTTPRequest, at now: Date) -> Bool {
        let directives = CacheDirectives(headers)
        let asked = CacheDirectives(request.headers)
        guard !directives.has("no-cache"), !asked.has("no-cache") else { return false }
        if let bound = asked.seconds("max-age"), age(at: now) >= bound { return false }
        if let seconds = directives.seconds("max-age") { return age(at: now) < seconds }
        guard let expires = headers[.expires].flatMap({ HTTPDate($0) }) else { return false }
        // The server's `Date` is used if there is one, because the server's clock may differ from the device's clock.
        let made = headers.date.map(HTTPDate.init) ?? HTTPDate(date)
        return age(at: now) < expires.secondsSince1970 - made.secondsSince1970
    }

    /// Makes a request conditional on the `ETag` or `Last-Modified` of the response; returns false if the response has
    /// neither.
    func makeConditional(_ request: inout HTTPRequest) -> Bool {
        if let tag = headers[.eTag] {
            request.headers[.ifNoneMatch] = tag
        } else if let modified = headers[.lastModified] {
            request.headers[.ifModifiedSince] = modified
        } else {
            return false
        }
        return true
    }

    /// Updates the header fields from a 304 response (RFC 9111 section 3.2).
    ///
    /// - Returns: Whether the response may stay in the cache.
    mutating func refresh(by response: HTTPResponse, at now: Date) -> Bool {
        let kept: [HTTPHeader.Name] = [.contentLength, .contentEncoding, .contentType, .contentRange, .setCookie]
        var news = response.headers
        news.removeAll { kept.contains($0.name) }
        headers.remove("Age")
        headers.merge(news)
        date = now
        return !CacheDirectives(headers).has("no-store")
    }

    /// Returns the stored response as a response to a request, with the current `Age`.
    func response(to request: HTTPRequest, at now: Date) -> HTTPResponse {
        var headers = headers
        headers["Age"] = "\(age(at: now))"
        return HTTPResponse(status, headers: headers, content: .data(body), to: request)
    }
}

/// The directives of `Cache-Control` (RFC 9111 section 5.2).
private struct CacheDirectives {
    private let directives: [(name: String, value: String?)]

    init(_ headers: HTTPHeaders) {
        directives = headers.values(for: .cacheControl).flatMap { $0.split(separator: ",") }.map { part in
            let sides = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return (sides.first?.lowercased() ?? "", sides.count > 1 ? sides[1] : nil)
        }
    }

    func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    func seconds(_ name: String) -> Int64? {
        directives.first { $0.name == name }?.value.flatMap { Int64($0.trimmingCharacters(in: ["\""])) }
    }
}
