import Foundation

/// Notices requests that are equal to one on its way, and does with them what a ``DuplicateRequestPolicy`` says.
///
/// Equal are requests of the same method, URL, header fields and body, as adapters made them, but for a few fields that differ by nature: two
/// users' tokens never meet. Compared are those with a safe method, unless the policy says otherwise, whose answer is wanted in memory and
/// whose body is in memory. A service makes one for itself (`duplicates:`), outermost; services do not meet either, unless they are given
/// the same one as their transport. It knows transfers, not calls: a call that waits to retry is not on its way.
public final class DuplicateHandlingTransport: Transport {
    /// What makes two requests equal.
    private struct Key: Hashable, Sendable {
        private let method: HTTPMethod
        private let url: URL
        private let headers: HTTPHeaders
        private let body: Data
        private let limit: Int
        /// Of the address alone, and computed once: what it leaves open, equality settles.
        private let hash: Int

        init(_ request: HTTPRequest, headers: HTTPHeaders, body: Data, limit: Int) {
            method = request.method
            url = request.url
            self.headers = headers
            self.body = body
            self.limit = limit
            hash = request.url.hashValue
        }

        /// What all requests of a group with the same credentials have in common.
        init(group: String, of request: HTTPRequest) {
            method = ""
            url = URL(fileURLWithPath: "/\(group)")
            headers = HTTPHeaders(request.headers.filter(\.isSensitive))
            body = Data()
            limit = 0
            hash = group.hashValue
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(hash)
        }
    }

    private let base: any Transport
    private let policy: DuplicateRequestPolicy?
    private let ignored: [HTTPHeaderName]
    private let running = Locked<[Key: SharedTransfer]>([:])

    /// Wraps a transport.
    ///
    /// - Parameters:
    ///   - base: What carries the requests.
    ///   - policy: What becomes of duplicates, where the request has no policy of its own; nil has every request sent.
    ///   - ignored: Header fields that equal requests may differ in.
    public init(
        _ base: any Transport, policy: DuplicateRequestPolicy?,
        ignoring ignored: [HTTPHeaderName] = ["Traceparent", "Tracestate", "X-Request-ID", .idempotencyKey]
    ) {
        self.base = base
        self.policy = policy
        self.ignored = ignored
    }

    /// How many transfers are under way.
    public var runningCount: Int { running.withLock { $0.count } }

    /// Sends the request, or has it wait for an equal one.
    ///
    /// - Throws: What the base throws; ``NetworkError/Kind/cancelled`` where an equal request took its place.
    public func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse {
        guard let caller = try caller(request, timing) else { return try await base.send(request, answering: timing) }
        return try await caller.response(to: request)
    }

    /// Who waits for a transfer in the request's name; nil where the request goes its own way.
    ///
    /// Not inlined: what is big must not become part of the function that waits, whose memory each waiting call keeps.
    @inline(never)
    private func caller(_ request: HTTPRequest, _ timing: AnswerTiming) throws -> SharedTransfer.Caller? {
        guard let policy = request[option: DuplicateRequestPolicy.self] ?? policy,
            let key = key(request, timing, policy)
        else { return nil }
        guard case .waiting(let caller) = try place(request, key, timing, policy) else { return nil }
        return caller
    }

    private enum Place {
        case separate
        case waiting(SharedTransfer.Caller)
    }

