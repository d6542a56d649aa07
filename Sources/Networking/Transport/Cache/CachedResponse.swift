import Foundation

/// A stored response, with the data that determines for which requests it may be used and how long it is fresh.
struct CachedResponse: Sendable {
    private(set) var status: HTTPStatus
    private(set) var headers: HTTPHeaders
    private(set) var body: Data
    /// The part of the content that is stored; nil if the content is complete.
    private(set) var part: Part?
    private(set) var freshness: CacheFreshness
    /// The fields that the `Vary` fields of the response name.
    private let varying: [HTTPHeader.Name]
    /// The request's fields that may identify its user, and the fields that ``varying`` names. The response is not used
    /// for a request with other values.
    private let audience: HTTPHeaders

    /// The bytes of an incomplete content.
    struct Part: Sendable {
        let bytes: Range<Int64>
        let total: Int64
    }

    /// Creates a stored response. Returns nil if the response must not be stored (RFC 9111 section 3).
    init?(_ response: HTTPResponse, to request: CacheRequest, _ freshness: CacheFreshness) {
        guard request.request.method == .get, !request.refusesStoring, case .data(let body) = response.content,
            CachedResponse.mayStore(response, freshness)
        else { return nil }
        varying = CachedResponse.names(in: response.headers.values(for: .vary))
        guard !varying.contains("*") else { return nil }
        if response.status == .partialContent {
            guard let part = Part(response.headers.contentRange, body) else { return nil }
            self.part = part
        }
        status = response.status
        headers = CachedResponse.storable(response.headers)
        self.body = body
        self.freshness = freshness
        audience = CachedResponse.audience(of: request.request, varying)
    }

    /// Whether a response may be stored. A success may be stored even if it is stale at once, because it can be
    /// validated, and used while there is no network; any other response only while it is fresh.
    private static func mayStore(_ response: HTTPResponse, _ freshness: CacheFreshness) -> Bool {
        let directives = CacheDirectives(response.headers)
        let status = response.status
        // A known status makes `no-store` next to `must-understand` a fallback for other caches (section 5.2.2.3).
        let isUnderstood = directives.has("must-understand")
        if isUnderstood {
            guard status.isSuccessful || status.isHeuristicallyCacheable else { return false }
        } else if directives.has("no-store") {
            return false
        }
        guard status.code >= 200, status != .notModified, status != .unauthorized, status.code != 407 else {
            return false
        }
        return status.isSuccessful || freshness.lifetime > freshness.initialAge
    }

    /// Whether the response may be used for a request (section 4.1).
    func isFor(_ request: HTTPRequest) -> Bool {
        CachedResponse.audience(of: request, varying) == audience
    }

    /// Whether another stored response is used for the same requests.
    func isForSameRequests(as other: CachedResponse) -> Bool {
        audience == other.audience && varying == other.varying
    }

    /// Returns the fields that separate requests, with normalized values of the fields that `Vary` names.
    private static func audience(of request: HTTPRequest, _ varying: [HTTPHeader.Name]) -> HTTPHeaders {
        var headers = request.allHeaders
        headers.removeAll { !$0.mayIdentifyUser || varying.contains($0.name) }
        for name in varying {
            headers.append(HTTPHeader(name, normalized(request.allHeaders.values(for: name), name)))
        }
        return headers
    }

    /// Returns the values of a field in a form that is equal for values of the same meaning: without blanks around
    /// commas, and for lists of preferences also without regard to order and case.
    private static func normalized(_ values: [String], _ name: HTTPHeader.Name) -> String {
        let elements = values.flatMap { value in value.split(separator: ",") }
            .map { element in String(element.filter { $0 != " " && $0 != "\t" }) }
        let isPreference = [.accept, "Accept-Charset", .acceptEncoding, .acceptLanguage].contains(name)
        return (isPreference ? elements.map { $0.lowercased() }.sorted() : elements).joined(separator: ",")
    }

    private static func names(in values: [String]) -> [HTTPHeader.Name] {
        values.flatMap { $0.split(separator: ",") }
            .map { HTTPHeader.Name($0.trimmingCharacters(in: .whitespaces)) }.filter { !$0.rawValue.isEmpty }
    }

    /// Returns the fields without those that must not be stored: fields of the connection (section 3.1), fields that
    /// `no-cache` names, and cookies, which must not be set again.
    private static func storable(_ headers: HTTPHeaders) -> HTTPHeaders {
        let connection: [HTTPHeader.Name] = [
            "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "TE", "Trailer", "Upgrade",
            "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", .setCookie,
        ]
        let excluded = names(in: headers.values(for: "Connection")) + CacheDirectives(headers).fields("no-cache")
        var stored = headers
        stored.removeAll { connection.contains($0.name) || excluded.contains($0.name) }
        return stored
    }

