import Foundation

/// Notices requests that are equal to one on its way, and does with them what a ``DuplicateRequestPolicy`` says.
///
/// Equal are requests of the same method, URL, header fields and body, as adapters made them, but for a few fields that differ by nature: two
/// users' tokens never meet. Compared are those with a safe method, unless the policy says otherwise, whose answer is wanted in memory and
/// whose body is in memory. A service makes one for itself (`duplicates:`), outermost; services do not meet either, unless they are given
/// the same one as their transport. It knows transfers, not calls: a call that waits to retry is not on its way.
public final class DuplicateHandlingTransport: Transport {
    /// What a request is known by.
    private enum Key: Hashable, Sendable {
        case request(Content)
        /// What all requests of a group with the same credentials have in common.
        case group(String, credentials: HTTPHeaders)
    }

    /// What makes two requests equal.
    private struct Content: Hashable, Sendable {
        let method: HTTPMethod
        let url: URL
        let headers: HTTPHeaders
        let body: Data
        let limit: Int
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
            let (found, begun) = find(key, orBegin: request, timing)
            if let begun {
                defer { begun.transfer.begin(on: base) }
                return .waiting(begun)
            }
            guard let transfer = found else { continue }
            switch policy.decision(running: transfer.request, new: request).action {
            case .separate:
                return .separate
            case .share(let audience) where !audience.isEarlier && !isSame(transfer, request, timing):
                return .separate  // one's answer is not the other's
            case .share(let audience):
                guard let place = try share(transfer, audience, request) else { continue }
                return place
            case .restart(let audience):
                guard let caller = begin(request, key, timing, replacing: transfer, for: audience) else { continue }
                transfer.cancel(SharedTransfer.isReplaced)
                guard case .observer = audience else { return .waiting(caller) }
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
            return transfer.attach(superseding: SharedTransfer.isReplaced).map { .waiting($0) }
        case .observer(let observer):
            guard transfer.observe(observer, at: held) else { return nil }
            transfer.supersede("the answer goes to an observer")
            throw SharedTransfer.superseded("its answer goes to an observer")
        }
    }

    /// The equal transfer that is under way, or a new one with its first caller.
    private func find(
        _ key: Key, orBegin request: HTTPRequest, _ timing: AnswerTiming
    ) -> (found: SharedTransfer?, begun: SharedTransfer.Caller?) {
        running.withLock { running in
            if let found = running[key] { return (found, nil) }
            let transfer = transfer(request, key, timing)
            running[key] = transfer
            return (nil, transfer.attach())
        }
    }

    /// Begins a transfer in the place of another one; nil where that is not there any more. Who observes it does so before it begins: it may be
    /// over at once.
    private func begin(
        _ request: HTTPRequest, _ key: Key, _ timing: AnswerTiming, replacing old: SharedTransfer,
        for audience: DuplicateRequestPolicy.Decision.Audience
    ) -> SharedTransfer.Caller? {
        let transfer = transfer(request, key, timing)
        let caller = transfer.attach()
        let isThere = running.withLock { running in
            guard running[key] === old else { return false }
            running[key] = transfer
            return true
        }
        guard isThere else { return nil }
        if case .observer(let observer) = audience,
            !transfer.observe(observer, at: request[option: HeldPlaceOption.self])
        {
            observer(.failure(SharedTransfer.superseded(SharedTransfer.isReplaced)))
        }
        transfer.begin(on: base)
        return caller
    }

    private func transfer(_ request: HTTPRequest, _ key: Key, _ timing: AnswerTiming) -> SharedTransfer {
        SharedTransfer(request, answering: timing) { [running] ended in
            running.withLock { if $0[key] === ended { $0[key] = nil } }
        }
    }

    /// What the request is known by; nil where it is compared with none.
    private func key(_ request: HTTPRequest, _ timing: AnswerTiming, _ policy: DuplicateRequestPolicy) -> Key? {
        guard request.method.isSafe || policy.includesUnsafeMethods else { return nil }
        if let group = request[option: DuplicateGroup.self] {
            return .group(group, credentials: HTTPHeaders(request.headers.filter(\.isSensitive)))
        }
        return key(request, timing)
    }

    /// Whether a request wants the answer of a transfer: members of a group may differ, in how the answer is wanted, too, and so may the
    /// idempotency keys of a double tap.
    private func isSame(_ transfer: SharedTransfer, _ request: HTTPRequest, _ timing: AnswerTiming) -> Bool {
        guard let key = key(request, timing), key == self.key(transfer.request, transfer.timing) else { return false }
        return request.headers[.idempotencyKey] == transfer.request.headers[.idempotencyKey]
    }

    /// What equal requests have in common; nil where a request cannot be compared.
    private func key(_ request: HTTPRequest, _ timing: AnswerTiming) -> Key? {
        guard case .whenComplete(let limit) = timing, let body = request.body.data else { return nil }
        var headers = request.allHeaders
        if ignored.contains(where: headers.contains) { headers.removeAll { ignored.contains($0.name) } }
        return .request(Content(request, headers: headers, body: body, limit: limit))
    }
}
