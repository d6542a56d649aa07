/// The permits of one request: at most one for each policy of a service. Most services have up to four policies, whose
/// permits need no array.
struct AdmissionPermits: Sendable {
    private var first: AdmissionPermit?
    private var second: AdmissionPermit?
    private var third: AdmissionPermit?
    private var fourth: AdmissionPermit?
    private var others: [AdmissionPermit?] = []

    /// The permit of the policy at an index; nil if that policy has not been entered.
    subscript(index: Int) -> AdmissionPermit? {
        get {
            switch index {
            case 0: first
            case 1: second
            case 2: third
            case 3: fourth
            default: index - 4 < others.count ? others[index - 4] : nil
            }
        }
        set {
            switch index {
            case 0: first = newValue
            case 1: second = newValue
            case 2: third = newValue
            case 3: fourth = newValue
            default:
                while others.count <= index - 4 { others.append(nil) }
                others[index - 4] = newValue
            }
        }
    }

    /// Enters the policies that have not been entered yet, without waiting. If a policy refuses the request or throws
    /// an error, every permit is returned to its policy.
    ///
    /// - Returns: The index of the policy that refused the request; nil if all policies have been entered.
    /// - Throws: The error of a policy.
    mutating func enter(
        _ policies: [any AdmissionPolicy], _ request: HTTPRequest, for endpoint: any Endpoint
    ) throws -> Int? {
        do {
            let refusing = try enterUntilRefused(policies, request, endpoint)
            if refusing != nil { leave(policies, .notSent) }
            return refusing
        } catch {
            leave(policies, .notSent)
            throw error
        }
    }

    // The loops use pointers, because copying a policy would retain and release its parts.

    private mutating func enterUntilRefused(
        _ policies: [any AdmissionPolicy], _ request: HTTPRequest, _ endpoint: any Endpoint
    ) throws -> Int? {
        try policies.withUnsafeBufferPointer { policies in
            for index in policies.indices where self[index] == nil {
                guard let permit = try policies[index].tryEnter(request, for: endpoint) else { return index }
                self[index] = permit
            }
            return nil
        }
    }

    /// Returns every permit to its policy, in the opposite order of entry.
    mutating func leave(_ policies: [any AdmissionPolicy], _ outcome: AdmissionPermit.Outcome) {
        policies.withUnsafeBufferPointer { policies in
            for index in policies.indices.reversed() {
                if let permit = self[index] { policies[index].leave(permit, outcome) }
            }
        }
        self = AdmissionPermits()
    }
}
