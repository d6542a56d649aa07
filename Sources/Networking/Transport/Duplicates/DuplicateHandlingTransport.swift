/// A transport that compares a request with the requests in progress, and applies a ``DuplicateRequestPolicy`` to an
/// equal request.
///
/// Equal requests have the same method, URL, header fields and body after the adapters have run, except for a few
/// fields that usually differ. Requests with the tokens of two users are therefore never equal. A request is compared
/// only if these conditions are met: its method is safe, or the policy includes unsafe methods; its response is read
/// into memory or into a file; its body is in memory. Two equal downloads never share a transfer; the policy may reject
/// or cancel one of them.
///
/// Each service creates this transport for itself. Requests of different services are not
/// compared, unless the services share one instance of this transport. The transport compares transfers, not calls. A
/// call that waits for a retry has no transfer in progress, so it is not compared.
package final class DuplicateHandlingTransport: Transport {
    private let base: any Transport
    private let policy: DuplicateRequestPolicy?
    private let ignored: [HTTPHeader.Name]
    private let hashesCredentials: Bool
    /// Adds the fields that a lower transport will add and that distinguish users.
    private let completing: (@Sendable (HTTPRequest) -> HTTPRequest)?
    /// Returns a number that changes when lower transports may send requests for another user.
    private let state: (@Sendable () -> Int)?
    private let running = RunningTransfers()
    private let downloads = RunningDownloads()

    /// Wraps a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that sends the requests.
    ///   - policy: The policy for requests that have no policy of their own; nil sends every request.
    ///   - ignored: The header fields that may differ between equal requests.
    ///   - completing: Adds the fields that a lower transport will add and that distinguish users, such as cookies, so
    ///     that two users never share a response.
    ///   - state: Returns a number that changes when a lower transport may send something else for equal requests, such
    ///     as other cookies to the target of a redirect. If this number has changed between two requests, they share no
    ///     response.
    package init(
        _ base: any Transport, policy: DuplicateRequestPolicy?,
        ignoring ignored: [HTTPHeader.Name] = ["Traceparent", "Tracestate", "X-Request-ID", .idempotencyKey],
        completing: (@Sendable (HTTPRequest) -> HTTPRequest)? = nil, state: (@Sendable () -> Int)? = nil
    ) {
        self.base = base
        self.policy = policy
        self.ignored = ignored
        self.completing = completing
        self.state = state
        hashesCredentials = !ignored.contains(where: \.isSensitive)
    }

    /// Sends the request, or waits for the response to an equal request.
    ///
    /// - Throws: The errors of the base transport; ``NetworkError/Kind/cancelled`` if the policy ends this call because
    ///   of an equal request.
    package func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        guard let policy = policy(for: request) else { return try await base.send(request, delivering: delivery) }
        return try await send(request, delivering: delivery, by: policy)
    }

    /// Ends the transfers that continue only for observers.
    package func reset() { for transfer in running.all { transfer.reset() } }

    // Not inlined, so that a request that is not compared does not need the memory of this function while it waits.
    @inline(never)
    func send(
        _ request: HTTPRequest, delivering delivery: BodyDelivery, by policy: DuplicateRequestPolicy
    ) async throws -> HTTPResponse {
        var request = completing?(request) ?? request
        if let state { request.parts.compare(in: state()) }
        if let file = request.parts.download {
            return try await downloads.send(
                request, into: file, delivering: delivery, over: base, by: policy, ignoring: ignored)
        }
        guard let caller = try caller(request, delivery, policy) else {
            return try await base.send(request, delivering: delivery)
        }
        return try await caller.response(to: request)
    }

    /// Returns the policy for the request; nil if the request is not compared.
    func policy(for request: HTTPRequest) -> DuplicateRequestPolicy? {
        guard let policy = request.parts.duplicates.policy ?? policy else { return nil }
        return request.method.isSafe || policy.includesUnsafeMethods ? policy : nil
    }

    /// Returns the caller that waits for a transfer on behalf of the request; nil if the request is sent separately.
    ///
    /// Not inlined, because large locals would become part of the async function that waits, and every waiting call
    /// retains the frame of that function.
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

    /// Searches for an equal transfer in progress and applies the policy to it, or begins a transfer. If the transfer
    /// that was found ends before the policy is applied, the search is repeated.
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

    /// Asks the policy about a transfer in progress, and applies the choice. Returns nil if the transfer has already
    /// ended.
    private func decide(
        about transfer: SharedTransfer, _ key: DuplicateKey, _ policy: DuplicateRequestPolicy
    ) throws -> Place? {
        switch policy.choice(running: transfer.key.request, new: key.request).action {
        case .separate:
            return .separate
        case .share(let audience) where !audience.isEarlier && !transfer.key.sharesResponse(of: key, ignoring: ignored):
            return .separate  // the response to one request is not valid for the other
        case .share(let audience):
            return try share(transfer, audience, key.request)
        case .restart(let audience):
            guard let caller = begin(key, replacing: transfer, for: audience) else { return nil }
            transfer.cancel(SharedTransfer.isReplaced)
            guard case .observer = audience else { return .waiting(caller) }
            caller.leave()
            throw SharedTransfer.superseded("the response goes to an observer")
        }
    }

    /// Attaches to a transfer; returns nil if the transfer is over.
    private func share(
        _ transfer: SharedTransfer, _ audience: DuplicateRequestPolicy.Choice.Audience, _ request: HTTPRequest
    ) throws -> Place? {
        let held = request.parts.transfer?.admission
        switch audience {
        case .earlier:
            throw SharedTransfer.superseded("an equal request is in progress")
        case .all:
            return attach(held) { transfer.attach() }
        case .latest:
            return attach(held) { transfer.attach(superseding: SharedTransfer.isReplaced) }
        case .observer(let observer):
            guard transfer.observe(observer, at: held) else { return nil }
            transfer.supersede("the response goes to an observer")
            throw SharedTransfer.superseded("the response goes to an observer")
        }
    }

    /// Attaches a call to a transfer. The call returns its permits, because the transfer holds the permits of an
    /// earlier call.
    private func attach(_ held: (any TransferAdmission)?, _ attach: () -> SharedTransfer.Caller?) -> Place? {
        guard let caller = attach() else { return nil }
        held?.end(after: nil)
        return .waiting(caller)
    }

    /// Replaces a transfer with a new one; returns nil if the old transfer is no longer in progress. An observer is
    /// attached before the new transfer begins, because the transfer may end at once.
    private func begin(
        _ key: DuplicateKey, replacing old: SharedTransfer, for audience: DuplicateRequestPolicy.Choice.Audience
    ) -> SharedTransfer.Caller? {
        let caller = SharedTransfer.Caller(beginning: key, in: running)
        guard running.replace(old, by: caller.transfer) else { return nil }
        if case .observer(let observer) = audience,
            !caller.transfer.observe(observer, at: key.request.parts.transfer?.admission)
        {
            observer(.failure(SharedTransfer.superseded(SharedTransfer.isReplaced)))
        }
        caller.transfer.begin(on: base)
        return caller
    }
}