    /// The approximate size in bytes.
    var size: Int { body.count + headers.reduce(512) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count } }

    /// Returns the stored response as a response to a request, with the current `Age`; nil if only a part is stored
    /// that does not contain what the request asks for. A request with a range gets the bytes of its range.
    func response(to request: CacheRequest, at now: Date, _ source: HTTPResponse.Source) -> HTTPResponse? {
        var headers = headers
        headers[.age] = "\(freshness.age(at: now))"
        var answer = HTTPResponse(status, headers: headers, to: request.request)
        answer.source = source
        if request.isConditional, status == .ok, request.isUnchanged(headers) {
            answer.status = .notModified
            return answer
        }
        if let range = request.range, status == .ok || part != nil, request.permitsRange(of: headers) {
            guard let slice = slice(range) else { return nil }
            answer.status = .partialContent
            answer.headers[.contentRange] =
                "bytes \(slice.bytes.lowerBound)-\(slice.bytes.upperBound - 1)/\(part?.total ?? Int64(body.count))"
            answer.headers.contentLength = slice.data.count
            answer.content = .data(slice.data)
            return answer
        }
        guard part == nil else { return nil }
        if request.request.method != .head { answer.content = .data(body) }
        return answer
    }

    private func slice(_ range: ByteRange) -> (bytes: Range<Int64>, data: Data)? {
        let stored = part?.bytes ?? 0..<Int64(body.count)
        guard let bytes = range.resolved(in: part?.total ?? Int64(body.count)), stored.contains(bytes.lowerBound),
            bytes.upperBound <= stored.upperBound
        else { return nil }
        let start = body.startIndex + Int(bytes.lowerBound - stored.lowerBound)
        return (bytes, Data(body[start..<start + bytes.count]))
    }
}

/// Validation.
extension CachedResponse {
    /// Makes a request conditional on the `ETag` and `Last-Modified` of the response (section 4.3.1); returns false if
    /// the response has neither. If only the beginning of the content is stored, the request asks for the rest.
    func makeConditional(_ request: inout HTTPRequest) -> Bool {
        if let part {
            guard part.bytes.lowerBound == 0, let tag = headers[.eTag], !EntityTag(tag).isWeak,
                !request.headers.contains(.range)
            else { return false }
            request.headers[.range] = "bytes=\(part.bytes.upperBound)-"
            request.headers[.ifRange] = tag
            return true
        }
        guard headers.contains(.eTag) || headers.contains(.lastModified) else { return false }
        request.headers[.ifNoneMatch] = headers[.eTag]
        request.headers[.ifModifiedSince] = headers[.lastModified]
        return true
    }

    /// Whether a 304, or the response to HEAD, is about this response (sections 4.3.4 and 4.3.5).
    func isConfirmed(by response: HTTPResponse) -> Bool {
        if let new = response.headers[.eTag], let old = headers[.eTag] {
            return EntityTag(new).isWeaklyEqual(to: EntityTag(old))
        }
        if let new = response.headers[.lastModified], let old = headers[.lastModified] { return new == old }
        return true
    }

    /// Whether a 200 response to HEAD has the validators and the length of this response (section 4.3.5).
    func isDescribed(by response: HTTPResponse) -> Bool {
        isConfirmed(by: response)
            && (response.headers.contentLength ?? headers.contentLength) == headers.contentLength
    }

    /// Updates the header fields from a response that has confirmed this one (section 3.2).
    mutating func refresh(by response: HTTPResponse, _ freshness: (HTTPStatus, HTTPHeaders) -> CacheFreshness) {
        let kept: [HTTPHeader.Name] = [.contentLength, .contentEncoding, .contentRange]
        var news = CachedResponse.storable(response.headers)
        news.removeAll { kept.contains($0.name) }
        headers.remove(.age)
        headers.merge(news)
        self.freshness = freshness(status, headers)
    }

    /// Adds the bytes of a partial response to the stored ones (section 3.4). Returns false if the parts do not belong
    /// together: other strong validators, another total length, or a gap.
    mutating func combine(with other: CachedResponse) -> Bool {
        guard let old = part, let new = other.part, old.total == new.total,
            let oldTag = headers[.eTag], let newTag = other.headers[.eTag],
            EntityTag(oldTag).isStronglyEqual(to: EntityTag(newTag)),
            new.bytes.lowerBound <= old.bytes.upperBound, old.bytes.lowerBound <= new.bytes.upperBound
        else { return false }
        let lower = min(old.bytes.lowerBound, new.bytes.lowerBound)
        let upper = max(old.bytes.upperBound, new.bytes.upperBound)
        var bytes = Data(count: Int(upper - lower))
        for (range, data) in [(old.bytes, body), (new.bytes, other.body)] {
            let start = Int(range.lowerBound - lower)
            bytes.replaceSubrange(start..<start + data.count, with: data)
        }
        body = bytes
        headers.merge(other.headers)
        freshness = other.freshness
        part = Part(bytes: lower..<upper, total: old.total)
        if bytes.count == old.total { complete() }
        return true
    }

    private mutating func complete() {
        part = nil
        status = .ok
        headers.remove(.contentRange)
        headers.contentLength = body.count
    }
}

extension CachedResponse.Part {
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
    /// Whether the request's range applies to a stored response: its `If-Range`, if any, names the response (RFC 9110
    /// section 13.1.5).
    fileprivate func permitsRange(of headers: HTTPHeaders) -> Bool {
        guard let condition = request.headers[.ifRange] else { return true }
        if let date = HTTPDate(condition) { return headers[.lastModified].flatMap { HTTPDate($0) } == date }
        return headers[.eTag].map { EntityTag($0).isStronglyEqual(to: EntityTag(condition)) } ?? false
    }
}
