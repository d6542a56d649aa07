/// The permits of every policy of a service, entered at once; given back exactly once.
///
/// The call's scope has it, so that a transport that lets the call wait for the transfer of another one releases it
/// early.
final class Permit: TransferPermit {
    private struct Holding: Sendable {
        /// One for each policy; empty once they have been given back.
        var permits: [AdmissionPermit?] = []
        /// Released with the permits: a response that is kept has its request, and so its permit.
        var policies: [any AdmissionPolicy] = []
    }

    private let holding: Locked<Holding>

    var isHeld: Bool { holding.withLock { !$0.permits.isEmpty } }

    private init(_ holding: Holding) {
        self.holding = Locked(holding)
    }

    /// Enters every policy. It waits, if it has to, for one gate at a time and without a permit of another policy; for
    /// limits in one fixed order, with what they have reserved. What is part of a token refresh enters none.
    ///
    /// - Parameter noteWait: Is called with each policy that has to be waited for.
    static func enter(
        _ policies: [any AdmissionPolicy], _ request: HTTPRequest, for endpoint: any Endpoint,
        noteWait: (any AdmissionPolicy) -> Void = { _ in }
    ) async throws -> Permit {
        guard request.admission != .refresh else { return Permit(Holding()) }
        var entry = Entry(policies, request, endpoint)
        while let refusing = try entry.enterAll() {
            if policies[refusing].admissionStage == .limit {
                try await entry.reserve(noteWait)
            } else {
                try await entry.wait(for: refusing, noteWait)
            }
        }
        return Permit(entry.holding)
    }

    /// A request on its way through the policies.
    private struct Entry {
        let policies: [any AdmissionPolicy]
        private var request: HTTPRequest
        let endpoint: any Endpoint
        /// One for each policy that has been entered.
        private var permits: [AdmissionPermit?]

        init(_ policies: [any AdmissionPolicy], _ request: HTTPRequest, _ endpoint: any Endpoint) {
            self.policies = policies
            self.request = request
            self.endpoint = endpoint
            permits = Array(repeating: nil, count: policies.count)
        }

        var holding: Holding { Holding(permits: permits, policies: policies) }

        /// Enters the policies that have not been entered yet.
        ///
        /// - Returns: The one that says "not now", after which every permit has been given back; nil if all have been
        ///   entered.
        mutating func enterAll() throws -> Int? {
            do {
                for index in policies.indices where permits[index] == nil {
                    permits[index] = try policies[index].tryEnter(request, for: endpoint)
                    guard permits[index] == nil else { continue }
                    giveBack()
                    return index
                }
                return nil
            } catch {
                giveBack()
                throw error
            }
        }

        /// Waits for a gate.
        mutating func wait(for index: Int, _ noteWait: (any AdmissionPolicy) -> Void) async throws {
            noteWait(policies[index])
            permits[index] = try await policies[index].enter(request, for: endpoint)
        }

        /// Waits for a permit of every limit. The order is the same in all services, so that no two of them wait for
        /// each other.
        mutating func reserve(_ noteWait: (any AdmissionPolicy) -> Void) async throws {
            let limits = policies.indices.filter { policies[$0].admissionStage == .limit }
                .sorted { policies[$0].lockOrder < policies[$1].lockOrder }
            if request[option: QueuePositions.self] == nil { request[option: QueuePositions.self] = QueuePositions() }
            do {
                for index in limits {
                    permits[index] = try policies[index].tryEnter(request, for: endpoint)
                    if permits[index] == nil { try await wait(for: index, noteWait) }
                }
            } catch {
                giveBack()
                throw error
            }
        }

        private mutating func giveBack() {
            for index in policies.indices.reversed() {
                if let permit = permits[index] { policies[index].leave(permit, .notSent) }
                permits[index] = nil
            }
        }
    }

    /// Gives every permit back, the one entered last first, unless that has happened.
    func release(_ outcome: AdmissionPermit.Outcome) {
        let held = take()
        for index in held.permits.indices.reversed() {
            if let permit = held.permits[index] { held.policies[index].leave(permit, outcome) }
        }
    }

    private func take() -> Holding {
        holding.withLock { holding in
            defer { holding = Holding() }
            return holding
        }
    }

    /// Gives every permit back after a response, whatever its status.
    ///
    /// Not inlined: the outcome is big, and must not become part of the function that waits for the response.
    @inline(never)
    func release(after response: HTTPResponse) {
        release(.answered(response.withoutStream))
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
        return moved.permits.isEmpty ? nil : Permit(moved)
    }

    deinit {
        release(.notSent)
    }
}

extension AdmissionPolicy {
    /// The place of a limit in the order in which limits are reserved; a value has no identity, and keeps its place in
    /// its list.
    fileprivate var lockOrder: UInt {
        type(of: self) is AnyClass ? UInt(bitPattern: ObjectIdentifier(self as AnyObject)) : .max
    }
}