    /// Decides and attaches. Where the transfer decided about has gone meanwhile, it decides anew.
    private func place(
        _ request: HTTPRequest, _ key: Key, _ timing: AnswerTiming, _ policy: DuplicateRequestPolicy
    ) throws -> Place {
        while true {
            let (found, begun) = find(key, orBegin: request)
            if let begun {
                defer { begun.transfer.begin(timing, on: base) }
                return .waiting(begun)
            }
            guard let transfer = found else { continue }
            switch policy.decision(running: transfer.request, new: request).action {
            case .separate:
                return .separate
            case .share(let audience) where !audience.isEarlier && !isSame(transfer.request, request, timing):
                return .separate  // one's answer is not the other's
            case .share(let audience):
                guard let place = try share(transfer, audience, request) else { continue }
                return place
            case .restart(let audience):
                guard let caller = begin(request, key, timing, replacing: transfer) else { continue }
                transfer.cancel("a newer equal request took its place")
                guard case .observer(let observer) = audience else { return .waiting(caller) }
                _ = caller.transfer.observe(observer, at: request[option: HeldPlaceOption.self])
                caller.leave()
                throw SharedTransfer.superseded("its answer goes to an observer")
            }
        }
    }

    /// Attaches to a transfer; nil where that is over.
    private func share(
        _ transfer: SharedTransfer, _ audience: DuplicateRequestPolicy.Decision.Audience, _ request: HTTPRequest
    ) throws -> Place? {
        let held = request[option: HeldPlaceOption.self]
        switch audience {
        case .earlier:
            throw SharedTransfer.superseded("an equal request is on its way")
        case .everybody:
            guard let caller = transfer.attach() else { return nil }
            held?.giveBack(after: nil)  // it waits for another one's transfer, which has a place
            return .waiting(caller)
        case .latest:
            return transfer.attach(superseding: "a newer equal request took its place").map { .waiting($0) }
        case .observer(let observer):
            guard transfer.observe(observer, at: held) else { return nil }
            transfer.supersede("the answer goes to an observer")
            throw SharedTransfer.superseded("its answer goes to an observer")
        }
    }

    /// The equal transfer that is under way, or a new one with its first caller.
    private func find(
        _ key: Key, orBegin request: HTTPRequest
    ) -> (found: SharedTransfer?, begun: SharedTransfer.Caller?) {
        running.withLock { running in
            if let found = running[key] { return (found, nil) }
            let transfer = transfer(request, key)
            running[key] = transfer
            return (nil, transfer.attach())
        }
    }

    /// Begins a transfer in the place of another one; nil where that is not there any more.
    private func begin(
        _ request: HTTPRequest, _ key: Key, _ timing: AnswerTiming, replacing old: SharedTransfer
    ) -> SharedTransfer.Caller? {
        let transfer = transfer(request, key)
        let caller = transfer.attach()
        let isThere = running.withLock { running in
            guard running[key] === old else { return false }
            running[key] = transfer
            return true
        }
        guard isThere else { return nil }
        transfer.begin(timing, on: base)
        return caller
    }

    private func transfer(_ request: HTTPRequest, _ key: Key) -> SharedTransfer {
        SharedTransfer(request) { [running] ended in
            running.withLock { if $0[key] === ended { $0[key] = nil } }
        }
    }

    /// What the request is known by; nil where it is compared with none.
    private func key(_ request: HTTPRequest, _ timing: AnswerTiming, _ policy: DuplicateRequestPolicy) -> Key? {
        guard request.method.isSafe || policy.includesUnsafeMethods else { return nil }
        if let group = request[option: DuplicateGroup.self] { return Key(group: group, of: request) }
        return key(request, timing)
    }

    /// Whether two requests want the same answer: members of a group may differ, and so may the idempotency keys of a double tap.
    private func isSame(_ first: HTTPRequest, _ second: HTTPRequest, _ timing: AnswerTiming) -> Bool {
        guard let key = key(first, timing), key == self.key(second, timing) else { return false }
        return first.headers[.idempotencyKey] == second.headers[.idempotencyKey]
    }

    /// What equal requests have in common; nil where a request cannot be compared.
    private func key(_ request: HTTPRequest, _ timing: AnswerTiming) -> Key? {
        guard case .whenComplete(let limit) = timing, let body = request.body.data else { return nil }
        var headers = request.allHeaders
        if ignored.contains(where: headers.contains) { headers.removeAll { ignored.contains($0.name) } }
        return Key(request, headers: headers, body: body, limit: limit)
    }
}
