/// The policies that admit the requests of a service.
///
/// A request tries to enter all policies together. While the request waits for a policy that is not a limit, it holds
/// no permit.
package struct Admission: Sendable {
    /// The policies, in the order in which requests enter them.
    package let policies: [any AdmissionPolicy]

    package init(_ policies: [any AdmissionPolicy]) {
        self.policies = policies
    }

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
        var entry = Entry(policies: policies, request: request, endpoint: endpoint, permits: policies.map { _ in nil })
        do {
            while let index = try entry.enterAll() {
                if policies[index].admissionStage == .limit {
                    try await entry.reserve(noteWait)
                } else {
                    try await entry.wait(for: index, noteWait)
                }
            }
        } catch {
            policies.leave(entry.permits, .notSent)
            throw error
        }
        return Admitted(policies, entry.permits)
    }

    /// A request that enters policies and waits for them. If one of its methods throws an error, the caller returns the
    /// permits.
    private struct Entry {
        let policies: [any AdmissionPolicy]
        var request: HTTPRequest
        let endpoint: any Endpoint
        /// The permits of the policies that have been entered.
        var permits: [AdmissionPermit?]

        /// Enters the policies that have not been entered yet, without waiting. If a policy refuses the request, every
        /// permit is returned to its policy.
        ///
        /// - Returns: The index of the policy that refused the request; nil if all policies have been entered.
        mutating func enterAll() throws -> Int? {
            for index in policies.indices where permits[index] == nil {
                guard let permit = try policies[index].tryEnter(request, for: endpoint) else {
                    let held = permits
                    permits = policies.map { _ in nil }
                    policies.leave(held, .notSent)
                    return index
                }
                permits[index] = permit
            }
            return nil
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
