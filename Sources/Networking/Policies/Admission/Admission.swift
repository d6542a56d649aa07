/// The permits of every policy of a service, acquired together and released exactly once.
///
/// The scope of the call contains the permit. A transport can therefore release the permit early, if it makes the call
/// wait for the transfer of another call.
package final class Permit: TransferPermit {
    fileprivate struct Holding: Sendable {
        var permits = AdmissionPermits()
        /// The policies of the permits. Empty after the permits have been released, because a stored response may
        /// retain its request's permit.
        var policies: [any AdmissionPolicy] = []

        var isEmpty: Bool { policies.isEmpty }
    }

    private let holding: Locked<Holding>

    /// The permit of a request that enters no policy.
    static var none: Permit { Permit(Holding()) }

    package var isHeld: Bool { holding.withLock { !$0.isEmpty } }

    fileprivate init(_ holding: Holding) {
        self.holding = Locked(holding)
    }

    /// Enters every policy. While the request waits for a policy that is not a limit, it holds no permit. The request
    /// waits for limits in a fixed order, and keeps the permits of limits that it already has. A request of a token
    /// refresh enters no policy.
    ///
    /// - Parameter noteWait: Called with each policy that the request must wait for.
    package static func enter(
        _ policies: [any AdmissionPolicy], _ request: HTTPRequest, for endpoint: any Endpoint,
        noteWait: (any AdmissionPolicy) -> Void = { _ in }
    ) async throws -> Permit {
        switch try ask(policies, request, for: endpoint) {
        case .granted(let permit): return permit
        case .refused(let index): return try await wait(for: index, of: policies, request, for: endpoint, noteWait)
        }
    }

    /// The decision of the policies about a request that does not wait.
    enum Decision {
        case granted(Permit)
        /// The policy at this index refused the request, which has to wait.
        case refused(by: Int)
    }

    /// Enters every policy as ``enter(_:_:for:noteWait:)`` does, but does not wait. Few calls have to wait, and the
    /// other calls need no asynchronous function.
    ///
    /// Not inlined, so that its variables need no memory while the call waits for its response.
    @inline(never)
    static func ask(
        _ policies: [any AdmissionPolicy], _ request: HTTPRequest, for endpoint: any Endpoint
    ) throws -> Decision {
        guard request.admission != .refresh else { return .granted(.none) }
        var permits = AdmissionPermits()
        if let index = try permits.enter(policies, request, for: endpoint) {
            return .refused(by: index)
        }
        return .granted(Permit(Holding(permits: permits, policies: policies)))
    }

    /// Waits until every policy has been entered, after one of them has refused the request.
    ///
    /// Not inlined, so that a call that does not wait here needs no memory for it.
    ///
    /// - Parameters:
    ///   - index: The index of the policy that refused the request.
    ///   - noteWait: Called with each policy that the request must wait for.
    @inline(never)
    static func wait(
        for index: Int, of policies: [any AdmissionPolicy], _ request: HTTPRequest, for endpoint: any Endpoint,
        _ noteWait: (any AdmissionPolicy) -> Void
    ) async throws -> Permit {
        var entry = Entry(policies: policies, request: request, endpoint: endpoint)
        var next: Int? = index
        while let refusing = next {
            if policies[refusing].admissionStage == .limit {
                try await entry.reserve(noteWait)
            } else {
                try await entry.wait(for: refusing, noteWait)
            }
            next = try entry.permits.enter(policies, entry.request, for: endpoint)
        }
        return Permit(Holding(permits: entry.permits, policies: policies))
    }

    /// A request that enters policies and waits for them.
    private struct Entry {
        let policies: [any AdmissionPolicy]
        var request: HTTPRequest
        let endpoint: any Endpoint
        var permits = AdmissionPermits()

        /// Waits for one policy.
        mutating func wait(for index: Int, _ noteWait: (any AdmissionPolicy) -> Void) async throws {
            noteWait(policies[index])
            permits[index] = try await policies[index].enter(request, for: endpoint)
        }

        /// Waits for a permit of every limit. The order is the same in all services, so that two calls cannot wait
        /// for each other.
        mutating func reserve(_ noteWait: (any AdmissionPolicy) -> Void) async throws {
            let limits = policies.indices.filter { policies[$0].admissionStage == .limit }
                .sorted { policies[$0].lockOrder < policies[$1].lockOrder }
            request.keepPositions()
            do {
                for index in limits {
                    permits[index] = try policies[index].tryEnter(request, for: endpoint)
                    if permits[index] == nil { try await wait(for: index, noteWait) }
                }
            } catch {
                permits.leave(policies, .notSent)
                throw error
            }
        }
    }

    /// Returns every permit to its policy, in the opposite order of entry. Does nothing if the permits have already
    /// been returned.
    package func release(_ outcome: AdmissionPermit.Outcome) {
        var held = take()
        held.permits.leave(held.policies, outcome)
    }

    private func take() -> Holding {
        holding.withLock { holding in
            defer { holding = Holding() }
            return holding
        }
    }

    /// Returns every permit after a response of any status.
    ///
    /// Not inlined: the outcome is large and must not be in the frame of the function that waits for the response.
    @inline(never)
    func release(after response: HTTPResponse) {
        guard response.source == .cache else { return release(.responded(response.withoutStream)) }
        switch response.replaced {
        case .success(let received): release(.responded(received))
        case .failure(let error): release(.failed(error))
        case nil: release(.notSent)  // a stored response says nothing about the server, the token or the load
        }
    }

    func release(after outcome: Result<HTTPResponse, any Error>?) {
        switch outcome {
        case .success(let response): release(after: response)
        case .failure(let error): release(.failed(error))
        case nil: release(.notSent)
        }
    }

    func handOver() -> (any TransferPermit)? {
        let moved = take()
        return moved.isEmpty ? nil : Permit(moved)
    }

    deinit {
        guard var held = holding.whileSoleOwner({ $0.isEmpty ? nil : $0 }) else { return }
        held.permits.leave(held.policies, .notSent)
    }
}

extension AdmissionPolicy {
    /// The position of a limit in the order in which limits are reserved. A value type has no identity, so it comes
    /// after the other limits.
    fileprivate var lockOrder: UInt {
        type(of: self) is AnyClass ? UInt(bitPattern: ObjectIdentifier(self as AnyObject)) : .max
    }
}
