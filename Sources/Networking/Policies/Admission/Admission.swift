/// The policies that admit the requests of a service.
///
/// A request tries to enter all policies together. While the request waits for a policy that is not a limit, it holds
/// no permit. Every attempt refers to its admission, so this type is a class.
package final class Admission: Sendable {
    /// The policies, in the order in which requests enter them.
    package let policies: [any AdmissionPolicy]
    private let first: Entrance?

    package init(_ policies: [any AdmissionPolicy]) {
        self.policies = policies
        first = policies.indices.reversed().reduce(nil) { Entrance(policies[$1], at: $1, before: $0) }
    }

    /// The permits of a request that has entered no policy.
    private var noPermits: [AdmissionPermit?] { Array(repeating: nil, count: policies.count) }

    /// Enters every policy. Waits for limits in a fixed order. Meanwhile, the request keeps the permits of the limits
    /// that it has already entered. A request of a token refresh enters no policy.
    ///
    /// - Parameter noteWait: Called with each policy that the request must wait for.
    /// - Throws: The error of a policy, or the interruption of the call.
    @inline(__always)  // a function of its own would check twice on which executor it runs
    package func enter(
        _ request: HTTPRequest, for endpoint: any Endpoint, noteWait: (any AdmissionPolicy) -> Void = { _ in }
    ) async throws -> Admitted {
        guard request.admission != .refresh else { return Admitted() }
        var entry = Entry(admission: self, request: request, endpoint: endpoint, permits: noPermits)
        do {
            while let index = try entry.enterAll() {
                if policies[index].admissionStage == .limit {
                    try await entry.reserve(noteWait)
                } else {
                    try await entry.wait(for: index, noteWait)
                }
            }
        } catch {
            leave(entry.permits, .notSent)
            throw error
        }
        return Admitted(by: self, entry.permits)
    }

    /// Passes the head of the response to each policy, in the order in which the permits are returned.
    func hear(_ permits: [AdmissionPermit?], _ head: HTTPResponse) { first?.hear(permits, head) }

    /// Returns every permit to its policy, in the reverse order of entry.
    func leave(_ permits: [AdmissionPermit?], _ outcome: AdmissionPermit.Outcome) { first?.leave(permits, outcome) }

    /// A policy, and the policies that requests enter after it.
    ///
    /// Reading a policy from an array retains the policy, so all calls would change the same reference count at the
    /// same time. A constant property of an object is read without a retain.
    private final class Entrance: Sendable {
        private let policy: any AdmissionPolicy
        private let index: Int
        private let next: Entrance?

        init(_ policy: any AdmissionPolicy, at index: Int, before next: Entrance?) {
            (self.policy, self.index, self.next) = (policy, index, next)
        }

        /// Enters this policy and the policies after it, except those that have been entered already. Does not wait.
        ///
        /// - Returns: The index of the first policy that refuses the request; nil if no policy refuses it.
        func tryEnter(
            _ request: HTTPRequest, for endpoint: any Endpoint, _ permits: inout [AdmissionPermit?]
        ) throws -> Int? {
            if permits[index] == nil {
                guard let permit = try policy.tryEnter(request, for: endpoint) else { return index }
                permits[index] = consume permit
            }
            return try next?.tryEnter(request, for: endpoint, &permits)
        }

        func hear(_ permits: [AdmissionPermit?], _ head: HTTPResponse) {
            next?.hear(permits, head)
            if let permit = permits[index] { policy.heard(permit, head) }
        }

        func leave(_ permits: [AdmissionPermit?], _ outcome: AdmissionPermit.Outcome) {
            next?.leave(permits, outcome)
            if let permit = permits[index] { policy.leave(permit, outcome) }
        }
    }

    /// A request that enters policies and waits for them. If one of its methods throws an error, the caller returns the
    /// permits.
    private struct Entry {
        let admission: Admission
        var request: HTTPRequest
        let endpoint: any Endpoint
        /// The permits of the policies that have been entered.
        var permits: [AdmissionPermit?]

        private var policies: [any AdmissionPolicy] { admission.policies }

        /// Enters the policies that have not been entered yet, without waiting. If a policy refuses the request, every
        /// permit is returned to its policy.
        ///
        /// - Returns: The index of the policy that refused the request; nil if all policies have been entered.
        mutating func enterAll() throws -> Int? {
            guard let index = try admission.first?.tryEnter(request, for: endpoint, &permits) else { return nil }
            let held = permits
            permits = admission.noPermits
            admission.leave(held, .notSent)
            return index
        }

        /// Waits for one policy.
        mutating func wait(for index: Int, _ noteWait: (any AdmissionPolicy) -> Void) async throws {
            noteWait(policies[index])
            request.keepPositions()
            permits[index] = try await policies[index].enter(request, for: endpoint)
        }

        /// Waits for a permit of every limit. The order is the same in all services, so that two calls cannot wait
        /// for each other.
        mutating func reserve(_ noteWait: (any AdmissionPolicy) -> Void) async throws {
            let limits = policies.indices.filter { policies[$0].admissionStage == .limit }
                .sorted { policies[$0].lockOrder < policies[$1].lockOrder }
            for index in limits {
                permits[index] = try policies[index].tryEnter(request, for: endpoint)
                if permits[index] == nil { try await wait(for: index, noteWait) }
            }
        }
    }
}

extension AdmissionPolicy {
    /// The position of a limit in the order in which limits are reserved. A limit that is a value type has no identity,
    /// so it comes after the other limits.
    fileprivate var lockOrder: UInt {
        type(of: self) is AnyClass ? UInt(bitPattern: ObjectIdentifier(self as AnyObject)) : .max
    }
}
