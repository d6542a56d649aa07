import Foundation

/// The key by which a request is found among the requests in progress.
struct DuplicateKey: Sendable {
    /// The request after adapting.
    let request: HTTPRequest
    /// How the response is delivered.
    let delivery: BodyDelivery
    /// A hash that is equal for duplicates, computed once. It covers the group or the URL, and the credentials if they
    /// must be equal. `isDuplicate(of:ignoring:)` compares the rest.
    let hash: Int

    /// Creates the key of a request; nil if the request is not compared with other requests.
    ///
    /// - Parameter hashesCredentials: Whether the hash covers the credentials. If true, duplicates must have equal
    ///   credentials, and the hash quickly distinguishes the requests of many users for one URL.
    init?(_ request: HTTPRequest, delivering delivery: BodyDelivery, hashingCredentials hashesCredentials: Bool) {
        self.request = request
        self.delivery = delivery
        var hasher = Hasher()
        let group = request.parts.duplicates.group
        if let group { hasher.combine(group) } else { hasher.combine(request.url) }
        if hashesCredentials {
            let headers = request.headers
            for index in headers.indices where headers[index].isSensitive { hasher.combine(headers[index].value) }
        }
        hash = hasher.finalize()
        let isCompared = limit != nil || request.parts.download != nil
        guard group != nil || isCompared && request.body.data != nil else { return nil }
    }

    /// Whether two requests are duplicates: they have the same group and the same credentials, or they are equal.
    ///
    /// - Parameter ignored: The header fields that may differ between equal requests.
    func isDuplicate(of other: DuplicateKey, ignoring ignored: [HTTPHeader.Name]) -> Bool {
        let group = group
        guard hash == other.hash, group == other.group else { return false }
        guard group != nil else { return isEqual(to: other, ignoring: ignored) }
        return DuplicateKey.credentials(of: request) == DuplicateKey.credentials(of: other.request)
    }

    /// Whether the response to one request is also valid for the other request. Requests of one group may differ, even
    /// in the delivery of their responses. Two requests with different idempotency keys, for example after a double
    /// tap, do not share a response. The calls must accept the same statuses: a call that accepts a status needs the
    /// whole body, but a call that rejects it does not read the whole body. A call that does not follow a redirect must
    /// not get the response of the redirect's target.
    func sharesResponse(of other: DuplicateKey, ignoring ignored: [HTTPHeader.Name]) -> Bool {
        isComparable && other.isComparable && isEqual(to: other, ignoring: ignored)
            && request.parts.duplicates.state == other.request.parts.duplicates.state
            && request.headers[.idempotencyKey] == other.request.headers[.idempotencyKey]
            && request.parts.transfer?.rules?.accepted ?? [] == other.request.parts.transfer?.rules?.accepted ?? []
            && followsSameRedirects(as: other)
    }

    private func followsSameRedirects(as other: DuplicateKey) -> Bool {
        switch (request.parts.redirects.policy, other.request.parts.redirects.policy) {
        case (nil, nil): true
        case (let own?, let others?): own.isSame(as: others)
        default: false
        }
    }

    /// The group of the request, which is compared together with the credentials; nil if the whole request is compared.
    private var group: String? { request.parts.duplicates.group }

    /// Whether the body of the request and the body of its response are in memory.
    private var isComparable: Bool { limit != nil && request.body.data != nil }

    private var limit: Int? { if case .buffered(let limit) = delivery { limit } else { nil } }

    private static func credentials(of request: HTTPRequest) -> HTTPHeaders {
        HTTPHeaders(request.headers.filter(\.isSensitive))
    }

    /// Returns the header fields that are compared.
    private func headers(without ignored: [HTTPHeader.Name]) -> HTTPHeaders {
        let headers = request.allHeaders
        guard headers.contains(where: { ignored.contains($0.name) }) else { return headers }
        return HTTPHeaders(headers.filter { !ignored.contains($0.name) })
    }

    private func isEqual(to other: DuplicateKey, ignoring ignored: [HTTPHeader.Name]) -> Bool {
        request.method == other.request.method && request.url == other.request.url && limit == other.limit
            && request.body.data == other.request.body.data
            && (request.networkAccess ?? .all) == (other.request.networkAccess ?? .all)
            && request.isElsewhere == other.request.isElsewhere
            && request.parts.identity() == other.request.parts.identity()
            && headers(without: ignored) == other.headers(without: ignored)
    }
}
