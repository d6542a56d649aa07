import Foundation

/// Validation, [RFC 9111 section 4.3](https://www.rfc-editor.org/rfc/rfc9111#section-4.3).
extension CachedResponse {
    /// Makes a request conditional on the `ETag` and `Last-Modified` of the response (section 4.3.1); returns false if
    /// the response has neither. If only the beginning of the content is stored, the request asks for the rest,
    /// provided that the response is read into memory.
    func makeConditional(_ request: inout HTTPRequest, _ delivery: BodyDelivery) -> Bool {
        let tag = headers[.eTag].flatMap { EntityTag($0).isValid && $0.utf8.count <= EntityTag.largest ? $0 : nil }
        if let part {
            guard case .buffered = delivery, part.bytes.lowerBound == 0, let tag, !EntityTag(tag).isWeak,
                request.method == .get, !request.headers.contains(.range)
            else { return false }
            request.headers[.range] = "bytes=\(part.bytes.upperBound)-"
            request.headers[.ifRange] = tag
            return true
        }
        let modified = headers[.lastModified].flatMap {
            $0.utf8.count > EntityTag.largest || HTTPDate($0) == nil || !HTTPGrammar.isFieldValue($0) ? nil : $0
        }
        guard tag != nil || modified != nil else { return false }
        request.headers[.ifNoneMatch] = tag
        request.headers[.ifModifiedSince] = modified
        return true
    }

    /// Whether a 304 applies to this response, if the request had only the conditions that ``makeConditional(_:_:)``
    /// has set (section 4.3.4).
    func isConfirmed(by response: HTTPResponse) -> Bool {
        guard let new = response.headers[.eTag] else {
            let (new, old) = (response.headers[.lastModified], headers[.lastModified])
            return new == nil || old == nil || new == old
        }
        guard let old = headers[.eTag] else { return EntityTag(new).isWeak }
        let (newTag, oldTag) = (EntityTag(new), EntityTag(old))
        return newTag.isWeak ? newTag.isWeaklyEqual(to: oldTag) : newTag.isStronglyEqual(to: oldTag)
    }

    /// Whether a 304 to the caller's own conditions applies to this response. (These conditions may name another
    /// response.) The 304 must have a validator of this response, unless neither the 304 nor this response has a
    /// validator.
    func isNamed(by response: HTTPResponse) -> Bool {
        let pairs = [HTTPHeader.Name.eTag, .lastModified].map { (response.headers[$0], headers[$0]) }
        if pairs.allSatisfy({ $0 == nil && $1 == nil }) { return true }
        guard pairs.contains(where: { $0 != nil && $1 != nil }), isConfirmed(by: response) else { return false }
        return pairs.allSatisfy { new, old in new == nil || old != nil }
    }

    /// Whether a 200 response to HEAD describes this response (section 4.3.5). The HEAD response must have a validator
    /// or a length. All validators and the length of the HEAD response must equal those of this response. If the HEAD
    /// response has no validator, this response must have no validator either.
    func isDescribed(by response: HTTPResponse) -> Bool {
        let validators = [HTTPHeader.Name.eTag, .lastModified].filter { response.headers.contains($0) }
        let hasValidator = headers.contains(.eTag) || headers.contains(.lastModified)
        let isSpecific = !validators.isEmpty || !hasValidator && response.headers.contentLength != nil
        return status == .ok && part == nil && isSpecific
            && validators.allSatisfy { response.headers[$0] == headers[$0] }
            && response.headers.contentLength.map { $0 == headers.contentLength ?? Int(body.count) } ?? true
    }
}