/// The part of a request that states how its call is compared with calls in progress.
struct DuplicateOrder: HTTPRequest.Order {
    /// The policy of the call; nil means the policy of the service.
    fileprivate(set) var policy: DuplicateRequestPolicy?
    /// The group of the call. Requests of one group are duplicates of each other even if they differ.
    fileprivate(set) var group: String?
    /// The state of the lower transports when the request was compared.
    fileprivate(set) var state = 0

    var outsideOrigin: DuplicateOrder? { self }
    /// The policy of a call does not apply to a validation in the background.
    var outsideCall: DuplicateOrder? { nil }
    /// Groups are compared in ``DuplicateKey``, because the requests of one group may differ.
    var identity: [String] { [] }

    func over(_ base: DuplicateOrder) -> DuplicateOrder {
        DuplicateOrder(policy: policy ?? base.policy, group: group ?? base.group, state: state)
    }
}

extension HTTPRequest.Parts {
    var duplicates: DuplicateOrder { self[order: DuplicateOrder.self] }

    /// Sets the policy of the call; nil means that the settings of the next level apply.
    mutating func order(duplicates policy: DuplicateRequestPolicy?) { self[order: DuplicateOrder.self].policy = policy }

    /// Sets the group of the call; nil means that the settings of the next level apply.
    mutating func order(duplicateGroup group: String?) { self[order: DuplicateOrder.self].group = group }

    fileprivate mutating func compare(in state: Int) { self[order: DuplicateOrder.self].state = state }
}
