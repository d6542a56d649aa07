import Foundation

/// What a request is known by among those under way.
struct DuplicateKey: Sendable {
    /// The request, as adapters made it.
    let request: HTTPRequest
    /// How its response is wanted.
    let delivery: BodyDelivery
    /// The same for duplicates. It is of group or address, and of the user, and computed once: what it leaves open,
    /// the comparison settles.
    let hash: Int

    /// The key of a request; nil if that is compared with none.
    ///
    /// - Parameter hashesCredentials: Whether duplicates have the same ones, so that many users' requests for one
    ///   address are told apart at once.
    init?(_ request: HTTPRequest, delivering delivery: BodyDelivery, hashingCredentials hashesCredentials: Bool) {
        self.request = request
        self.delivery = delivery
        var hasher = Hasher()
        let group = request[option: DuplicateGroupOption.self]
        if let group { hasher.combine(group) } else { hasher.combine(request.url) }
        if hashesCredentials {
            let headers = request.headers
            for index in headers.indices where headers[index].isSensitive { hasher.combine(headers[index].value) }
        }
        hash = hasher.finalize()
        let isCompared = limit != nil || request[option: FileDownload.self] != nil
        guard group != nil || isCompared && request.body.data != nil else { return nil }
    }

    /// Whether two requests are duplicates of each other: of one group and user, or equal.
    ///
    /// - Parameter ignored: The header fields in which equal requests may differ.
    func isDuplicate(of other: DuplicateKey, ignoring ignored: [HTTPHeader.Name]) -> Bool {
        let group = group
        guard hash == other.hash, group == other.group else { return false }
        guard group != nil else { return isEqual(to: other, ignoring: ignored) }
        return DuplicateKey.credentials(of: request) == DuplicateKey.credentials(of: other.request)
    }

    /// Whether the response to the one is a response to the other: members of a group may differ, in how the response
    /// is wanted, too, and so may the idempotency keys of a double tap.
    func hasAnswer(of other: DuplicateKey, ignoring ignored: [HTTPHeader.Name]) -> Bool {
        isComparable && other.isComparable && isEqual(to: other, ignoring: ignored)
            && request.headers[.idempotencyKey] == other.request.headers[.idempotencyKey]
    }

    /// What stands for the whole request but its credentials; nil if the request itself is compared.
    private var group: String? { request[option: DuplicateGroupOption.self] }

    /// Both what is sent and what comes are in memory.
    private var isComparable: Bool { limit != nil && request.body.data != nil }

    private var limit: Int? { if case .buffered(let limit) = delivery { limit } else { nil } }

    private static func credentials(of request: HTTPRequest) -> HTTPHeaders {
        HTTPHeaders(request.headers.filter(\.isSensitive))
    }

    /// The fields that are compared.
    private func headers(without ignored: [HTTPHeader.Name]) -> HTTPHeaders {
        let headers = request.allHeaders
        guard headers.contains(where: { ignored.contains($0.name) }) else { return headers }
        return HTTPHeaders(headers.filter { !ignored.contains($0.name) })
    }

    private func isEqual(to other: DuplicateKey, ignoring ignored: [HTTPHeader.Name]) -> Bool {
        request.method == other.request.method && request.url == other.request.url && limit == other.limit
            && request.body.data == other.request.body.data
            && headers(without: ignored) == other.headers(without: ignored)
    }
}
