/// Notices requests that are equal to one on its way, and does with them what a ``DuplicateRequestPolicy`` says.
///
/// Equal are requests of the same method, URL, header fields and body, as adapters made them, but for a few fields
/// that differ by nature: two users' tokens never meet. Compared are those with a safe method, unless the policy says
/// otherwise, whose response is wanted in memory or in a file, and whose body is in memory. Of two equal downloads
/// one may be refused, or end for the other, and they never share a transfer. A service makes one for itself
/// (`duplicates:`), outermost; services do not meet either, unless they are given the same one as their transport. It
/// knows transfers, not calls: a call that waits to retry is not on its way.
package final class DuplicateHandlingTransport: Transport {
    private let base: any Transport
    private let policy: DuplicateRequestPolicy?
    private let ignored: [HTTPHeader.Name]
    private let hashesCredentials: Bool
    private let running = RunningTransfers()
    private let downloads = RunningDownloads()

    /// Wraps a transport.
    ///
    /// - Parameters:
    ///   - base: What carries the requests.
    ///   - policy: What becomes of duplicates, where the request has no policy of its own; nil has every request sent.
    ///   - ignored: Header fields that equal requests may differ in.
    package init(
        _ base: any Transport, policy: DuplicateRequestPolicy?,
        ignoring ignored: [HTTPHeader.Name] = ["Traceparent", "Tracestate", "X-Request-ID", .idempotencyKey]
    ) {
        self.base = base
        self.policy = policy
        self.ignored = ignored
        hashesCredentials = !ignored.contains(where: \.isSensitive)
    }

    /// Sends the request, or has it wait for an equal one.
    ///
    /// - Throws: What the base throws; ``NetworkError/Kind/cancelled`` where an equal request took its place.
    package func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        guard let policy = policy(for: request) else { return try await base.send(request, delivering: delivery) }
        if let file = request[option: FileDownload.self] {
            return try await downloads.send(
                request, into: file, delivering: delivery, over: base, by: policy, ignoring: ignored)
        }
        guard let caller = try caller(request, delivery, policy) else {
            return try await base.send(request, delivering: delivery)
        }
        return try await caller.response(to: request)
    }

    /// The policy that the request is subject to.
    private func policy(for request: HTTPRequest) -> DuplicateRequestPolicy? {
        guard let policy = request[option: DuplicatesOption.self] ?? policy else { return nil }
        return request.method.isSafe || policy.includesUnsafeMethods ? policy : nil
    }

    /// Who waits for a transfer in the request's name; nil if the request goes its own way.
    ///
    /// Not inlined: what is big must not become part of the function that waits, whose memory each waiting call keeps.
    @inline(never)
    private func caller(
        _ request: HTTPRequest, _ delivery: BodyDelivery, _ policy: DuplicateRequestPolicy
    ) throws -> SharedTransfer.Caller? {
        guard let key = DuplicateKey(request, delivering: delivery, hashingCredentials: hashesCredentials),
            case .waiting(let caller) = try place(key, policy)
        else { return nil }
        return caller
    }

    private enum Place {
        case separate
        case waiting(SharedTransfer.Caller)
    }

    /// Begins a transfer, or decides about the one under way. Where that has gone meanwhile, it looks anew.
    private func place(_ key: DuplicateKey, _ policy: DuplicateRequestPolicy) throws -> Place {
        while true {
            switch running.place(for: key, ignoring: ignored) {
            case .free(let beginner):
                beginner.transfer.begin(on: base)
                return .waiting(beginner)
            case .taken(let transfer):
                if let place = try decide(about: transfer, key, policy) { return place }
            }
        }
    }

    /// Decides and attaches; nil if the transfer is over.
    private func decide(
        about transfer: SharedTransfer, _ key: DuplicateKey, _ policy: DuplicateRequestPolicy
    ) throws -> Place? {
        switch policy.decision(running: transfer.key.request, new: key.request).action {
        case .separate:
            return .separate
        case .share(let audience) where !audience.isEarlier && !transfer.key.hasAnswer(of: key, ignoring: ignored):
            return .separate  // one's answer is not the other's
        case .share(let audience):
            return try share(transfer, audience, key.request)
        case .restart(let audience):
            guard let caller = begin(key, replacing: transfer, for: audience) else { return nil }
            transfer.cancel(SharedTransfer.isReplaced)
            guard case .observer = audience else { return .waiting(caller) }
            caller.leave()
            throw SharedTransfer.superseded("its answer goes to an observer")
        }
    }

    /// Attaches to a transfer; nil if that is over.
    private func share(
        _ transfer: SharedTransfer, _ audience: DuplicateRequestPolicy.Decision.Audience, _ request: HTTPRequest
    ) throws -> Place? {
        let held = CallScope.currentPermit
        switch audience {
        case .earlier:
            throw SharedTransfer.superseded("an equal request is on its way")
        case .everybody:
            guard let caller = transfer.attach() else { return nil }
            held?.release(after: nil)  // it waits for another one's transfer, which has a place
            return .waiting(caller)
        case .latest:
            return transfer.attach(superseding: SharedTransfer.isReplaced).map { .waiting($0) }
        case .observer(let observer):
            guard transfer.observe(observer, at: held) else { return nil }
            transfer.supersede("the answer goes to an observer")
            throw SharedTransfer.superseded("its answer goes to an observer")
        }
    }

    /// Begins a transfer in the place of another one; nil if that is not there any more. Who observes it does so
    /// before it begins: it may be over at once.
    private func begin(
        _ key: DuplicateKey, replacing old: SharedTransfer, for audience: DuplicateRequestPolicy.Decision.Audience
    ) -> SharedTransfer.Caller? {
        let caller = SharedTransfer.Caller(beginning: key, in: running)
        guard running.replace(old, by: caller.transfer) else { return nil }
        if case .observer(let observer) = audience,
            !caller.transfer.observe(observer, at: CallScope.currentPermit)
        {
            observer(.failure(SharedTransfer.superseded(SharedTransfer.isReplaced)))
        }
        caller.transfer.begin(on: base)
        return caller
    }
}
