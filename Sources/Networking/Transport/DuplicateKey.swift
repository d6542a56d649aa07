import Foundation

/// What a request is known by among those under way: requests of equal keys are duplicates.
struct DuplicateKey: Hashable, Sendable {
    /// The request, as adapters made it.
    let request: HTTPRequest
    /// How its answer is wanted.
    let timing: AnswerTiming
    private let ignored: [HTTPHeaderName]
    /// Of group or address alone, and computed once: what it leaves open, equality settles.
    private let hash: Int

    /// The key of a request; nil where that is compared with none.
    ///
    /// - Parameter ignored: The header fields in which equal requests may differ.
    init?(_ request: HTTPRequest, answering timing: AnswerTiming, ignoring ignored: [HTTPHeaderName]) {
        let group = request[option: DuplicateGroup.self]
        self.request = request
        self.timing = timing
        self.ignored = ignored
        hash = group?.hashValue ?? request.url.hashValue
        guard group != nil || isComparable else { return nil }
    }

    /// Whether the answer to the one is an answer to the other: members of a group may differ, in how the answer is wanted, too, and so may the
    /// idempotency keys of a double tap.
    func hasAnswer(of other: DuplicateKey) -> Bool {
        isComparable && other.isComparable && isSameRequest(as: other)
            && request.headers[.idempotencyKey] == other.request.headers[.idempotencyKey]
    }

    static func == (lhs: DuplicateKey, rhs: DuplicateKey) -> Bool {
        guard !lhs.isCopy(of: rhs) else { return true }
        let group = lhs.group
        guard lhs.hash == rhs.hash, group == rhs.group else { return false }
        return group == nil ? lhs.isSameRequest(as: rhs) : lhs.credentials == rhs.credentials
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    /// What stands for the whole request but its credentials; nil where the request itself is compared.
    private var group: String? { request[option: DuplicateGroup.self] }

    /// Both what is sent and what comes are in memory.
    private var isComparable: Bool { limit != nil && request.body.data != nil }

    private var limit: Int? { if case .whenComplete(let limit) = timing { limit } else { nil } }

    private var credentials: HTTPHeaders { HTTPHeaders(request.headers.filter(\.isSensitive)) }

    private var comparedHeaders: HTTPHeaders {
        var headers = request.allHeaders
        headers.removeAll { ignored.contains($0.name) }
        return headers
    }

    private func isCopy(of other: DuplicateKey) -> Bool {
        request.isIdentical(to: other.request) && limit == other.limit
    }

    private func isSameRequest(as other: DuplicateKey) -> Bool {
        request.method == other.request.method && request.url == other.request.url && limit == other.limit
            && request.body.data == other.request.body.data
            && (request.allHeaders == other.request.allHeaders || comparedHeaders == other.comparedHeaders)
    }
}
